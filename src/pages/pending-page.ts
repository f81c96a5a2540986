import { documents, type Items } from '../documents.js';
import { unknownMinimumsText } from '../problems/sentence.js';
import { count, percent } from '../text/format.js';
import { backlogHtml } from './backlog.js';
import { bridgeLists } from './bridge-tables.js';
import * as cells from './cells.js';
import { crosschainLists } from './crosschain-tables.js';
import type { ExternalLinks } from './external-links.js';
import { isolated, markup, type Markup } from './html.js';
import { anchor, factList, layout, pendingLink, relative, type Site } from './layout.js';
import { alertClass, findUrgency, tableHtml, type ListSection, type PageContext, type Table } from './table.js';
import { agoElement, dataAge, failureHtml, lastSuccess, renderBlockTime, sinceElement } from './time.js';
import { validatorsSection } from './validator-table.js';
import { verdictSections, statusLabel } from './verdict-list.js';
import { findBridge, type EndpointView, type PendingView, type TargetView } from './view.js';
import { firingVerdicts, worstTargetFirst } from '../engine/verdicts.js';
import type { BridgeItems } from '../facts/items/bridge.js';
import type { ContractItems } from '../facts/items/contract-items.js';
import type { CrosschainItems } from '../facts/items/crosschain-items.js';
import { listedRows } from '../facts/items/item-list.js';

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
  return targetPage(view, { view: target, links, search, bridge, chains, nowMs: Date.parse(generatedAt) }, site);
}

function targetList(view: PendingView, site: Site): string {
  const { generatedAt, targets, endpoints } = view;
  const { title, heading } = verdictSections(view);
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

function targetPage(view: PendingView, page: PageContext, site: Site): string {
  const { title, heading, ...verdicts } = verdictSections(view, 'target');
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
  { details, problems, notes }: Omit<ReturnType<typeof verdictSections>, 'title' | 'heading'>,
): Markup {
  const { view: target } = page;
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
${problems}
${notes}
${judgementNotes(target, page.bridge)}
${searchSection(page)}
${others.map(({ html }) => html)}
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

function freshness(endpoint: EndpointView): Markup {
  const { availability, shown, items, node } = endpoint;
  const failure = availability === 'up' || availability === 'initial' ? '' : failureHtml(endpoint);
  const unlisted = shown
    ? 'Not listed here: the documents of all targets together take more memory than this page may use.'
    : 'Its items are shown after a successful poll.';
  const isCurrent = availability === 'up' && items !== null && renderBlockTime(node) === undefined;
  return markup`<div${isCurrent ? '' : markup` class="alert"`}><p>Last success: ${lastSuccess(endpoint)}</p>${failure}${items === null ? markup`<p>${unlisted}</p>` : ''}</div>`;
}

function createLists(items: Items | null, page: PageContext): readonly ListSection[] {
  if (items?.document === 'module_state') return bridgeLists(items, page);
  return items?.document === 'rate_limiter_input' ? crosschainLists(items, page) : [];
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

/* The search: the tables with the rows that it has found. */

/** The text of `?q=`; `undefined` without one. */
export function parseSearch({ q }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof q === 'string' && q.trim() !== '' ? q : undefined;
}

/** The form. It works without JavaScript. */
function searchSection({ search, view }: PageContext, result: Markup = markup``): Markup {
  return markup`<section id="search" aria-label="Search">
<form id="search-form" role="search" method="get" action="${relative('/pending')}">
<input type="hidden" name="target" value="${view.target}">
<label for="search-text">Find by nonce, id, hash, address or name</label>
<input id="search-text" type="search" name="q" maxlength="200" autocomplete="off" spellcheck="false" required value="${search?.query ?? ''}">
<button>Search</button>
</form>
${result}
</section>
`;
}

/** The form with the found rows, and what was searched and what was not. */
function searchResult(page: PageContext, lists: readonly ListSection[]): Markup {
  const { query = '', items = {} } = page.search ?? {};
  const searched = lists.flatMap((section) => (section.searched === undefined ? [] : [section]));
  const found = searched.reduce((sum, { total }) => sum + (total ?? 0), 0);
  const what = searched.map(({ title, searched: number }) => `${title} ${number}`);
  const unreadable = lists.flatMap(({ title, searched: number }) => (number === undefined ? [title] : []));
  const withoutItems = Object.entries(items).flatMap(([document, own]) => (own === null ? [document] : []));
  const not = [...unreadable, ...withoutItems];
  const result = markup`<p role="status">“${isolated(query)}”: <b>${count(found, 'row')}</b> found. <a href="${pendingLink(page.view.target)}">Clear the search</a></p>
<p class="note">Searched by nonces, ids, hashes, addresses and names: ${what.length === 0 ? 'nothing' : what.join(', ')}. Digits alone are a whole nonce or id. Observed events, executed batches and finished cctxs are in no document.</p>
${not.length === 0 ? '' : markup`<p class="alert">Not searched, because there is nothing current or it cannot be read: ${not.join(', ')}.</p>`}
${searched.map(({ total, html }) => (total === 0 ? '' : html))}`;
  return searchSection(page, result);
}
