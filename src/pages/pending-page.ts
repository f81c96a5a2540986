import type { BridgeItems, CrosschainItems, Section } from '../pending/items.js';
import { batchTable, claimTable, transferTable, valsetTable } from './bridge-tables.js';
import { digits, percent, text } from './cells.js';
import { missedTable, pendingTable } from './crosschain-tables.js';
import { endpointTitles, type EndpointView, type PendingDocument } from './endpoint-view.js';
import { headlineStatistics } from './headline-statistics.js';
import { markup, type Markup } from './html.js';
import { anchor, layout } from './layout.js';
import { sectionHtml, type PageContext, type Sorting, type Table } from './table.js';
import { ago, timeElement } from './time.js';

/** The items behind the gauges, for a person who was woken by one of them. */
export function pendingPage(
  { generatedAt, endpoints }: PendingDocument,
  sorting: Sorting | undefined,
  telemetryPath: string,
  version: string,
): string {
  const page = { sorting, nowMs: Date.parse(generatedAt) };
  const targets = Array.from(new Set(endpoints.map(({ target }) => target)));
  const parts = targets.map((target) => {
    const own = endpoints.filter((view) => view.target === target);
    return markup`<h2 id="${anchor(target)}">${target}</h2>\n${own.map((view) => endpointHtml(view, page))}`;
  });
  const body = markup`<p class="note">Made at ${timeElement(generatedAt)}; reload for the present. Ages in blocks are as of each answer. A click on an address or hash selects all of it. <code>Accept: application/json</code> gives the same as JSON.</p>
${targets.length > 1 ? contents(targets) : ''}
${parts}`;
  return layout({ path: '/pending', title: 'Pending', heading: markup`Pending`, telemetryPath, version, body });
}

function contents(targets: readonly string[]): Markup {
  return markup`<ul class="figures">${targets.map((target) => markup`<li><a href="#${anchor(target)}">${target}</a>`)}</ul>`;
}

function endpointHtml(view: EndpointView, page: PageContext): Markup {
  const { target, endpoint, items } = view;
  return markup`<section id="${anchor(target, endpoint)}">
<h3>${endpointTitles[endpoint]} <span class="quiet">${endpoint}</span></h3>
${freshness(view)}
${items === null ? '' : [headlineStatistics(target, items, page.nowMs), itemsHtml(view, items, page)]}
</section>
`;
}

/** What stands on top of an endpoint: whether what follows can be believed, and else why nothing follows. */
function freshness({ asOf, ageSeconds, shown, up, lastFailure }: EndpointView): Markup {
  const answered = asOf === null ? '' : markup`${timeElement(asOf)}, ${ago(ageSeconds ?? 0)}`;
  const failed = lastFailure && markup`${lastFailure.reason}: ${lastFailure.message}, ${ago(lastFailure.ageSeconds)}`;
  const failure = up === false && failed ? markup`<br>Last failure: ${failed}.` : '';
  if (asOf === null) return markup`<p class="alert">No answer yet.${failure}</p>`;
  if (!shown) return markup`<p class="alert">No answer since ${answered}: too old to be shown.${failure}</p>`;
  if (up === false) return markup`<p class="alert">The last poll failed; this is as of ${answered}.${failure}</p>`;
  return markup`<p>As of ${answered}.</p>`;
}

function itemsHtml({ target }: EndpointView, items: BridgeItems | CrosschainItems, page: PageContext): Markup {
  const rows = <Row>(table: Table<Row>, section: Section<Row>): Markup =>
    sectionHtml(table, section, anchor(target, table.name), page);
  switch (items.document) {
    case 'module_state':
      return markup`${bridgeFacts(items)}
${rows(batchTable, items.batches)}${rows(valsetTable, items.valsets)}${rows(claimTable, items.claims)}${rows(transferTable, items.transfers)}`;
    case 'rate_limiter_input':
      return markup`${crosschainFacts(items)}${items.hidden === null || items.hidden === '0' ? '' : hiddenNote(items.hidden)}
${rows(missedTable, items.missed)}${rows(pendingTable, items.pending)}`;
  }
}

function bridgeFacts(items: BridgeItems): Markup {
  return facts([
    ['Hub height', digits(items.hubHeight)],
    ['Last observed event', text(items.lastObservedNonce)],
    ['External height the hub knows', digits(items.lastObservedExternalHeight)],
    ['External height projected', digits(items.projectedExternalHeight)],
    ['Signed power needed', markup`${percent(Number(items.powerThreshold))}`],
  ]);
}

function crosschainFacts(items: CrosschainItems): Markup {
  return facts([
    ['Hub height', digits(items.height)],
    ['Pending in all', text(items.totalPending)],
    ['Listed', text(items.listed)],
  ]);
}

function hiddenNote(hidden: string): Markup {
  return markup`<p class="alert">The service left ${hidden} out of its lists: the oldest may be among them.</p>`;
}

function facts(list: readonly (readonly [term: string, value: Markup])[]): Markup {
  return markup`<dl class="facts">${list.map(([term, value]) => markup`<div><dt>${term}<dd>${value}</div>`)}</dl>`;
}
