import type { EndpointConnection, Config, CrosschainEndpoint } from './config.js';
import { formatDuration } from './kit/units.js';
import type { Path } from './kit/yaml-source.js';

export interface ConfigWarning {
  readonly path: Path;
  readonly message: string;
}

/** What is valid and yet most likely not what was meant. */
export function configWarnings({ poll, targets }: Config): ConfigWarning[] {
  const found: ConfigWarning[] = [];
  if (poll.timeoutMs > poll.intervalMs) {
    found.push({
      path: ['poll', 'timeout'],
      message: `timeout (${formatDuration(poll.timeoutMs)}) is longer than interval (${formatDuration(poll.intervalMs)})`,
    });
  }
  for (const [index, { bridge, crosschain }] of targets.entries()) {
    const path = ['targets', index];
    if (bridge) found.push(...reachDoubts(bridge, [...path, 'bridge']));
    if (!crosschain) continue;
    found.push(...crosschainDoubts(crosschain, [...path, 'crosschain']));
    found.push(...reachDoubts(crosschain, [...path, 'crosschain']));
  }
  return found;
}

/** A real node walks the whole history of every chain when the window is that long. */
const longWindow = 100_000n;

function crosschainDoubts({ window, rate }: CrosschainEndpoint, path: Path): ConfigWarning[] {
  const found: ConfigWarning[] = [];
  if (window !== undefined && BigInt(window) > longWindow) {
    found.push({
      path: [...path, 'window'],
      message: `${window} blocks is far above ${longWindow}: the query is heavy for the node`,
    });
  }
  if (rate !== undefined && window === undefined) {
    found.push({ path: [...path, 'rate'], message: 'has no effect without window' });
  }
  return found;
}

function reachDoubts({ url, httpClient: reach }: EndpointConnection, path: Path): ConfigWarning[] {
  if (reach?.tls === undefined) return [];
  const tls = [...path, 'tls_config'];
  if (!url.startsWith('https:') && !reach.proxy?.url.startsWith('https:')) {
    return [{ path: tls, message: 'has no effect: url is not an https address' }];
  }
  return reach.tls.insecureSkipVerify
    ? [{ path: [...tls, 'insecure_skip_verify'], message: 'whoever is between here and the node can pose as the node' }]
    : [];
}
