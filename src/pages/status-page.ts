import { formatDuration } from '../config/kit/units.js';
import { attentionTable, conditionLabels, initialList, upTable } from './endpoint-table.js';
import { conditions, type Condition, type EndpointStatus, type NamesView } from './endpoint-view.js';
import { isKnownProblem, statisticLink, visibleStatistics, type HeadlineStatistic } from './headline-statistics.js';
import { markup, type Markup } from './html.js';
import { layout } from './layout.js';
import { ago, distanceElement, duration } from './time.js';

export interface StatusDocument {
  readonly generatedAt: string;
  readonly endpoints: readonly EndpointStatus[];
  readonly names: readonly NamesView[];
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
}

/** First the problems of the chains, then all endpoints by condition, worst first. */
export function statusPage({ generatedAt, endpoints, names, instance }: StatusDocument, telemetryPath: string): string {
  const nowMs = Date.parse(generatedAt);
  const groups = groupByCondition(endpoints);
  const worst = conditions.find((condition) => groups[condition].length > 0) ?? 'initial';
  const summary = summaryOf(groups, endpoints.length);
  const { initial, up } = groups;
  const attention = [...groups.stale, ...groups.failing];
  const body = markup`${endpoints.length === 0 ? markup`<p>This shard has no target of the configuration.</p>` : tiles(groups)}
${failedReloadAlert(instance, nowMs)}
${problems(endpoints, nowMs)}
${listSection('attention', 'Needs attention', attention, attentionTable(attention, nowMs))}
${listSection('initial', 'Not polled yet', initial, initialList(initial))}
${listSection('up', 'Up', up, upTable(up, nowMs))}
${namesSection(names)}
${section('exporter', markup`This exporter`, instanceFacts(instance, endpoints, nowMs))}`;
  return layout({
    path: '/',
    title: `${titleMarks[worst]} ${summary}`,
    heading: markup`<span class="state ${worst}"></span><span aria-live="polite">${summary}</span>`,
    asOf: generatedAt,
    telemetryPath,
    version: instance.version,
    body,
  });
}

/** For the title of the tab; the style adds the same shapes to the page. */
const titleMarks: Readonly<Record<Condition, string>> = { stale: '■', failing: '▲', initial: '○', up: '●' };

type Groups = Readonly<Record<Condition, readonly EndpointStatus[]>>;

function groupByCondition(endpoints: readonly EndpointStatus[]): Groups {
  const withCondition = (condition: Condition) => endpoints.filter((status) => status.condition === condition);
  return {
    stale: withCondition('stale'),
    failing: withCondition('failing'),
    initial: withCondition('initial'),
    up: withCondition('up'),
  };
}

function summaryOf({ stale, failing, initial, up }: Groups, total: number): string {
  const bad = stale.length + failing.length;
  if (total === 0) return 'Nothing to poll';
  if (total === 1) {
    return bad === 1
      ? 'The endpoint needs attention'
      : `The endpoint is ${initial.length === 1 ? 'not polled yet' : 'up'}`;
  }
  if (bad > 0) return `${bad} of ${total} endpoints ${bad === 1 ? 'needs' : 'need'} attention`;
  if (initial.length === total) return 'No endpoint has been polled yet';
  if (initial.length > 0) return `${up.length} of ${total} endpoints are up so far`;
  return total === 2 ? 'Both endpoints are up' : `All ${total} endpoints are up`;
}

const listIds: Readonly<Record<Condition, string>> = {
  stale: 'attention',
  failing: 'attention',
  initial: 'initial',
  up: 'up',
};

function tiles(groups: Groups): Markup {
  const items = conditions.map((condition) => {
    const count = groups[condition].length;
    const text = markup`<b>${count}</b> <span class="state ${condition}">${conditionLabels[condition]}</span>`;
    return count === 0
      ? markup`<li class="none">${text}`
      : markup`<li class="${condition}"><a href="#${listIds[condition]}">${text}</a>`;
  });
  return markup`<ul class="tiles">${items}</ul>`;
}

const MAX_PROBLEM_TARGETS = 10;

/** Problems of the chains, as opposed to problems with polling them. */
function problems(endpoints: readonly EndpointStatus[], nowMs: number): Markup {
  const byTarget = new Map<string, HeadlineStatistic[]>();
  for (const { target, items } of endpoints) {
    const found = items === null ? [] : visibleStatistics(items, nowMs).filter(isKnownProblem);
    if (found.length > 0) byTarget.set(target, [...(byTarget.get(target) ?? []), ...found]);
  }
  if (byTarget.size === 0) return markup``;
  const rows = Array.from(byTarget)
    .slice(0, MAX_PROBLEM_TARGETS)
    .map(
      ([target, found]) =>
        markup`<li><b>${target}</b>${found.map((statistic) => markup` ${statisticLink(target, statistic)}`)}\n`,
    );
  const more = byTarget.size - rows.length;
  const note = more > 0 ? markup`<p class="note">and ${more} more targets, with red numbers in their rows</p>` : '';
  return section('problems', markup`Problems on the chains`, markup`<ul class="problems">\n${rows}</ul>${note}`);
}

function listSection(id: string, title: string, endpoints: readonly EndpointStatus[], list: Markup): Markup {
  if (endpoints.length === 0) return markup``;
  return section(id, markup`${title} <span class="quiet">${endpoints.length}</span>`, list);
}

function section(id: string, title: Markup, body: Markup): Markup {
  return markup`<section id="${id}" class="part"><h2>${title}</h2>
${body}
</section>`;
}

/** Names of validators are not part of a poll, so their age is shown on its own. */
function namesSection(names: readonly NamesView[]): Markup {
  if (names.length === 0) return markup``;
  const rows = names.map(({ target, count, readAt, ageSeconds, failure }) => {
    const age =
      readAt === null || ageSeconds === null
        ? markup`none read yet`
        : markup`${count} names, read ${distanceElement(readAt, ago(ageSeconds))}`;
    const problem =
      failure === null ? '' : markup` <span class="state failing">${failure.reason}</span> ${failure.message}`;
    return markup`<div><dt>${target}<dd>${age}${problem}</div>`;
  });
  return section('names', markup`Validator names`, markup`<dl class="facts">${rows}</dl>`);
}

function instanceFacts(instance: Instance, endpoints: readonly EndpointStatus[], nowMs: number): Markup {
  const { version, nodeVersion, startedAt, uptimeSeconds, configHash, configLoadedAt } = instance;
  const { intervalMs, timeoutMs, staleAfterMs } = instance;
  const targets = new Set(endpoints.map(({ target }) => target)).size;
  const facts: readonly (readonly [term: string, value: Markup])[] = [
    ['Version', markup`${version}, Node.js ${nodeVersion}`],
    ['Uptime', distanceElement(startedAt, duration(uptimeSeconds))],
    ['Configuration', markup`<code>${configHash}</code>, loaded ${agoElement(configLoadedAt, nowMs)}`],
    ['Targets', markup`${targets}, with ${endpoints.length} endpoints`],
    ['Polls', markup`every ${formatDuration(intervalMs)}, timeout ${formatDuration(timeoutMs)}`],
    ['Series', markup`withdrawn ${formatDuration(staleAfterMs)} after the last success`],
  ];
  return markup`<dl class="facts">${facts.map(([term, value]) => markup`<div><dt>${term}<dd>${value}</div>`)}</dl>`;
}

function failedReloadAlert({ configRejectedAt }: Instance, nowMs: number): Markup {
  if (configRejectedAt === null) return markup``;
  return markup`<p class="alert">The last reload of the configuration failed ${agoElement(configRejectedAt, nowMs)}, the previous configuration stays active. The log contains the reason, and <code>--config.check</code> prints it.</p>`;
}

function agoElement(iso: string, nowMs: number): Markup {
  return distanceElement(iso, ago((nowMs - Date.parse(iso)) / 1000));
}
