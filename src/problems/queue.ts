import { compare, type Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import type { BridgeInput } from '../facts/bridge/bridge-input.js';
import {
  contractLabel,
  readFee,
  readId,
  minBatchFees,
  rememberedBatchNonces,
  topBatchFeesByToken,
  totalFees,
  unbatchedByToken,
  unbatchedTransfers,
} from '../facts/bridge/tokens.js';
import { countElements, required, rows, withdrawWithout } from '../facts/required-fields.js';
import { count } from '../text/format.js';
import { HOUR_SECONDS } from '../units.js';
import { findEntry } from './marks.js';
import { defineProblem } from './problem.js';
import { tokenName } from './sentence.js';

/* Unbatched transfers. */

const waiting = (input: BridgeInput, contract: string): string =>
  `${count(unbatchedByToken(input).get(contract)?.length ?? 0, 'transfer')} waiting`;

/** The progress key of a token: after a new batch, the problem begins anew. */
function newestBatch(input: BridgeInput, contract: string): string {
  const nonce = rememberedBatchNonces(input).get(contract);
  return nonce === undefined ? '' : String(nonce);
}

/** Whether a live batch of the token has higher fees: until its execution, hubs refuse to build another batch. */
function hasBetterBatch(input: BridgeInput, contract: string, fees: Numeral): boolean {
  return rows(input.state.batches).some(
    (batch) => contractLabel(batch.token_contract) === contract && totalFees(batch) >= fees,
  );
}

/**
 * The transfer of each token that pays most, and the id of the newest batch of any token. A batch takes the transfers
 * that pay most, so if this transfer has left the queue since the last batch id, a batch of the token was built, even
 * if no document had it.
 */
type TopMark = Readonly<
  Record<string, { readonly transfer: string; readonly batch: Numeral; readonly builtBefore: string }>
>;

const backlogStuck = defineProblem('module_state', {
  name: 'BridgeBacklogStuck',
  severity: 'critical',
  afterMinutes: 50,
  description:
    'The 100 highest fees of waiting transfers reach the `min_batch_fee` of their token, but no batch is built.',
  action:
    'Request a batch of the token, which anyone can (build-batch, see the runbook). The error shows what prevents it, such as the rate limit of the token or an older batch with higher fees. Then check the nodes that request batches.',
  mark: {
    next: ({ input }, before: TopMark | undefined): TopMark => {
      const batch = required(input.state.last_outgoing_batch_id);
      return Object.fromEntries(
        Array.from(minBatchFees(input.tokens).keys(), (contract) => {
          const queue = unbatchedByToken(input).get(contract) ?? [];
          const [top] = queue.toSorted((a, b) => compare(readFee(b), readFee(a)) || compare(readId(a), readId(b)));
          const last = findEntry(before, contract);
          const hasLeft = !queue.some((transfer) => String(readId(transfer)) === last?.transfer);
          // A node that is behind may lack the transfer, too, but its batch id is not higher.
          const isBuilt = last !== undefined && last.transfer !== '' && hasLeft && batch > last.batch;
          const transfer = top === undefined ? '' : String(readId(top));
          return [contract, { transfer, batch, builtBefore: isBuilt ? String(batch) : (last?.builtBefore ?? '') }];
        }),
      );
    },
  },
  find: ({ input }, mark) => {
    const fees = topBatchFeesByToken(input);
    return Array.from(minBatchFees(input.tokens), ([contract, minimum]) => {
      const paid = fees.get(contract);
      if (paid === undefined || paid < minimum || hasBetterBatch(input, contract, paid)) return undefined;
      return {
        subject: { token_contract: contract },
        progressKey: `${newestBatch(input, contract)} ${findEntry(mark, contract)?.builtBefore ?? ''}`,
        summary: `transfers of ${tokenName(input, contract)} wait with sufficient fees, and no batch is built`,
        details: [waiting(input, contract)],
      };
    });
  },
  inhibits: [{ problem: 'BridgeBacklogHigh' }],
});

/** Without a minimum fee, only the growth of a queue shows that transfers are stuck. */
const GROWING_SECONDS = 3 * HOUR_SECONDS;
const GROWING_TRANSFERS = 10;
const POINT_SECONDS = HOUR_SECONDS / 2;
const MAX_TOKENS = 200;

/**
 * The length of the queue of each token without a minimum fee in the last hours; a new batch of the token begins anew.
 */
interface QueueMark {
  readonly batch: string;
  readonly points: readonly { readonly at: Instant; readonly length: number }[];
}

const backlogGrowing = defineProblem('module_state', {
  name: 'BridgeBacklogStuck',
  severity: 'warning',
  afterMinutes: 185,
  // Transfers with too low fees wait for weeks on any real chain, but their number grows slowly.
  description: `The queue of a token without \`min_batch_fee\` has grown by ${GROWING_TRANSFERS} transfers or more in ${GROWING_SECONDS / HOUR_SECONDS} hours, and no batch was built.`,
  action:
    'Find out the minimum fee of the batch creators, and configure it as min_batch_fee of the token. If the fees of the transfers reach it, request a batch: the error shows what prevents it.',
  mark: {
    next: ({ input }, before: Readonly<Record<string, QueueMark>> | undefined): Readonly<Record<string, QueueMark>> => {
      const minimums = minBatchFees(input.tokens);
      const queues = Array.from(unbatchedByToken(input)).filter(([contract]) => !minimums.has(contract));
      const longestFirst = queues.toSorted(([, a], [, b]) => b.length - a.length).slice(0, MAX_TOKENS);
      return Object.fromEntries(
        longestFirst.map(([contract, { length }]) => {
          const batch = newestBatch(input, contract);
          const last = findEntry(before, contract);
          const points = last?.batch === batch ? last.points : [];
          const newest = points.at(-1);
          const isDue = newest === undefined || input.at - newest.at >= POINT_SECONDS;
          const added = isDue ? [...points, { at: input.at, length }] : points;
          // The newest point before the range is kept: its length is that at the beginning of the range.
          const first = added.findLastIndex(({ at }) => input.at - at >= GROWING_SECONDS);
          return [contract, { batch, points: added.slice(Math.max(0, first)) }];
        }),
      );
    },
  },
  find: ({ input }, mark) => {
    withdrawWithout(input.state.unbatched_transfers);
    return Object.entries(mark ?? {}).map(([contract, { batch, points }]) => {
      const [first] = points;
      const length = unbatchedByToken(input).get(contract)?.length ?? 0;
      if (first === undefined || input.at - first.at < GROWING_SECONDS) return undefined;
      if (length - first.length < GROWING_TRANSFERS) return undefined;
      return {
        subject: { token_contract: contract },
        progressKey: batch,
        start: first.at,
        summary: `the queue of ${tokenName(input, contract)} grows, and no batch is built`,
        details: [waiting(input, contract)],
      };
    });
  },
});

const backlogHigh = defineProblem('module_state', {
  name: 'BridgeBacklogHigh',
  severity: 'warning',
  afterMinutes: 30,
  description: 'The number of pending transfers, batched and unbatched, is above `backlog_limit`.',
  action:
    'Check in the lists of transfers and batches what most of them wait for: a batch, signatures, votes or a relayer.',
  find: ({ input }) => {
    const { backlog_limit } = input.settings;
    const unbatched = unbatchedTransfers(input).length;
    const pending = rows(input.state.batches).reduce(
      (sum, { transactions }) => sum + countElements(transactions),
      unbatched,
    );
    if (pending <= backlog_limit) return undefined;
    return {
      summary: `more than ${backlog_limit} transfers are pending`,
      details: [`${pending} at present`, `${unbatched} in no batch`],
    };
  },
});

export const queueProblems = [backlogStuck, backlogGrowing, backlogHigh];
