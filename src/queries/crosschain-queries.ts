import { boolean, chainId, list, numeral, object, string } from '../chain/fields.js';
import type { Numeral } from '../chain/numeral.js';
import { cctxStatus } from '../chain/rate-limiter-input.js';
import type { StepContext } from '../document-types.js';
import { chainLabels, MAX_CHAINS, PER_CHAIN } from '../facts/crosschain/chains.js';
import type { CctxAnswer, CrosschainInput } from '../facts/crosschain/crosschain-input.js';
import { MAX_ID_CHARACTERS, toLabelValue } from '../facts/plain-values.js';
import { optional, required, rows } from '../facts/required-fields.js';
import { nextQuestions } from '../flow/unlisted-cctxs.js';
import { families, gauge, labeledGauge, type OverLimit } from '../metrics/family.js';
import { HOUR_MS } from '../units.js';
import { hasNodeQueries, nextPageKey, nodeQuery, pagination, type QueryInput, type QueryStates } from './query.js';

/*
 * Switches, nonces and parameters of the chains that a hub signs for (ZetaChain, observer module), and whether cctxs
 * that have left the lists of the rate limiter input are still pending.
 */

function isCrosschain(options: StepContext): boolean {
  return hasNodeQueries(options) && options.document === 'rate_limiter_input';
}

const observerPath = (name: string) => ({
  zeta: `/zeta-chain/observer/${name}`,
  neutral: `/chain/observer/${name}`,
});

interface Flags {
  readonly isInboundEnabled: boolean;
  readonly isOutboundEnabled: boolean;
}

export const crosschainFlags = nodeQuery({
  name: 'crosschain_flags',
  isEnabled: isCrosschain,
  path: observerPath('crosschain_flags'),
  schema: object({ crosschain_flags: object({ isInboundEnabled: boolean, isOutboundEnabled: boolean }) }),
  value: (page): Flags => {
    const { isInboundEnabled, isOutboundEnabled } = required(page.crosschain_flags);
    return { isInboundEnabled: required(isInboundEnabled), isOutboundEnabled: required(isOutboundEnabled) };
  },
  families: families<QueryInput<Flags>>({
    crosschain_outbound_enabled: gauge({
      help: 'Whether the hub sends transactions to other chains.',
      stability: 'experimental',
      value: ({ value }) => Number(value.isOutboundEnabled),
    }),
    crosschain_inbound_enabled: gauge({
      help: 'Whether the hub accepts transactions from other chains.',
      stability: 'experimental',
      value: ({ value }) => Number(value.isInboundEnabled),
    }),
  }),
});

/** The present TSS key, to which nonces belong. */
const signersKey = nodeQuery({
  name: 'tss',
  isEnabled: isCrosschain,
  path: observerPath('TSS'),
  schema: object({ TSS: object({ tss_pubkey: string }) }),
  value: (page): string => required(required(page.TSS).tss_pubkey),
});

interface Nonces {
  readonly chainId: string;
  readonly key: string;
  readonly low: Numeral;
  readonly high: Numeral;
}

/** A gauge with a series of the present key for each external chain; none without a key. */
function nonceGauge(help: string, overLimit: OverLimit, read: (nonces: Nonces) => Numeral) {
  return labeledGauge({
    help,
    stability: 'experimental',
    overLimit,
    ...PER_CHAIN,
    derive: ({ context, value }: QueryInput<readonly Nonces[]>) => {
      const key = signersKey.getAnswer(context.answers);
      const hub = context.document === 'rate_limiter_input' ? context.settings.hub_chain_ids : [];
      return value
        .filter((nonces) => nonces.key === key && !hub.includes(nonces.chainId))
        .map((nonces) => ({ labels: chainLabels(toLabelValue(nonces.chainId), context.names), value: read(nonces) }));
    },
  });
}

const pendingNonces = nodeQuery({
  name: 'pending_nonces',
  isEnabled: isCrosschain,
  path: observerPath('pendingNonces'),
  // The key of the nonces is requested first.
  requests: ({ answers }, path) => (signersKey.getAnswer(answers) === undefined ? [] : [{ key: '', path }]),
  schema: object({
    pending_nonces: list(object({ chain_id: chainId, tss: string, nonce_low: numeral, nonce_high: numeral })),
    pagination,
  }),
  value: (page): readonly Nonces[] =>
    rows(page.pending_nonces).map((row) => ({
      chainId: required(row.chain_id),
      key: required(row.tss),
      low: required(row.nonce_low),
      high: required(row.nonce_high),
    })),
  nextKey: nextPageKey,
  join: (before, page) => [...before, ...page],
  families: families<QueryInput<readonly Nonces[]>>({
    crosschain_nonce_low: nonceGauge(
      'Lowest pending nonce of a chain for the current key of the signers, as the hub stores it.',
      'keep-lowest',
      ({ low }) => low,
    ),
    crosschain_nonce_high: nonceGauge(
      'Next nonce of a chain for the current key of the signers, as the hub stores it.',
      'keep-largest',
      ({ high }) => high,
    ),
  }),
});

/** How far above the lowest missed nonce clients schedule, by chain id. */
export const lookaheads = nodeQuery({
  name: 'chain_params',
  intervalMs: HOUR_MS,
  isEnabled: isCrosschain,
  path: observerPath('get_chain_params'),
  schema: object({
    chain_params: object({ chain_params: list(object({ chain_id: chainId, outbound_schedule_lookahead: numeral })) }),
  }),
  value: (page): Readonly<Record<string, number>> =>
    Object.fromEntries(
      rows(required(page.chain_params).chain_params)
        .slice(0, MAX_CHAINS)
        .flatMap(({ chain_id: id, outbound_schedule_lookahead: lookahead }): [string, number][] =>
          optional(lookahead) === undefined ? [] : [[required(id), Number(required(lookahead))]],
        ),
    ),
});

/** Goes into a path, so nothing of another form is requested. */
const INDEX = new RegExp(String.raw`^\w{1,${MAX_ID_CHARACTERS}}$`);

const answers: ReadonlyMap<string, CctxAnswer> = new Map([
  ['PendingInbound', 'pending'],
  ['PendingOutbound', 'pending'],
  ['PendingRevert', 'pending'],
  ['OutboundMined', 'finished'],
  ['Reverted', 'finished'],
  ['Aborted', 'finished'],
]);

const cctxQuery = nodeQuery({
  name: 'cctx',
  // The query is sent after every poll.
  intervalMs: 0,
  // A transaction has 2 kB, and 50 kB with the longest messages.
  maxBodyBytes: 256 * 1024,
  isEnabled: ({ document, settings }) => document === 'rate_limiter_input' && settings.cctx_queries === 'auto',
  path: { zeta: '/zeta-chain/crosschain/cctx/{index}', neutral: '/chain/crosschain/cctx/{index}' },
  requests: (context, path) =>
    context.document === 'rate_limiter_input'
      ? nextQuestions(context.flow)
          .filter((index) => INDEX.test(index))
          .map((index) => ({ key: index, path: path.replace('{index}', index) }))
      : [],
  schema: object({ CrossChainTx: object({ index: string, cctx_status: cctxStatus }) }),
  value: (page) => {
    const { index, cctx_status: status } = required(page.CrossChainTx);
    return { index: required(index), answer: required(answers.get(required(required(status).status))) };
  },
  isAbout: ({ key }, { index }) => index === key,
});

/** The answers about transactions, by index, and when the node was last asked for one. */
export function readCctxAnswers(states: QueryStates): Required<Pick<CrosschainInput, 'cctxAnswers' | 'cctxsAskedAt'>> {
  return {
    cctxAnswers: new Map(Array.from(cctxQuery.getAnswers(states), ([index, { answer }]) => [index, answer])),
    cctxsAskedAt: states.get(cctxQuery.name)?.roundStartedAt,
  };
}

export const crosschainQueries = [crosschainFlags, signersKey, pendingNonces, lookaheads, cctxQuery] as const;
