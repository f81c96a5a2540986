import { knownChains, lookaheadOf } from '../../chain/known-chains.js';
import { DEFAULT_AGE_LIMIT, type CrosschainSettings } from '../../config/endpoint-config.js';
import { families, gauge, labeledGauge, type ExactSample } from '../../metrics/family.js';
import { chainLabels, chainsWithOutbounds, PER_CHAIN } from './cctxs.js';
import type { CrosschainInput } from './input.js';

const AGE_LIMIT_MS = 30 * 60_000;

/** How long a transaction may be pending on a chain. */
export function ageLimitMs(chainId: string, { ageLimitsMs }: CrosschainSettings): number {
  // Chain ids are untrusted, and `constructor` is a property of every object.
  const configured = Object.hasOwn(ageLimitsMs, chainId) ? ageLimitsMs[chainId] : undefined;
  return configured ?? knownChains.get(chainId)?.ageLimitMs ?? ageLimitsMs[DEFAULT_AGE_LIMIT] ?? AGE_LIMIT_MS;
}

/** How far above the lowest missed nonce clients schedule: as the node has answered, else the known value of the chain. */
export function scheduleLookahead(chainId: string, { lookaheads = {} }: CrosschainInput): number {
  return (Object.hasOwn(lookaheads, chainId) ? lookaheads[chainId] : undefined) ?? lookaheadOf(chainId);
}

/** One sample for each chain with listed transactions, the first ones by label above the limit. */
function eachListedChain(valueOf: (chainId: string, input: CrosschainInput) => number) {
  return (input: CrosschainInput): readonly ExactSample<'chain_id' | 'chain'>[] =>
    chainsWithOutbounds(input)
      .toSorted()
      .map((chainId) => ({ labels: chainLabels(chainId, input), value: valueOf(chainId, input) }));
}

/** The limits that alerts, pages and dashboards compare with. */
export const limitFamilies = families<CrosschainInput>({
  crosschain_age_limit_seconds: labeledGauge({
    help: 'Age above which a pending transaction of a chain is too old, for each chain with listed transactions.',
    ...PER_CHAIN,
    derive: eachListedChain((chainId, { settings }) => ageLimitMs(chainId, settings) / 1000),
  }),
  crosschain_schedule_lookahead_nonces: labeledGauge({
    help: 'How far above the lowest missed nonce of a chain clients schedule, by the parameters of the chain, else as known for it.',
    stability: 'experimental',
    ...PER_CHAIN,
    derive: eachListedChain(scheduleLookahead),
  }),
  crosschain_backlog_limit_cctxs: gauge({
    help: 'Number of missed and pending transactions above which the backlog is high.',
    value: ({ settings: { backlogLimit } }) => backlogLimit,
  }),
});
