import type { Numeral } from '../chain/numeral.js';
import { boolean, chainId, list, numeral, object, string } from '../chain/fields.js';
import { chainLabels, MAX_CHAINS, PER_CHAIN } from '../facts/crosschain/chains.js';
import { toLabelValue } from '../facts/label-value.js';
import { families, gauge, labeledGauge } from '../metrics/family.js';
import { optional, required, rows } from '../facts/required-fields.js';
import type { QueryStates } from './query-state.js';
import { isOn, nextKeyOf, nodeQuery, pagination, type QueryInput } from './query.js';
import type { StepContext } from '../document-types.js';
import { HOUR_MS } from '../units.js';

/* Switches, nonces and parameters of the chains that a hub signs for (ZetaChain, observer module). */

function isCrosschain(options: StepContext): boolean {
  return isOn(options) && options.document === 'rate_limiter_input';
}

/** The paths of the observer module by dialect. */
const observerPath = (name: string) => ({
  zeta: `/zeta-chain/observer/${name}`,
  neutral: `/chain/observer/${name}`,
});

interface Flags {
  readonly isInboundEnabled: boolean;
  readonly isOutboundEnabled: boolean;
}

function flag(isEnabled: (flags: Flags) => boolean) {
  return ({ value }: QueryInput<Flags>) => (isEnabled(value) ? 1 : 0);
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
      help: 'Whether the hub sends transactions to other chains (1) or has switched that off (0).',
      stability: 'experimental',
      value: flag(({ isOutboundEnabled }) => isOutboundEnabled),
    }),
    crosschain_inbound_enabled: gauge({
      help: 'Whether the hub accepts transactions from other chains (1) or has switched that off (0).',
      stability: 'experimental',
      value: flag(({ isInboundEnabled }) => isInboundEnabled),
    }),
  }),
});

/** The present TSS key, to which nonces belong. */
export const signersKey = nodeQuery({
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

/** A series of the present key for each external chain; none without a key. */
function eachChain(exact: (nonces: Nonces) => Numeral) {
  return ({ context, value }: QueryInput<readonly Nonces[]>) => {
    const key = signersKey.valuesOf(context.answers).get('');
    const hub = context.document === 'rate_limiter_input' ? context.settings.hub_chain_ids : [];
    return value
      .filter((nonces) => nonces.key === key && !hub.includes(nonces.chainId))
      .map((nonces) => ({ labels: chainLabels(toLabelValue(nonces.chainId), context.labels), value: exact(nonces) }));
  };
}

export const pendingNonces = nodeQuery({
  name: 'pending_nonces',
  isEnabled: isCrosschain,
  path: observerPath('pendingNonces'),
  // The key of the nonces is requested first.
  requests: ({ answers }, path) => (signersKey.valuesOf(answers).has('') ? [{ key: '', path }] : []),
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
  nextKey: nextKeyOf,
  join: (before, page) => [...before, ...page],
  families: families<QueryInput<readonly Nonces[]>>({
    crosschain_nonce_low: labeledGauge({
      help: 'Lowest nonce of the present key that is pending on a chain, by the hub; all nonces from it up to the highest one are pending.',
      stability: 'experimental',
      overLimit: 'keep-lowest',
      ...PER_CHAIN,
      derive: eachChain(({ low }) => low),
    }),
    crosschain_nonce_high: labeledGauge({
      help: 'Next nonce of the present key on a chain, by the hub; less the lowest pending one it is the number of pending transactions.',
      stability: 'experimental',
      overLimit: 'keep-largest',
      ...PER_CHAIN,
      derive: eachChain(({ high }) => high),
    }),
  }),
});

/** How far above the lowest missed nonce clients schedule, by chain id. */
export type Lookaheads = Readonly<Record<string, number>>;

export const chainParams = nodeQuery({
  name: 'chain_params',
  intervalMs: HOUR_MS,
  isEnabled: isCrosschain,
  path: observerPath('get_chain_params'),
  schema: object({
    chain_params: object({ chain_params: list(object({ chain_id: chainId, outbound_schedule_lookahead: numeral })) }),
  }),
  value: (page): Lookaheads =>
    Object.fromEntries(
      rows(required(page.chain_params).chain_params)
        .slice(0, MAX_CHAINS)
        .flatMap(({ chain_id: id, outbound_schedule_lookahead: lookahead }): [string, number][] =>
          optional(lookahead) === undefined ? [] : [[required(id), Number(required(lookahead))]],
        ),
    ),
});

export function lookaheadsOf(answers: QueryStates): Lookaheads | undefined {
  return chainParams.valuesOf(answers).get('');
}
