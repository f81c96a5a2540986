import type { Numeral } from '../chain/numeral.js';
import { PER_TOKEN } from '../facts/bridge/tokens.js';
import { toLabelValue } from '../facts/plain-values.js';
import { partByPart, families, gauges, labeledGauge } from './family.js';
import { required } from '../facts/required-fields.js';
import { thresholdOfContract, type ContractReading } from '../facts/contract/reading.js';

// At most 20 tokens with a live batch (facts/contract/reading.ts), and 20 with `backing`.

interface Token {
  readonly contract: string;
  readonly denom: string;
}

function perToken<Own extends Token>(tokens: readonly Own[], deriveValue: (token: Own) => Numeral | undefined) {
  return partByPart(tokens, (token) => [
    { labels: { token_contract: token.contract, denom: token.denom }, value: deriveValue(token) },
  ]);
}

/** Families of the external chain and of the contract of the bridge on it. */
export const contractFamilies = families<ContractReading>({
  // prettier-ignore
  ...gauges<ContractReading>([
    ['bridge_external_height', ({ height }) => height, 'Height of the newest block of the external chain, at which the contract was read.'],
    ['bridge_external_timestamp_seconds', ({ blockSeconds }) => blockSeconds, 'Time of the newest block of the external chain.'],
    ['bridge_contract_last_event_nonce', ({ lastEventNonce }) => required(lastEventNonce), 'Nonce of the last event that the contract has emitted.'],
    ['bridge_contract_last_valset_nonce', ({ lastValsetNonce }) => required(lastValsetNonce), 'Nonce of the validator set in the contract.'],
    ['bridge_contract_power_threshold_ratio', thresholdOfContract, 'Share of the power that signatures must exceed for the contract to accept a batch or validator set.'],
    ['bridge_contract_paused', ({ paused }) => Number(required(paused)), 'Whether the contract is paused.'],
  ]),
  bridge_contract_last_batch_nonce: labeledGauge({
    help: 'Nonce of the last batch of the token that the contract has executed; absent for tokens without a live batch.',
    ...PER_TOKEN,
    derive: ({ batchNonces }) => perToken(batchNonces, ({ nonce }) => required(nonce)),
  }),
  bridge_contract_info: labeledGauge({
    help: 'Owner and implementation of the contract, as labels.',
    // One series: an owner and an implementation.
    labels: ['owner', 'implementation'],
    derive: ({ owner, implementation }) => [
      {
        labels: {
          owner: toLabelValue(required(owner)),
          implementation: toLabelValue(required(implementation)),
        },
        value: 1,
      },
    ],
  }),
  bridge_contract_token_balance_amount: labeledGauge({
    help: 'Balance of the contract in smallest units of the token.',
    ...PER_TOKEN,
    derive: ({ balances }) => perToken(balances, ({ balance }) => required(balance)),
  }),
  bridge_token_supply_amount: labeledGauge({
    help: 'Supply of the token on the hub in smallest units of the token.',
    ...PER_TOKEN,
    derive: ({ backing }) => perToken(backing, ({ supply }) => supply),
  }),
  bridge_token_backing_surplus_amount: labeledGauge({
    help: 'Balance of the contract minus supply and outstanding transfers on the hub, in smallest units of the token.',
    ...PER_TOKEN,
    derive: ({ backing }) => perToken(backing, ({ surplus }) => surplus),
  }),
}).map((family) => ({ ...family, stability: 'experimental' as const }));
