import { documents } from '../documents.js';
import type { BridgeItems, ContractItems, CrosschainItems, ItemList, Items } from '../facts/items/items.js';
import { backlogHtml } from './backlog.js';
import { blockingSection } from './blocking-table.js';
import { percent } from '../text/format.js';
import { missedTable, pendingTable, unlistedTable } from './cctx-table.js';
import { digits, text } from './cells.js';
import { chainSection } from './chain-table.js';
import type { EndpointView } from './endpoint-view.js';
import type { ExternalLinks } from './external-links.js';
import { flowHtml } from './flow.js';
import { isolated, markup, type Markup } from './html.js';
import { alertClass, itemSection, type ItemSorting, type ItemTable, type PageContext } from './item-table.js';
import { anchor, factList, layout, pendingLink, type Site } from './layout.js';
import type { PendingView, PendingTarget } from './pending-view.js';
import { blockTimeOf } from './node-view.js';
import { ownValidatorsSection } from './own-validators.js';
import { claimSummary, claimTable } from './claim-table.js';
import { batchTable, tokenTable, transferTable, valsetTable } from './pending-tables.js';
import { resolvedSection } from './resolved.js';
import { searchSection } from './search-section.js';
import { tableHtml, type Table } from './table.js';
import { firingVerdicts, worstTargetFirst } from './target-view.js';
import { ago, distanceElement, sinceElement, timeElement } from './time.js';
import { statusLabel } from './verdict-entry.js';
import { headline } from './headline.js';
import { noteList, verdictList } from './verdict-list.js';

/**
 * The page of one target: its verdicts, who is blocking, and the items behind the gauges, for someone who handles an alert. With
 * several targets, the list of them.
 */
export function pendingPage(
  document: PendingView,
  sorting: ItemSorting | undefined,
  links: ExternalLinks,
  site: Site,
): string {
  const [target, ...others] = document.targets;
  return target === undefined || others.length > 0
    ? targetList(document, site)
    : targetPage(document, target, sorting, links, site);
}

function targetList({ generatedAt, targets }: PendingView, site: Site): string {
  const { title, heading } = headline(targets);
  const body = markup`${tableHtml(targetTable, worstTargetFirst(targets), undefined)}
<p class="note"><code>Accept: application/json</code> returns the items of all targets as JSON.</p>`;
  return layout({ path: '/pending', title, heading, asOf: generatedAt, body }, site);
}

const targetTable: Table<PendingTarget> = {
  title: 'Targets',
  cssClass: 'targets',
  columns: [
    { title: 'State', cell: ({ status }) => statusLabel(status) },
    {
      title: 'Target',
      cell: ({ target }) => markup`<a href="${pendingLink(target)}">${isolated(target)}</a>`,
      type: 'row-header',
    },
    { title: 'Worst condition', cell: worstCondition, type: 'wide' },
  ],
  rowId: ({ target }) => anchor(target),
};

function worstCondition(view: PendingTarget): Markup {
  const [worst, ...others] = firingVerdicts(view);
  if (worst === undefined) return isolated(view.unknown.join('; '));
  const more = others.length === 0 ? '' : markup`<small>and ${others.length} more</small>`;
  return markup`${isolated(worst.summary)} <small>${sinceElement(worst.since, worst.ageSeconds)}</small>${more}`;
}

function targetPage(
  { generatedAt, endpoints, search }: PendingView,
  view: PendingTarget,
  sorting: ItemSorting | undefined,
  links: ExternalLinks,
  site: Site,
): string {
  const page: PageContext = { view, links, sorting, search, nowMs: Date.parse(generatedAt) };
  const worst = headline([view], 'target');
  const bridge = endpoints.find(({ document }) => document === 'module_state')?.items;
  const blocking =
    view.blocking === null || bridge?.document !== 'module_state' ? '' : blockingSection(view.blocking, bridge);
  // What the heading is about comes first.
  const first = firingVerdicts(view)[0]?.document;
  const sorted = endpoints.toSorted((a, b) => Number(b.document === first) - Number(a.document === first));
  const sections = sorted.map((endpoint) => [
    endpoint.document === 'module_state' ? blocking : '',
    endpointHtml(endpoint, page),
  ]);
  const bridgeEndpoint = endpoints.find(({ document }) => document === 'module_state');
  const own =
    bridgeEndpoint?.items?.document === 'module_state'
      ? ownValidatorsSection([{ view, items: bridgeEndpoint.items, node: bridgeEndpoint.node }], 'target')
      : '';
  const body = markup`${worst.details}
${jumpLinks(view, endpoints)}
${own}${verdictList([view], worst, 'target')}
${notesSection(noteList([view], 'target'))}
${notJudgedNote(view)}
${sections}
${resolvedSection(view.resolved, page.nowMs)}
<p class="note">Ages in blocks are as of the last success of each endpoint. Click an address or hash to select it. <code>Accept: application/json</code> returns the same data as JSON.</p>`;
  return layout({ path: '/pending', title: worst.title, heading: worst.heading, asOf: generatedAt, body }, site);
}

/** To the parts of a page that is long on a phone. */
function jumpLinks(view: PendingTarget, endpoints: readonly EndpointView[]): Markup {
  const links = [
    ...(view.blocking === null ? [] : [['blocking', 'Who is blocking'] as const]),
    ...endpoints.flatMap(({ items }) => (items === null ? [] : SECTIONS[items.document])),
  ];
  return markup`<nav class="jump" aria-label="Sections">${links.map(([id, title]) => markup`<a href="#${id}">${title}</a> `)}</nav>`;
}

const SECTIONS: Readonly<Record<Items['document'], readonly (readonly [id: string, title: string])[]>> = {
  module_state: [
    ['module_state', 'Bridge'],
    ['tokens', 'Tokens'],
    ['batches', 'Batches'],
    ['valsets', 'Validator sets'],
    ['claims', 'Claims'],
    ['transfers', 'Transfers'],
  ],
  external_contract: [['external_contract', 'Contract']],
  rate_limiter_input: [
    ['rate_limiter_input', 'Cross-chain'],
    ['chains', 'By chain'],
    ['missed', 'Missed'],
    ['pending', 'Pending cctxs'],
  ],
};

/** What this node does not serve is no problem, and nobody should rely on it. */
function notJudgedNote({ notJudgedHere }: PendingTarget): Markup {
  if (notJudgedHere.length === 0) return markup``;
  return markup`<p class="note">Not judged here: ${notJudgedHere.join(', ')}. This node has not served what they are judged by.</p>`;
}

function notesSection(notes: Markup): Markup {
  return notes.html === ''
    ? notes
    : markup`<section id="notes" class="part" aria-labelledby="notes-title"><h2 id="notes-title">Notes</h2>
${notes}</section>
`;
}

function endpointHtml(endpoint: EndpointView, page: PageContext): Markup {
  const { document, items } = endpoint;
  return markup`<section id="${document}" aria-labelledby="${document}-title">
<h2 id="${document}-title">${documents[document].title} <span class="quiet">${document}</span></h2>
${freshness(endpoint)}
${items === null ? '' : [backlogHtml(page.view, items, page.nowMs), flowHtml(endpoint.flow), itemsHtml(items, page)]}
</section>
`;
}

function freshness({ asOf, ageSeconds, shown, up, lastFailure, node, items }: EndpointView): Markup {
  const success = asOf === null ? '' : markup`${timeElement(asOf)}, ${ago(ageSeconds ?? 0)}`;
  const failure =
    up === false && lastFailure !== null
      ? markup`<br>Last failure: ${lastFailure.reason}: ${isolated(lastFailure.message)}, ${ago(lastFailure.ageSeconds)}.`
      : '';
  if (asOf === null) return markup`<p class="alert">No successful poll yet.${failure}</p>`;
  if (!shown)
    return markup`<p class="alert">The last successful poll was at ${success}, too long ago to show its items.${failure}</p>`;
  if (items === null)
    return markup`<p class="alert">Polled at ${success}, but not listed here: the documents of all targets together take more memory than this page may use.${failure}</p>`;
  if (up === false) return markup`<p class="alert">The last poll failed; the items are as of ${success}.${failure}</p>`;
  const ofBlock = blockTimeOf(node);
  if (ofBlock !== undefined)
    return markup`<p class="alert">The node is behind: polled at ${success}, everything is ${ofBlock}.</p>`;
  return markup`<p>As of ${success}.</p>`;
}

function itemsHtml(items: Items, page: PageContext): Markup {
  const tableOf = <Row>(table: ItemTable<Row>, list: ItemList<Row>): Markup => itemSection(table, list, page);
  switch (items.document) {
    case 'module_state':
      return markup`${bridgeFacts(items)}
${tableOf(tokenTable, items.tokens)}${tableOf(batchTable, items.batches)}${tableOf(valsetTable, items.valsets)}${itemSection(claimTable, items.claims, page, claimSummary(items))}${tableOf(transferTable, items.transfers)}`;
    case 'external_contract':
      return contractFacts(items, page);
    case 'rate_limiter_input':
      return markup`${crosschainFacts(items)}${items.hidden === null || items.hidden === '0' ? '' : hiddenNote(items.hidden, page)}
${chainSection(items.chains, page)}${searchSection(page.search, page)}${tableOf(missedTable, items.missed)}${items.unlisted?.total ? tableOf(unlistedTable, items.unlisted) : ''}${tableOf(pendingTable, items.pending)}`;
  }
}

/** After a restart, durations in hub blocks can be wrong by several times. */
function blockTime(time: BridgeItems['hubBlockTime']): Markup {
  if (time === null) return text(null);
  const notes = {
    configured: 'configured',
    measured: 'measured',
    parameter: 'the parameter, which is often wrong; measured after ten minutes of polls',
  };
  return markup`${Number(time.seconds.toFixed(3))} s <small>${notes[time.source]}</small>`;
}

function bridgeFacts(items: BridgeItems): Markup {
  return factList([
    ['Hub height', digits(items.hubHeight)],
    ['Hub block time', blockTime(items.hubBlockTime)],
    ['Last observed event', text(items.lastObservedNonce)],
    ['External height known to the hub', digits(items.lastObservedExternalHeight)],
    ['Estimated external height', digits(items.projectedExternalHeight)],
    ['Required signed power', markup`${percent(Number(items.powerThreshold), 2)}`],
  ]);
}

function crosschainFacts(items: CrosschainItems): Markup {
  return factList([
    ['Hub height', digits(items.height)],
    ['Total pending', text(items.totalPending)],
    ['Listed', text(items.listed)],
  ]);
}

function contractFacts(items: ContractItems, { nowMs }: PageContext): Markup {
  return factList([
    ['Contract', text(items.contract)],
    ['External height', digits(items.externalHeight)],
    [
      'Newest external block',
      distanceElement(items.externalTime, ago((nowMs - Date.parse(items.externalTime)) / 1000)),
    ],
    ['Events that the hub has not observed', text(items.unobservedEvents)],
    ...items.backing.map(({ token, surplus }): [string, Markup] => [`Backing surplus of ${token}`, text(surplus)]),
  ]);
}

function hiddenNote(hidden: string, page: PageContext): Markup {
  return markup`<p class="alert ${alertClass(page, 'CrosschainPendingListTruncated')}">The service omitted ${hidden} pending cctxs from its lists; the oldest may be among them.</p>`;
}
