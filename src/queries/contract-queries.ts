import { decodeSlot, IMPLEMENTATION_SLOT } from '../chain/contract-abi.js';
import { numeral, object, string } from '../chain/fields.js';
import type { StepContext } from '../document-types.js';
import { rpcRequest } from '../facts/contract/multicall.js';
import { tokenBacking, type TokenBacking } from '../facts/contract/reading.js';
import { required } from '../facts/required-fields.js';
import { MINUTE_MS } from '../units.js';
import { type NodeQuery, nodeQuery, type QueryContext, type QueryStates, responseReader } from './query.js';

/*
 * What is read besides the call of the contract: the storage of the contract, and the supplies of its tokens on the
 * hub.
 */

const INTERVAL_MS = 5 * MINUTE_MS;

const isContract = ({ document }: StepContext): boolean => document === 'external_contract';

function lastReading(context: QueryContext) {
  return context.document === 'external_contract' ? context.past : undefined;
}

interface Implementation {
  readonly slot: string;
  /** The slot in two successive answers, or in the first one. */
  readonly confirmed: string;
}

/** The slot with the implementation of a contract. */
const implementationSlot: NodeQuery<string, Implementation> = nodeQuery({
  ...responseReader({
    schema: object({ result: string }),
    value: ({ result }) => required(decodeSlot(required(result))),
  }),
  name: 'contract_implementation',
  intervalMs: INTERVAL_MS,
  isEnabled: isContract,
  path: '',
  requests: (context) => {
    const contract = lastReading(context)?.contract ?? '';
    // Requested twice, because the first answer of a process could be odd: both must agree (`contractAnswers`).
    const json = rpcRequest('eth_getStorageAt', [contract, IMPLEMENTATION_SLOT, 'latest']);
    return [1, 2].map((time) => ({ key: `${contract} ${time}`, path: '', json }));
  },
  keep: (slot, { key }, { answers }): Implementation => {
    const last = implementationSlot.getAnswer(answers, key);
    return { slot, confirmed: last === undefined || last.slot === slot ? slot : last.confirmed };
  },
});

const SUPPLY_PATH = '/cosmos/bank/v1beta1/supply/by_denom';

/**
 * Supplies at the height of the module state with which the contract was compared, so that a transfer in between
 * changes nothing.
 */
const hubSupply = nodeQuery({
  ...responseReader({
    schema: object({ amount: object({ amount: numeral }) }),
    value: ({ amount }) => required(required(amount).amount),
  }),
  name: 'hub_supply',
  intervalMs: INTERVAL_MS,
  isEnabled: isContract,
  isSentToHub: true,
  path: SUPPLY_PATH,
  requests: (context) => {
    const { contract = '', hubHeight, balances = [] } = lastReading(context) ?? {};
    if (hubHeight === undefined) return [];
    return balances.map(({ denom }) => ({
      key: `${contract} ${denom}`,
      path: `${SUPPLY_PATH}?${new URLSearchParams({ denom }).toString()}`,
      height: String(hubHeight),
    }));
  },
  // If the contract was read again since the request, the balance is that of another time.
  keep: (supply, { key, height }, context): TokenBacking | undefined => {
    const { contract: bridge, hubHeight, balances = [] } = lastReading(context) ?? {};
    const token = balances.find(({ denom }) => key === `${bridge} ${denom}` && height === String(hubHeight));
    return token && tokenBacking(token, supply);
  },
});

export const contractQueries = [implementationSlot, hubSupply] as const;

/** What the answers say about a contract, which may have been replaced since. */
export function contractAnswers(answers: QueryStates, contract: string) {
  const isAbout = ([key]: readonly [string, unknown]): boolean => key.startsWith(contract);
  const [first, second] = Array.from(implementationSlot.getAnswers(answers))
    .filter(isAbout)
    .map(([, { confirmed }]) => confirmed);
  const supplies = Array.from(hubSupply.getAnswers(answers)).filter(isAbout);
  return {
    implementation: first === second ? first : undefined,
    backing: supplies.flatMap(([, backing]) => backing ?? []),
  };
}
