import { documents, type Items } from '../documents.js';
import { unknownMinimumsText } from '../problems/sentence.js';
import { percent } from '../text/format.js';
import { backlogHtml, rateLimitNotes, upgradeNotes } from './backlog.js';
import {
  batchedTransferTable,
  batchSummary,
  batchTable,
  claimSummary,
  claimTable,
  registrationTable,
  tokenTable,
  transferSummary,
  transferTable,
  valsetTable,
} from './bridge-tables.js';
import * as cells from './cells.js';
import { chainSection, missedTable, pendingTable, unlistedTable } from './crosschain-tables.js';
import type { ExternalLinks } from './external-links.js';
import { isolated, markup, type Markup } from './html.js';
import { anchor, factList, layout, pendingLink, section, type Site } from './layout.js';
import { endedSection } from './ended.js';
import { searchResult, searchSection } from './search-form.js';
import {
  alertClass,
  itemSection,
  tableHtml,
  findUrgency,
  type ItemTable,
  type ListSection,
  type PageContext,
  type Table,
} from './table.js';
import { ago, agoElement, renderBlockTime, dataAge, sinceElement, timeElement } from './time.js';
import { validatorsSection } from './validator-table.js';
import { verdictSections, statusLabel } from './verdict-list.js';
import { findBridge, type EndpointView, type PendingView, type TargetView } from './view.js';
import { firingVerdicts, worstTargetFirst } from '../engine/verdicts.js';
import type { BridgeItems } from '../facts/items/bridge.js';
import type { ContractItems } from '../facts/items/contract-items.js';
import type { CrosschainItems } from '../facts/items/crosschain-items.js';
import { type ItemList, listedRows } from '../facts/items/item-list.js';

/**
 * The page of a target: verdicts, validators, and the items behind the gauges, for handling an alert. With several
 * targets, their list.
 */
export function pendingPage(view: PendingView, links: ExternalLinks, site: Site): string {
  const [target, ...others] = view.targets;
  if (target === undefined || others.length > 0) return targetList(view, site);
  const { endpoints, search, generatedAt } = view;
  const bridge = findBridge(endpoints, target.target)?.items;
  const chains = endpoints.flatMap(({ items }) =>
    items?.document === 'rate_limiter_input' ? listedRows(items.chains) : [],
  );
  return targetPage(
    view,
    target,
    { view: target, links, search, bridge, chains, nowMs: Date.parse(generatedAt) },
    site,
  );
}

function targetList({ generatedAt, targets, endpoints }: PendingView, site: Site): string {
  const { title, heading } = verdictSections(targets);
  const body = markup`${tableHtml(targetTable, worstTargetFirst(targets), undefined)}
<p class="note"><code>Accept: application/json</code> returns the items of all targets as JSON.</p>`;
  return layout({ path: '/pending', title, heading, asOf: generatedAt, dataAge: dataAge(endpoints), body }, site);
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
    { title: 'Worst problem', cell: worstProblem, type: 'wide' },
  ],
  rowId: ({ target }) => anchor(target),
};

function worstProblem(view: TargetView): Markup {
  const [worst, ...others] = firingVerdicts(view);
  if (worst === undefined) return isolated(view.unknown.join('; '));
  const more = others.length === 0 ? '' : markup`<small>and ${others.length} more</small>`;
  return markup`${isolated(worst.summary)} <small>${sinceElement(worst.since, worst.ageSeconds)}</small>${more}`;
}

function targetPage(view: PendingView, target: TargetView, page: PageContext, site: Site): string {
  const { title, heading, ...verdicts } = verdictSections([target], 'target');
  const body =
    page.search === null
      ? sectionsOfTarget(view, page, verdicts)
      : searchResult(
          page,
          Object.values(page.search.items).flatMap((items) => createLists(items, page)),
        );
  const age = dataAge(view.endpoints);
  return layout({ path: '/pending', title, heading, asOf: view.generatedAt, dataAge: age, body }, site);
}

/** An endpoint with its lists. */
interface Part {
  readonly endpoint: EndpointView;
  readonly lists: readonly ListSection[];
}

/** The action of the verdict, then tables: first those of the firing verdicts, and the validators. */
function sectionsOfTarget(
  view: PendingView,
  page: PageContext,
  { details, otherVerdicts, notes }: Omit<ReturnType<typeof verdictSections>, 'title' | 'heading'>,
): Markup {
  const { view: target, nowMs } = page;
  const parts = view.endpoints.map((endpoint): Part => ({ endpoint, lists: createLists(endpoint.items, page) }));
  const blocks = [
    { urgency: validatorUrgency(target), isFirst: true, html: validatorsSection(view, target) },
    ...parts.map((part) => {
      const urgency = Math.min(target.verdicts.length, ...part.lists.map((list) => list.urgency));
      return { urgency, isFirst: urgency < target.verdicts.length, html: endpointHtml(part, page) };
    }),
  ].toSorted((a, b) => a.urgency - b.urgency);
  const [first, others] = [blocks.filter(({ isFirst }) => isFirst), blocks.filter(({ isFirst }) => !isFirst)];
  return markup`${details}
${jumpLinks(target, parts)}
${first.map(({ html }) => html)}
${section('problems', 'Other problems', otherVerdicts)}
${section('notes', 'Notes', markup`${notes}${rateLimitNotes(view.endpoints)}${upgradeNotes(view.endpoints, nowMs)}`)}
${judgementNotes(target, page.bridge)}
${searchSection(page)}
${others.map(({ html }) => html)}
${endedSection(target, nowMs)}
<p class="note">Ages in blocks are as of the last success of each endpoint. Click an address or hash to select it. <code>Accept: application/json</code> returns the same data as JSON.</p>`;
}

/** The position of the first firing verdict about validators. */
function validatorUrgency(target: TargetView): number {
  return findUrgency(
    target,
    ({ validators, subject: { orchestrator, address } }) =>
      validators.length > 0 || orchestrator !== undefined || address !== undefined,
  );
}

/** Links to the parts of the page, which is long on a phone. Lists without rows have none. */
function jumpLinks({ validators }: TargetView, parts: readonly Part[]): Markup {
  const link = (id: string, title: string, total = ''): Markup =>
    markup`<a href="#${id}">${title}${total === '' ? '' : ` ${total}`}</a> `;
  const links = parts.flatMap(({ endpoint: { document }, lists }) => [
    link(document, documents[document].title),
    ...lists.flatMap(({ name, title, total }) => (total === 0 ? [] : [link(name, title, `${total ?? 'unknown'}`)])),
  ]);
  const first = [...(validators === null ? [] : [link('validators', 'Validators')]), link('search', 'Search')];
  return markup`<nav class="jump" aria-label="Sections">${[...first, ...links]}</nav>`;
}

/** Problems that are not judged, and tokens whose minimum fee is unknown. */
function judgementNotes({ notJudgedHere }: TargetView, bridge: BridgeItems | undefined): Markup {
  const texts = [
    notJudgedHere.length === 0
      ? ''
      : `Not judged here: ${notJudgedHere.join(', ')}. This node has not served what they are judged by`,
    unknownMinimumsText(bridge?.tokensWithoutMinimumFee ?? 0),
  ];
  return markup`${texts.filter((text) => text !== '').map((text) => markup`<p class="note">${text}.</p>\n`)}`;
}

/** The lists of the firing verdicts come before the numbers. */
function endpointHtml({ endpoint, lists }: Part, page: PageContext): Markup {
  const { document, items } = endpoint;
  const sorted = lists.toSorted((a, b) => a.urgency - b.urgency);
  const [urgent, others] = [sorted.filter(isUrgent), sorted.filter((list) => !isUrgent(list))];
  const facts = items === null ? '' : markup`${backlogHtml(endpoint)}${renderFacts(items, page)}`;
  return markup`<section id="${document}" aria-labelledby="${document}-title">
<h2 id="${document}-title">${documents[document].title} <span class="quiet">${document}</span></h2>
${freshness(endpoint)}
${urgent.map(({ html }) => html)}${facts}${others.map(({ html }) => html)}
</section>
`;

  function isUrgent({ urgency }: ListSection): boolean {
    return urgency < page.view.verdicts.length;
  }
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
  const newestBlockTime = renderBlockTime(node);
  if (newestBlockTime !== undefined)
    return markup`<p class="alert">The node is behind: polled at ${success}, everything is as of ${newestBlockTime}.</p>`;
  return markup`<p>As of ${success}.</p>`;
}

function createLists(items: Items | null, page: PageContext): readonly ListSection[] {
  const createList = <Row>(table: ItemTable<Row>, list: ItemList<Row>, summary?: Markup): ListSection =>
    // The summaries are of whole lists.
    itemSection(table, list, page, page.search === null ? summary : undefined);
  switch (items?.document) {
    case 'module_state':
      return [
        createList(tokenTable, items.tokens),
        createList(batchTable, items.batches, batchSummary(items)),
        createList(valsetTable, items.valsets),
        createList(claimTable, items.claims, claimSummary(items)),
        createList(transferTable, items.transfers, transferSummary(items)),
        ...(items.transfersInBatches === null ? [] : [createList(batchedTransferTable, items.transfersInBatches)]),
        ...(items.registrations === null ? [] : [createList(registrationTable, items.registrations)]),
      ];
    case 'rate_limiter_input':
      return [
        chainSection(items.chains, page),
        createList(missedTable, items.missed),
        ...(items.unlisted && (page.search || items.unlisted.total) ? [createList(unlistedTable, items.unlisted)] : []),
        createList(pendingTable, items.pending),
      ];
    default:
      return [];
  }
}

function renderFacts(items: Items, page: PageContext): Markup {
  switch (items.document) {
    case 'module_state':
      return bridgeFacts(items);
    case 'external_contract':
      return contractFacts(items, page);
    case 'rate_limiter_input':
      return crosschainFacts(items, page);
  }
}

/** With the parameter as block time, after a restart, durations in hub blocks can be wrong by several times. */
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
  const facts = [['Hub height', cells.digits(height)] as const];
  if (hidden === null || hidden === '0') return factList(facts);
  return markup`${factList([...facts, ['Missed and pending cctxs, with the omitted ones', cells.text(totalPending)]])}<p class="alert ${alertClass(page, 'CrosschainPendingListTruncated')}">The service omitted ${hidden} pending cctxs from its lists; the oldest may be among them.</p>`;
}

function contractFacts(items: ContractItems, { nowMs, bridge }: PageContext): Markup {
  const claimed = bridge?.pendingEvents ?? null;
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
