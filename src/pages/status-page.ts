import { formatDuration } from '../config/units.js';
import { endpointsNeedingAttention, endpointsNotPolled, endpointsUp, type EndpointContext } from './endpoint-table.js';
import type { Availability, EndpointStatus, NamesView } from './endpoint-view.js';
import { isolated, markup, type Markup } from './html.js';
import { ownValidatorsSection, type OwnValidators } from './own-validators.js';
import { factList, layout, relative, type Site } from './layout.js';
import { recorderFacts, type RecorderView } from './recorder-facts.js';
import { statuses, type TargetView } from './target-view.js';
import { duration } from '../text/format.js';
import { ago, distanceElement } from './time.js';
import { statusWords } from './verdict-entry.js';
import { headline } from './headline.js';
import { noteList, verdictList } from './verdict-list.js';

export interface StatusView {
  readonly generatedAt: string;
  readonly targets: readonly TargetView[];
  readonly endpoints: readonly EndpointStatus[];
  readonly validatorNames: readonly NamesView[];
  readonly instance: Instance;
}

/** This process and its configuration. */
export interface Instance {
  readonly version: string;
  readonly nodeVersion: string;
  readonly startedAt: string;
  readonly uptimeSeconds: number;
  /** As in `bridge_exporter_config_hash`. */
  readonly configHash: number;
  readonly configLoadedAt: string;
  /** When a reload failed, unless a later one succeeded. */
  readonly configRejectedAt: string | null;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly staleAfterMs: number;
  /** `null` if nothing is recorded. */
  readonly recorder: RecorderView | null;
}

/** First the worst condition of any target, then the others, then all endpoints. */
export function statusPage(
  { generatedAt, targets, endpoints, validatorNames, instance }: StatusView,
  site: Site,
): string {
  const context: EndpointContext = {
    nowMs: Date.parse(generatedAt),
    targets: new Map(targets.map((view) => [view.target, view])),
  };
  const worst = headline(targets);
  const withAvailability = (...wanted: readonly Availability[]): readonly EndpointStatus[] =>
    endpoints
      .filter(({ availability }) => wanted.includes(availability))
      .toSorted((a, b) => wanted.indexOf(a.availability) - wanted.indexOf(b.availability));
  const attention = withAvailability('withdrawn', 'failing');
  const initial = withAvailability('initial');
  const up = withAvailability('up');
  const body = markup`${worst.details}
${endpoints.length === 0 ? markup`<p>This shard has no target of the configuration.</p>` : ''}${targets.length > 1 ? tiles(targets) : ''}
${failedReloadAlert(instance, context.nowMs)}
${ownValidatorsSection(ownValidators(endpoints, context), 'status')}
${optionalSection('conditions', markup`Other conditions`, verdictList(targets, worst))}
${optionalSection('notes', markup`Notes`, noteList(targets))}
${listSection('attention', 'Endpoints that need attention', attention, endpointsNeedingAttention(attention, context))}
${listSection('initial', 'Endpoints not polled yet', initial, endpointsNotPolled(initial))}
${listSection('up', 'Endpoints that are up', up, endpointsUp(up, context))}
${namesSection(validatorNames)}
${site.isRecording === true ? '' : section('exporter', markup`This exporter`, instanceFacts(instance, endpoints, context.nowMs))}`;
  return layout({ path: '/', title: worst.title, heading: worst.heading, asOf: generatedAt, body }, site);
}

function ownValidators(endpoints: readonly EndpointStatus[], { targets }: EndpointContext): readonly OwnValidators[] {
  return endpoints.flatMap(({ target, items, node }) => {
    const view = targets.get(target);
    return view === undefined || items?.document !== 'module_state' ? [] : [{ view, items, node }];
  });
}

/** The number of targets by status. */
function tiles(targets: readonly TargetView[]): Markup {
  const items = statuses.map((wanted) => {
    const count = targets.filter(({ status }) => status === wanted).length;
    const text = markup`<b>${count}</b> <span class="state ${wanted}">${statusWords[wanted]}</span>`;
    return count === 0
      ? markup`<li class="none">${text}`
      : markup`<li class="${wanted}"><a href="${relative('/pending')}">${text}</a>`;
  });
  return markup`<ul class="tiles" aria-label="Targets by status">${items}</ul>`;
}

function optionalSection(id: string, title: Markup, list: Markup): Markup {
  return list.html === '' ? list : section(id, title, list);
}

function listSection(id: string, title: string, endpoints: readonly EndpointStatus[], list: Markup): Markup {
  if (endpoints.length === 0) return markup``;
  return section(id, markup`${title} <span class="quiet">${endpoints.length}</span>`, list);
}

function section(id: string, title: Markup, body: Markup): Markup {
  return markup`<section id="${id}" class="part" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>
${body}
</section>`;
}

/** Names of validators are not part of a poll, so their age is shown on its own. */
function namesSection(views: readonly NamesView[]): Markup {
  if (views.length === 0) return markup``;
  const facts = views.map(({ target, count, readAt, ageSeconds, failure }) => {
    const age =
      readAt === null || ageSeconds === null
        ? markup`none read yet`
        : markup`${count} names, read ${distanceElement(readAt, ago(ageSeconds))}`;
    const problem =
      failure === null
        ? ''
        : markup` <span class="state failing">${failure.reason}</span> ${isolated(failure.message)}`;
    return [isolated(target), markup`${age}${problem}`] as const;
  });
  return section('names', markup`Validator names`, factList(facts));
}

function instanceFacts(instance: Instance, endpoints: readonly EndpointStatus[], nowMs: number): Markup {
  const { version, nodeVersion, startedAt, uptimeSeconds, configHash, configLoadedAt } = instance;
  const { intervalMs, timeoutMs, staleAfterMs } = instance;
  const targets = new Set(endpoints.map(({ target }) => target)).size;
  return factList([
    ['Version', markup`${version}, Node.js ${nodeVersion}`],
    ['Uptime', distanceElement(startedAt, duration(uptimeSeconds))],
    ['Configuration', markup`<code>${configHash}</code>, loaded ${agoElement(configLoadedAt, nowMs)}`],
    ['Targets', markup`${targets}, with ${endpoints.length} endpoints`],
    ['Polls', markup`every ${formatDuration(intervalMs)}, timeout ${formatDuration(timeoutMs)}`],
    ['Series', markup`withdrawn ${formatDuration(staleAfterMs)} after the last success`],
    ...recorderFacts(instance.recorder, nowMs),
  ]);
}

function failedReloadAlert({ configRejectedAt }: Instance, nowMs: number): Markup {
  if (configRejectedAt === null) return markup``;
  return markup`<p class="alert">The last reload of the configuration failed ${agoElement(configRejectedAt, nowMs)}, the previous configuration stays active. The log contains the reason, and <code>--config.check</code> prints it.</p>`;
}

function agoElement(iso: string, nowMs: number): Markup {
  return distanceElement(iso, ago((nowMs - Date.parse(iso)) / 1000));
}
