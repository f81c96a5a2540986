import { formatDuration } from '../config/kit/units.js';
import type { EndpointView } from './endpoint-view.js';
import { markup, type Markup } from './html.js';
import { ago, distanceElement, duration } from './time.js';

/** What the exporter says of itself. */
export interface Instance {
  readonly version: string;
  readonly nodeVersion: string;
  readonly startedAt: string;
  readonly uptimeSeconds: number;
  /** As in `bridge_exporter_config_hash`. */
  readonly configHash: number;
  readonly configReadAt: string;
  /** When a newer configuration was refused, unless one was taken over since. */
  readonly configRefusedAt: string | null;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly staleAfterMs: number;
}

export function instanceFacts(instance: Instance, endpoints: readonly EndpointView[], nowMs: number): Markup {
  const { version, nodeVersion, startedAt, uptimeSeconds, configHash, configReadAt } = instance;
  const { intervalMs, timeoutMs, staleAfterMs } = instance;
  const targets = new Set(endpoints.map(({ target }) => target)).size;
  const facts: readonly (readonly [term: string, value: Markup])[] = [
    ['Version', markup`${version}, Node.js ${nodeVersion}`],
    ['Running', distanceElement(startedAt, `for ${duration(uptimeSeconds)}`)],
    [
      'Configuration',
      markup`<code>${configHash}</code>, read ${distanceElement(configReadAt, since(configReadAt, nowMs))}`,
    ],
    ['Targets', markup`${targets}, with ${endpoints.length} endpoints`],
    ['Polls', markup`${formatDuration(intervalMs)} after the last, for at most ${formatDuration(timeoutMs)}`],
    ['Series', markup`withdrawn ${formatDuration(staleAfterMs)} after the last success`],
  ];
  return markup`<dl class="facts">${facts.map(([term, value]) => markup`<div><dt>${term}<dd>${value}</div>`)}</dl>`;
}

/** That what the file says by now is not what is in effect. */
export function configRefused({ configRefusedAt }: Instance, nowMs: number): Markup {
  if (configRefusedAt === null) return markup``;
  return markup`<p class="alert">A new configuration was refused ${distanceElement(configRefusedAt, since(configRefusedAt, nowMs))} and the old one stays: the log says why, as does <code>--config.check</code>.</p>`;
}

function since(iso: string, nowMs: number): string {
  return ago((nowMs - Date.parse(iso)) / 1000);
}
