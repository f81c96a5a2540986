import { dataPart } from '../chain/addresses.js';
import type { Numeral } from '../chain/numeral.js';
import { boolean, numeral, object, string } from '../chain/fields.js';
import { toLabelValue } from '../facts/label-value.js';
import { families, labeledGauge, type LabelValues } from '../metrics/family.js';
import type { WatchedOrchestrator } from '../facts/bridge/registrations.js';
import { optional, required } from '../facts/required-fields.js';
import { isOn, nodeQuery, type QueryContext, type QueryInput, type QueryRequest } from './query.js';
import type { StepContext } from '../document-types.js';

/* The validators of `watch`: their status in the staking module, their last claim, and the funds of their orchestrators. */

/** Bounded by the entries of `watch` and by the limit of series. */
export const LABELS = ['orchestrator', 'name'] as const;

/** Goes into the path of a request, so an address of another form is not accepted from the document. */
const BECH32_ADDRESS = /^[a-z0-9]{1,90}$/;

export function hasWatched(options: StepContext): boolean {
  return isOn(options) && options.document === 'module_state' && options.settings.watch.length > 0;
}

function watchedOf(context: QueryContext): readonly WatchedOrchestrator[] {
  if (context.document !== 'module_state') return [];
  return context.past.watched
    .filter(({ orchestrator }) => BECH32_ADDRESS.test(orchestrator))
    .slice(0, context.maxSeries);
}

/** A request for each watched validator with an address. */
export function perWatched(addressOf: (watched: WatchedOrchestrator, context: QueryContext) => string | undefined) {
  return (context: QueryContext, path: string): readonly QueryRequest[] =>
    watchedOf(context).flatMap((watched) => {
      const address = addressOf(watched, context);
      return address === undefined ? [] : [{ key: watched.orchestrator, path: path.replace('{address}', address) }];
    });
}

/** A sample for the validator of the request. */
export function ofWatched<Value, Label extends string = never>(
  exact: (value: Value) => Numeral,
  otherLabels?: (context: QueryContext) => LabelValues<Label>,
) {
  return ({ request, context, value }: QueryInput<Value>) => {
    const name = watchedOf(context).find(({ orchestrator }) => orchestrator === request.key)?.name ?? '';
    const labels = {
      orchestrator: toLabelValue(request.key),
      name: toLabelValue(name),
      ...otherLabels?.(context),
    } as LabelValues<'orchestrator' | 'name' | Label>;
    return [{ labels, value: exact(value) }];
  };
}

interface StakingStatus {
  readonly operator: string;
  readonly isJailed: boolean;
  readonly isBonded: boolean;
}

export const stakingStatus = nodeQuery({
  name: 'staking_validator',
  isEnabled: hasWatched,
  path: '/cosmos/staking/v1beta1/validators/{address}',
  requests: perWatched(({ sender }, { operators }) => operators.get(dataPart(sender))?.address),
  schema: object({ validator: object({ operator_address: string, jailed: boolean, status: string }) }),
  value: (page): StakingStatus => {
    const { operator_address: operator, jailed, status } = required(page.validator);
    return {
      operator: required(operator),
      isJailed: required(jailed),
      isBonded: required(status) === 'BOND_STATUS_BONDED',
    };
  },
  isAbout: ({ path }, { operator }) => path.endsWith(`/${operator}`),
  families: families<QueryInput<StakingStatus>>({
    bridge_watched_validator_jailed: labeledGauge({
      help: 'Whether a validator of watch is jailed (1) or not (0), by the staking module.',
      stability: 'experimental',
      labels: LABELS,
      derive: ofWatched(({ isJailed }) => (isJailed ? 1 : 0)),
    }),
    bridge_watched_validator_bonded: labeledGauge({
      help: 'Whether a validator of watch is in the active set of the hub (1) or not (0), by the staking module.',
      stability: 'experimental',
      labels: LABELS,
      derive: ofWatched(({ isBonded }) => (isBonded ? 1 : 0)),
    }),
  }),
});

export const claimPosition = nodeQuery({
  name: 'claim_position',
  isEnabled: hasWatched,
  path: { peggy: '/peggy/v1/oracle/event/{address}', neutral: '/bridge/v1/oracle/event/{address}' },
  requests: perWatched(({ orchestrator }) => orchestrator),
  schema: object({ last_claim_event: object({ external_event_nonce: numeral, ethereum_event_nonce: numeral }) }),
  value: (page): Numeral => {
    const claim = required(page.last_claim_event);
    return required(optional(claim.external_event_nonce) ?? claim.ethereum_event_nonce);
  },
  families: families<QueryInput<Numeral>>({
    bridge_watched_validator_last_event_nonce: labeledGauge({
      help: 'Nonce of the last event that the orchestrator of a validator of watch has claimed.',
      stability: 'experimental',
      labels: LABELS,
      derive: ofWatched((nonce) => nonce),
    }),
  }),
});

function seenHubCoinDenom(context: QueryContext): string | undefined {
  return context.document === 'module_state' ? context.past.hubCoinDenom : undefined;
}

export const orchestratorBalance = nodeQuery({
  name: 'orchestrator_balance',
  isEnabled: hasWatched,
  path: '/cosmos/bank/v1beta1/balances/{address}/by_denom',
  requests: (context, path) => {
    const denom = seenHubCoinDenom(context);
    if (denom === undefined) return [];
    const query = new URLSearchParams({ denom }).toString();
    return perWatched(({ orchestrator }) => orchestrator)(context, `${path}?${query}`);
  },
  schema: object({ balance: object({ amount: numeral }) }),
  value: (page): Numeral => required(required(page.balance).amount),
  families: families<QueryInput<Numeral>>({
    bridge_watched_orchestrator_balance_amount: labeledGauge({
      help: 'Balance of the orchestrator of a validator of watch in the hub coin, which pays for its transactions, in smallest units.',
      stability: 'experimental',
      labels: [...LABELS, 'denom'],
      derive: ofWatched(
        (amount: Numeral) => amount,
        (context): LabelValues<'denom'> => ({ denom: toLabelValue(seenHubCoinDenom(context) ?? '') }),
      ),
    }),
  }),
});
