import { percent } from '../text/format.js';
import { dataAlert } from './alert.js';
import { RATE_LIMITER_INPUT } from './crosschain-chains.js';
import { findingIf } from './view.js';

/* Alerts on the configured rate limit. */

/** Share of the configured limit. */
export const RATE_LIMIT_RATIO = 0.8;

export const rateLimitAlerts = [
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainRateLimitExceeded',
    severity: 'info',
    comment:
      'The limit is configured here. Nobody has enforced it since zetaclient 27; clients 19 to 26 hold back all pending cctxs above it.',
    when: 'The value of past and pending transactions exceeds the configured rate limit.',
    expr: `crosschain_rate_limit_utilization_ratio
and crosschain_rate_limit_exceeded == 1`,
    forMinutes: 10,
    linksToPending: false,
    families: ['crosschain_rate_limit_utilization_ratio', 'crosschain_rate_limit_exceeded'],
    find: ({ samples }) => {
      const utilization = samples.value('crosschain_rate_limit_utilization_ratio');
      if (utilization === undefined) return [];
      return findingIf(samples.value('crosschain_rate_limit_exceeded') === 1, utilization);
    },
    summary: 'the rate limit is exceeded.',
    description:
      'Past and pending transactions of {{ $labels.target }} have exceeded the configured rate limit for at least 10 minutes, at present {{ $value | humanizePercentage }} of it. Nobody has enforced it since zetaclient 27; clients 19 to 26 hold back all pending transactions.',
    action:
      'Compare rate and window of the configuration with the flags of the chain. With zetaclient 27 and newer, nothing waits for the limit.',
    sentence: ({ oldest, duration: lasting }) =>
      `the value of cross-chain transactions has exceeded the configured rate limit for ${lasting}, ${percent(oldest.value)} of it at present`,
    inhibits: [{ alert: 'CrosschainRateLimitNear' }],
  }),
  dataAlert(RATE_LIMITER_INPUT, {
    name: 'CrosschainRateLimitNear',
    severity: 'info',
    comment: 'Share of the configured rate limit.',
    when: `The value of past and pending transactions is above ${percent(RATE_LIMIT_RATIO)} of the configured rate limit.`,
    expr: `crosschain_rate_limit_utilization_ratio > ${RATE_LIMIT_RATIO}
and crosschain_rate_limit_exceeded == 0`,
    forMinutes: 10,
    linksToPending: false,
    families: ['crosschain_rate_limit_utilization_ratio', 'crosschain_rate_limit_exceeded'],
    find: ({ samples }) => {
      const utilization = samples.value('crosschain_rate_limit_utilization_ratio');
      if (utilization === undefined || samples.value('crosschain_rate_limit_exceeded') !== 0) return [];
      return findingIf(utilization > RATE_LIMIT_RATIO, utilization);
    },
    summary: 'the rate limit is almost reached.',
    description:
      'Past and pending transactions of {{ $labels.target }} use {{ $value | humanizePercentage }} of the configured rate limit, which nobody has enforced since zetaclient 27.',
    action: 'Compare rate and window of the configuration with the flags of the chain; no other action is needed.',
    sentence: ({ oldest }) =>
      `the value of cross-chain transactions is ${percent(oldest.value)} of the configured rate limit`,
  }),
];
