import type { BridgeItems, CrosschainItems, ItemList } from '../pending/items.js';
import { batchTable, claimTable, transferTable, valsetTable } from './bridge-tables.js';
import { digits, percent, text } from './cells.js';
import { missedTable, pendingTable } from './crosschain-tables.js';
import { endpointTitles, type EndpointView, type PendingDocument } from './endpoint-view.js';
import { headlineStatistics } from './headline-statistics.js';
import { markup, type Markup } from './html.js';
import { anchor, layout } from './layout.js';
import { tableSection, type PageContext, type Sorting, type Table } from './table.js';
import { ago, timeElement } from './time.js';

/** The items behind the gauges: which transfers, batches, claims and cctxs are pending, for someone handling an alert. */
export function pendingPage(
  { generatedAt, endpoints }: PendingDocument,
  sorting: Sorting | undefined,
  telemetryPath: string,
  version: string,
): string {
  const page = { sorting, nowMs: Date.parse(generatedAt) };
  const targets = Array.from(new Set(endpoints.map(({ target }) => target)));
  const sections = targets.map((target) => {
    const own = endpoints.filter((view) => view.target === target);
    return markup`<h2 id="${anchor(target)}">${target}</h2>\n${own.map((view) => endpointHtml(view, page))}`;
  });
  const body = markup`<p class="note">Generated at ${timeElement(generatedAt)}; reload for current data. Ages in blocks are as of the last success of each endpoint. Click an address or hash to select it. <code>Accept: application/json</code> returns the same data as JSON.</p>
${targets.length > 1 ? contents(targets) : ''}
${sections}`;
  return layout({ path: '/pending', title: 'Pending', heading: markup`Pending`, telemetryPath, version, body });
}

function contents(targets: readonly string[]): Markup {
  return markup`<ul class="statistics">${targets.map((target) => markup`<li><a href="#${anchor(target)}">${target}</a>`)}</ul>`;
}

function endpointHtml(view: EndpointView, page: PageContext): Markup {
  const { target, document, items } = view;
  return markup`<section id="${anchor(target, document)}">
<h3>${endpointTitles[document]} <span class="quiet">${document}</span></h3>
${freshness(view)}
${items === null ? '' : [headlineStatistics(target, items, page.nowMs), itemsHtml(view, items, page)]}
</section>
`;
}

function freshness({ asOf, ageSeconds, shown, up, lastFailure }: EndpointView): Markup {
  const success = asOf === null ? '' : markup`${timeElement(asOf)}, ${ago(ageSeconds ?? 0)}`;
  const failure =
    up === false && lastFailure !== null
      ? markup`<br>Last failure: ${lastFailure.reason}: ${lastFailure.message}, ${ago(lastFailure.ageSeconds)}.`
      : '';
  if (asOf === null) return markup`<p class="alert">No successful poll yet.${failure}</p>`;
  if (!shown)
    return markup`<p class="alert">The last successful poll was at ${success}, too long ago to show its items.${failure}</p>`;
  if (up === false) return markup`<p class="alert">The last poll failed; the items are as of ${success}.${failure}</p>`;
  return markup`<p>As of ${success}.</p>`;
}

function itemsHtml({ target }: EndpointView, items: BridgeItems | CrosschainItems, page: PageContext): Markup {
  const tableOf = <Row>(table: Table<Row>, section: ItemList<Row>): Markup =>
    tableSection(table, section, anchor(target, table.name), page);
  switch (items.document) {
    case 'module_state':
      return markup`${bridgeFacts(items)}
${tableOf(batchTable, items.batches)}${tableOf(valsetTable, items.valsets)}${tableOf(claimTable, items.claims)}${tableOf(transferTable, items.transfers)}`;
    case 'rate_limiter_input':
      return markup`${crosschainFacts(items)}${items.hidden === null || items.hidden === '0' ? '' : hiddenAlert(items.hidden)}
${tableOf(missedTable, items.missed)}${tableOf(pendingTable, items.pending)}`;
  }
}

function bridgeFacts(items: BridgeItems): Markup {
  return facts([
    ['Hub height', digits(items.hubHeight)],
    ['Last observed event', text(items.lastObservedNonce)],
    ['External height known to the hub', digits(items.lastObservedExternalHeight)],
    ['Estimated external height', digits(items.projectedExternalHeight)],
    ['Required signed power', markup`${percent(Number(items.powerThreshold))}`],
  ]);
}

function crosschainFacts(items: CrosschainItems): Markup {
  return facts([
    ['Hub height', digits(items.height)],
    ['Total pending', text(items.totalPending)],
    ['Listed', text(items.listed)],
  ]);
}

function hiddenAlert(hidden: string): Markup {
  return markup`<p class="alert">The service omitted ${hidden} pending cctxs from its lists; the oldest may be among them.</p>`;
}

function facts(list: readonly (readonly [term: string, value: Markup])[]): Markup {
  return markup`<dl class="facts">${list.map(([term, value]) => markup`<div><dt>${term}<dd>${value}</div>`)}</dl>`;
}
