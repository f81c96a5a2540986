import { attentionTable, conditionWords, neverPolledList, upTable } from './endpoint-rows.js';
import type { Condition, EndpointStatus } from './endpoint-status.js';
import { statisticLink, isKnownTrouble, visibleStatistics, type HeadlineStatistic } from './headline-statistics.js';
import { markup, type Markup } from './html.js';
import { configRefused, instanceFacts, type Instance } from './instance.js';
import { layout } from './layout.js';

export interface StatusDocument {
  readonly generatedAt: string;
  readonly endpoints: readonly EndpointStatus[];
  readonly instance: Instance;
}

/** Every endpoint with its state: whether the numbers can be believed, what is stuck, then the rows, worst first. */
export function statusPage({ generatedAt, endpoints, instance }: StatusDocument, telemetryPath: string): string {
  const nowMs = Date.parse(generatedAt);
  const groups = grouped(endpoints);
  const worst = conditions.find((condition) => groups[condition].length > 0) ?? 'unpolled';
  const verdict = verdictOf(groups, endpoints.length);
  const { unpolled, up } = groups;
  const attention = [...groups.stale, ...groups.failing];
  const body = markup`${endpoints.length === 0 ? markup`<p>No target of the configuration falls to this shard.</p>` : tiles(groups)}
${configRefused(instance, nowMs)}
${trouble(endpoints, nowMs)}
${listOf('attention', 'Needs attention', attention, attentionTable(attention, nowMs))}
${listOf('unpolled', 'Not polled yet', unpolled, neverPolledList(unpolled))}
${listOf('up', 'Up', up, upTable(up, nowMs))}
${section('exporter', markup`This exporter`, instanceFacts(instance, endpoints, nowMs))}`;
  return layout({
    path: '/',
    title: `${marks[worst]} ${verdict}`,
    heading: markup`<span class="state ${worst}"></span><span aria-live="polite">${verdict}</span>`,
    asOf: generatedAt,
    telemetryPath,
    version: instance.version,
    body,
  });
}

/** Worst first. */
const conditions: readonly Condition[] = ['stale', 'failing', 'unpolled', 'up'];

/** For the tab; the page has the same shapes by its style. */
const marks: Readonly<Record<Condition, string>> = { stale: '■', failing: '▲', unpolled: '○', up: '●' };

type Groups = Readonly<Record<Condition, readonly EndpointStatus[]>>;

function grouped(endpoints: readonly EndpointStatus[]): Groups {
  const of = (condition: Condition) => endpoints.filter((status) => status.condition === condition);
  return { stale: of('stale'), failing: of('failing'), unpolled: of('unpolled'), up: of('up') };
}

function verdictOf({ stale, failing, unpolled, up }: Groups, total: number): string {
  const bad = stale.length + failing.length;
  if (total === 0) return 'Nothing to poll here';
  if (total === 1) {
    return bad === 1
      ? 'The endpoint needs attention'
      : `The endpoint is ${unpolled.length === 1 ? 'not polled yet' : 'up'}`;
  }
  if (bad > 0) return `${bad} of ${total} endpoints ${bad === 1 ? 'needs' : 'need'} attention`;
  if (unpolled.length === total) return 'No endpoint has been polled yet';
  if (unpolled.length > 0) return `${up.length} of ${total} endpoints are up so far`;
  return total === 2 ? 'Both endpoints are up' : `All ${total} endpoints are up`;
}

const listIds: Readonly<Record<Condition, string>> = {
  stale: 'attention',
  failing: 'attention',
  unpolled: 'unpolled',
  up: 'up',
};

function tiles(groups: Groups): Markup {
  const items = conditions.map((condition) => {
    const count = groups[condition].length;
    const text = markup`<b>${count}</b> <span class="state ${condition}">${conditionWords[condition]}</span>`;
    return count === 0
      ? markup`<li class="none">${text}`
      : markup`<li class="${condition}"><a href="#${listIds[condition]}">${text}</a>`;
  });
  return markup`<ul class="tiles">${items}</ul>`;
}

/** More are found by the red numbers in their rows. */
const MAX_TROUBLED = 10;

/** What is wrong on the chains, as against the way to them. */
function trouble(endpoints: readonly EndpointStatus[], nowMs: number): Markup {
  const byTarget = new Map<string, HeadlineStatistic[]>();
  for (const { target, items } of endpoints) {
    const found = items === null ? [] : visibleStatistics(items, nowMs).filter(isKnownTrouble);
    if (found.length > 0) byTarget.set(target, [...(byTarget.get(target) ?? []), ...found]);
  }
  if (byTarget.size === 0) return markup``;
  const rows = Array.from(byTarget)
    .slice(0, MAX_TROUBLED)
    .map(
      ([target, found]) =>
        markup`<li><b>${target}</b>${found.map((figure) => markup` ${statisticLink(target, figure)}`)}\n`,
    );
  const more = byTarget.size - rows.length;
  const note = more > 0 ? markup`<p class="note">and ${more} more targets, by the red numbers in their rows.</p>` : '';
  return section('trouble', markup`Trouble on the chains`, markup`<ul class="trouble">\n${rows}</ul>${note}`);
}

function listOf(id: string, title: string, endpoints: readonly EndpointStatus[], list: Markup): Markup {
  if (endpoints.length === 0) return markup``;
  return section(id, markup`${title} <span class="quiet">${endpoints.length}</span>`, list);
}

function section(id: string, title: Markup, body: Markup): Markup {
  return markup`<section id="${id}" class="part"><h2>${title}</h2>
${body}
</section>`;
}
