import { stringify } from 'yaml';
import type { BridgeEndpoint, Config, CrosschainEndpoint, Target } from '../config.js';
import { formatDuration, formatSize } from './units.js';

/** The configuration in the words of the file, defaults included; reading it gives the same configuration. */
export function configText({ poll, limits, targets, tokens, chains }: Config): string {
  const file = {
    poll: {
      interval: formatDuration(poll.intervalMs),
      timeout: formatDuration(poll.timeoutMs),
      stale_after: formatDuration(poll.staleAfterMs),
      max_body_size: formatSize(poll.maxBodyBytes),
    },
    limits: { max_series_per_family: limits.maxSeriesPerFamily },
    targets: targets.map(targetKeys),
    tokens,
    chains,
  };
  return stringify(file, { lineWidth: 0 });
}

function targetKeys({ name, bridge, crosschain }: Target) {
  return {
    name,
    ...(bridge && { bridge: bridgeKeys(bridge) }),
    ...(crosschain && { crosschain: crosschainKeys(crosschain) }),
  };
}

// Named one by one: what is added to an endpoint later, a password say, is not printed by accident.
function bridgeKeys({ url, dialect, powerThreshold, watch }: BridgeEndpoint) {
  return { url, dialect, power_threshold: powerThreshold, watch };
}

function crosschainKeys({ url, dialect, window, limit, rate, hubChainIds }: CrosschainEndpoint) {
  return { url, dialect, window, limit, rate, hub_chain_ids: hubChainIds };
}
