import { documents, type Items } from '../documents.js';
import { unknownMinimumsText } from '../problems/sentence.js';
import { percent } from '../text/format.js';
import { backlogHtml } from './backlog.js';
import {
  batchSummary,
  batchTable,
  claimSummary,
  claimTable,
  tokenTable,
  transferTable,
  valsetTable,
} from './bridge-tables.js';
import * as cells from './cells.js';
import { chainSection, missedTable, pendingTable, unlistedTable } from './crosschain-tables.js';
import type { ExternalLinks } from './external-links.js';
import { isolated, markup, type Markup } from './html.js';
import { anchor, factList, layout, pendingLink, section, type Site } from './layout.js';
import { endedSection } from './ended.js';
import { searchSection } from './search.js';
import { alertClass, itemSection, tableHtml, type ItemTable, type PageContext, type Table } from './table.js';
import { ago, agoElement, blockTimeOf, sinceElement, timeElement } from './time.js';
import { validatorsSection } from './validator-table.js';
import { conditionsOf, statusLabel } from './verdict-list.js';
import type { EndpointView, PendingView, TargetView } from './view.js';
import { firingVerdicts, worstTargetFirst } from '../poll/verdicts.js';
import type { BridgeItems } from '../facts/items/bridge.js';
import type { ContractItems } from '../facts/items/contract.js';
import type { CrosschainItems } from '../facts/items/crosschain.js';
import type { ItemList } from '../facts/items/item-list.js';

/**
 * The page of one target: its verdicts, its validators, and the items behind the gauges, for someone who handles an alert. With several
 * targets, the list of them.
 */
export function pendingPage(view: PendingView, links: ExternalLinks, site: Site): string {
  const [target, ...others] = view.targets;
  if (target === undefined || others.length > 0) return targetList(view, site);
  const { endpoints, search, generatedAt } = view;
  const bridge = endpoints.find(({ document }) => document === 'module_state')?.items;
  const required = bridge?.document === 'module_state' ? Number(bridge.powerThreshold) : null;
  const page = {
    view: target,
    endpoints,
    links,
    search,
    required,
    nowMs: Date.parse(generatedAt),
    blockTime: undefined,
  };
  return targetPage(view, target, page, site);
}

function targetList({ generatedAt, targets }: PendingView, site: Site): string {
  const { title, heading } = conditionsOf(targets);
  const body = markup`${tableHtml(targetTable, worstTargetFirst(targets), undefined)}
<p class="note"><code>Accept: application/json</code> returns the items of all targets as JSON.</p>`;
  return layout({ path: '/pending', title, heading, asOf: generatedAt, body }, site);
}

const targetTable: Table<TargetView> = {
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

function worstCondition(view: TargetView): Markup {
  const [worst, ...others] = firingVerdicts(view);
  if (worst === undefined) return isolated(view.unknown.join('; '));
  const more = others.length === 0 ? '' : markup`<small>and ${others.length} more</small>`;
  return markup`${isolated(worst.summary)} <small>${sinceElement(worst.since, worst.ageSeconds)}</small>${more}`;
}

function targetPage(view: PendingView, target: TargetView, page: PageContext, site: Site): string {
  const { title, heading, details, others, notes } = conditionsOf([target], 'target');
  // What the heading is about comes first.
  const first = firingVerdicts(target)[0]?.document;
  const endpoints = view.endpoints.toSorted((a, b) => Number(b.document === first) - Number(a.document === first));
  const body = markup`${details}
${jumpLinks(target, endpoints)}
${others}
${validatorsSection(view, target)}
${section('notes', 'Notes', notes)}
${notJudgedNote(target)}
${unknownMinimumsNote(endpoints)}
${searchSection(page)}
${endpoints.map((endpoint) => endpointHtml(endpoint, page))}
${endedSection(target, page.nowMs)}
<p class="note">Ages in blocks are as of the last success of each endpoint. Click an address or hash to select it. <code>Accept: application/json</code> returns the same data as JSON.</p>`;
  return layout({ path: '/pending', title, heading, asOf: view.generatedAt, body }, site);
}

/** To the parts of a page that is long on a phone. */
function jumpLinks({ validators }: TargetView, endpoints: readonly EndpointView[]): Markup {
  const links = [
    ...(validators === null ? [] : [['validators', 'Validators'] as const]),
    ['search', 'Search'] as const,
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
function notJudgedNote({ notJudgedHere }: TargetView): Markup {
  if (notJudgedHere.length === 0) return markup``;
  return markup`<p class="note">Not judged here: ${notJudgedHere.join(', ')}. This node has not served what they are judged by.</p>`;
}

/** A silent relayer is critical only for what pays for it. */
function unknownMinimumsNote(endpoints: readonly EndpointView[]): Markup {
  const texts = endpoints.flatMap(({ items }) =>
    items?.document === 'module_state' ? [unknownMinimumsText(items.tokensWithoutMinimumFee ?? 0)] : [],
  );
  return texts.join('') === '' ? markup`` : markup`<p class="note">${texts.join('')}.</p>`;
}

function endpointHtml(endpoint: EndpointView, page: PageContext): Markup {
  const { document, items, node } = endpoint;
  return markup`<section id="${document}" aria-labelledby="${document}-title">
<h2 id="${document}-title">${documents[document].title} <span class="quiet">${document}</span></h2>
${freshness(endpoint)}
${items === null ? '' : [backlogHtml(endpoint), itemsHtml(items, { ...page, blockTime: blockTimeOf(node) })]}
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
    return markup`<p class="alert">The node is behind: polled at ${success}, everything is as of ${ofBlock}.</p>`;
  return markup`<p>As of ${success}.</p>`;
}

function itemsHtml(items: Items, page: PageContext): Markup {
  const tableOf = <Row>(table: ItemTable<Row>, list: ItemList<Row>): Markup => itemSection(table, list, page);
  switch (items.document) {
    case 'module_state':
      return markup`${bridgeFacts(items)}
${tableOf(tokenTable, items.tokens)}${itemSection(batchTable, items.batches, page, batchSummary(items))}${tableOf(valsetTable, items.valsets)}${itemSection(claimTable, items.claims, page, claimSummary(items))}${tableOf(transferTable, items.transfers)}`;
    case 'external_contract':
      return contractFacts(items, page);
    case 'rate_limiter_input':
      return markup`${crosschainFacts(items, page)}
${chainSection(items.chains, page)}${tableOf(missedTable, items.missed)}${items.unlisted?.total ? tableOf(unlistedTable, items.unlisted) : ''}${tableOf(pendingTable, items.pending)}`;
  }
}

/** After a restart, durations in hub blocks can be wrong by several times. */
function blockTime(time: BridgeItems['hubBlockTime']): Markup {
  if (time === null) return cells.text(null);
  const notes = {
    configured: 'configured',
    measured: 'measured',
    parameter: 'the parameter, which is often wrong; measured after ten minutes of polls',
  };
  return markup`${Number(time.seconds.toFixed(3))} s <small>${notes[time.source]}</small>`;
}

function bridgeFacts(items: BridgeItems): Markup {
  return factList([
    ['Hub height', cells.digits(items.hubHeight)],
    ['Hub block time', blockTime(items.hubBlockTime)],
    ['Last observed event', cells.text(items.lastObservedNonce)],
    ['External height known to the hub', cells.digits(items.lastObservedExternalHeight)],
    ['Estimated external height', cells.digits(items.projectedExternalHeight)],
    ['Required signed power', markup`${percent(Number(items.powerThreshold), 2)}`],
  ]);
}

function crosschainFacts({ height, totalPending, hidden }: CrosschainItems, page: PageContext): Markup {
  const facts = factList([
    ['Hub height', cells.digits(height)],
    ['Missed and pending cctxs', cells.text(totalPending)],
  ]);
  if (hidden === null || hidden === '0') return facts;
  return markup`${facts}<p class="alert ${alertClass(page, 'CrosschainPendingListTruncated')}">The service omitted ${hidden} pending cctxs from its lists; the oldest may be among them.</p>`;
}

function contractFacts(items: ContractItems, { nowMs, endpoints }: PageContext): Markup {
  const bridge = endpoints.find(({ document }) => document === 'module_state')?.items;
  const claimed = bridge?.document === 'module_state' ? bridge.pendingEvents : null;
  return factList([
    ['Contract', cells.identifier(items.contract)],
    ['External height', cells.digits(items.externalHeight)],
    ['Newest external block', agoElement(items.externalTime, nowMs)],
    [
      'Events that the hub has not observed',
      markup`${cells.text(items.unobservedEvents)}${claimed === null || items.unobservedEvents === null ? '' : ` at that block; claimed by validators (pending events): ${claimed}`}`,
    ],
    ...items.backing.map(({ token, symbol, surplus, wholeSurplus }): [Markup, Markup] => [
      markup`Backing surplus of ${symbol === null ? cells.identifier(token) : isolated(symbol)}`,
      wholeSurplus === null
        ? cells.smallestUnits(surplus)
        : cells.coin({ amount: surplus, wholeAmount: wholeSurplus, symbol }),
    ]),
  ]);
}
