import { documents, type Items } from '../documents.js';
import { firingVerdicts, worstTargetFirst } from '../engine/verdicts.js';
import type { BridgeItems } from '../items/bridge-items.js';
import type { ContractItems } from '../items/contract-items.js';
import type { CrosschainItems } from '../items/crosschain-items.js';
import { unknownMinimumsText } from '../problems/sentence.js';
import { percent } from '../text/format.js';
import { coin, digits, identifier, orUnknown, UNKNOWN } from './cells.js';
import type { ExternalLinks } from './external-links.js';
import { isolated, markup, type Markup } from './html.js';
import { anchor, factList, layout, pendingLink, relative, type Site } from './layout.js';
import { bridgeLists, crosschainLists } from './lists.js';
import { numbersHtml, type NumberView } from './numbers.js';
import { findUrgency, listSection, tableHtml, type ListContext, type ListSection, type TableRow } from './table.js';
import { dataAge, failureHtml, lastSuccess, renderBlockTime } from './poll-texts.js';
import { agoElement, sinceElement } from './time.js';
import { validatorsSection } from './validators.js';
import { verdictSections, statusLabel } from './verdict-list.js';
import type { EndpointView, TargetView, View } from './view.js';

/**
 * The page of a target: verdicts, validators, and the items behind the gauges, for handling an alert; with a query, the
 * items that match. With several targets, their list.
 */
export function pendingPage(view: View, query: string, links: ExternalLinks, site: Site): string {
  const { generatedAt, targets, endpoints } = view;
  const [target, ...others] = targets;
  const isOne = target !== undefined && others.length === 0;
  const { title, heading, ...verdicts } = verdictSections(view, isOne ? 'target' : 'status');
  const page = { view: target ?? { verdicts: [] }, links, nowMs: Date.parse(generatedAt) };
  const body = isOne ? targetBody(view, { ...page, view: target }, query, verdicts) : targetList(targets);
  return layout({ path: '/pending', title, heading, asOf: generatedAt, dataAge: dataAge(endpoints), body }, site);
}

function targetList(targets: readonly TargetView[]): Markup {
  return markup`${tableHtml('Targets', 'targets', worstTargetFirst(targets).map(targetRow))}
<p class="note"><code>Accept: application/json</code> returns the items of all targets as JSON.</p>`;
}

function targetRow(view: TargetView): TableRow {
  const { target, status } = view;
  return {
    id: anchor(target),
    cells: [
      { title: 'State', html: statusLabel(status) },
      { title: 'Target', html: markup`<a href="${pendingLink(target)}">${isolated(target)}</a>`, isHeader: true },
      { title: 'Worst problem', html: worstProblem(view), isWide: true },
    ],
  };
}

function worstProblem(view: TargetView): Markup {
  const [worst, ...others] = firingVerdicts(view);
  if (worst === undefined) return isolated(view.unknown.join('; '));
  const more = others.length === 0 ? '' : markup`<small>and ${others.length} more</small>`;
  return markup`${isolated(worst.summary)} <small>${sinceElement(worst.since, worst.ageSeconds)}</small>${more}`;
}

interface PageContext extends ListContext {
  readonly view: TargetView;
}

/** An endpoint with its lists. */
interface Part {
  readonly endpoint: EndpointView;
  readonly lists: readonly ListSection[];
}

/** The action of the verdict, then tables: first those of the firing verdicts, and the validators. */
function targetBody(
  view: View,
  page: PageContext,
  query: string,
  { details, problems, notes }: Omit<ReturnType<typeof verdictSections>, 'title' | 'heading'>,
): Markup {
  const { view: target } = page;
  const parts = view.endpoints.map((endpoint): Part => ({ endpoint, lists: createLists(endpoint.items, page) }));
  const bridge = view.endpoints.map(({ items }) => items).find((items) => items?.document === 'module_state');
  const events = view.endpoints.flatMap(({ backlog }) => backlog ?? []).find(({ list }) => list === 'claims')?.count;
  const blocks = [
    {
      urgency: validatorUrgency(target),
      isFirst: true,
      html: validatorsSection(view, target, bridge?.validatorsNote ?? '', page),
    },
    ...parts.map((part) => {
      const urgency = Math.min(target.verdicts.length, ...part.lists.map((list) => list.urgency));
      return { urgency, isFirst: urgency < target.verdicts.length, html: endpointHtml(part, page, events) };
    }),
  ].toSorted((a, b) => a.urgency - b.urgency);
  const [first, others] = [blocks.filter(({ isFirst }) => isFirst), blocks.filter(({ isFirst }) => !isFirst)];
  return markup`${details}
${jumpLinks(target, parts)}
${query === '' ? '' : filterForm(target, query)}
${first.map(({ html }) => html)}
${problems}
${notes}
${judgementNotes(target, bridge)}
${query === '' ? filterForm(target, query) : ''}
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
  const first = [...(validators === null ? [] : [link('validators', 'Validators')]), link('filter', 'Filter')];
  return markup`<nav class="jump" aria-label="Sections">${[...first, ...links]}</nav>`;
}

/** It works without JavaScript. */
function filterForm({ target }: TargetView, query: string): Markup {
  const clear = query === '' ? '' : markup` <a href="${pendingLink(target)}">Show all</a>`;
  return markup`<form id="filter" role="search" method="get" action="${relative('/pending')}">
<input type="hidden" name="target" value="${target}">
<label for="filter-text">Rows with a nonce, id, hash, address or name</label>
<input id="filter-text" type="search" name="q" maxlength="200" autocomplete="off" spellcheck="false" value="${query}">
<button>Filter</button>${clear}
</form>
`;
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
function endpointHtml({ endpoint, lists }: Part, page: PageContext, events: NumberView['count'] | undefined): Markup {
  const { document, items } = endpoint;
  const isUrgent = ({ urgency }: ListSection): boolean => urgency < page.view.verdicts.length;
  const sorted = lists.toSorted((a, b) => a.urgency - b.urgency);
  const [urgent, others] = [sorted.filter(isUrgent), sorted.filter((list) => !isUrgent(list))];
  return markup`<section id="${document}" aria-labelledby="${document}-title">
<h2 id="${document}-title">${documents[document].title} <span class="quiet">${document}</span></h2>
${freshness(endpoint)}
${urgent.map(({ html }) => html)}${numbersHtml(endpoint)}${items === null ? '' : renderFacts(items, page, events)}${others.map(({ html }) => html)}
</section>
`;
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
  switch (items?.document) {
    case 'module_state':
      return [
        listSection(bridgeLists.tokens, items.tokens, page),
        listSection(bridgeLists.batches, items.batches, page),
        listSection(bridgeLists.valsets, items.valsets, page),
        listSection(bridgeLists.claims, items.claims, page),
        listSection(bridgeLists.transfers, items.transfers, page),
      ];
    case 'rate_limiter_input':
      return [
        listSection(crosschainLists.chains, items.chains, page),
        listSection(crosschainLists.missed, items.missed, page),
        ...(items.unlisted === null || items.unlisted.total === 0
          ? []
          : [listSection(crosschainLists.unlisted, items.unlisted, page)]),
        listSection(crosschainLists.pending, items.pending, page),
      ];
    case 'external_contract':
    case undefined:
      return [];
  }
}

function renderFacts(items: Items, page: PageContext, events: NumberView['count'] | undefined): Markup {
  switch (items.document) {
    case 'module_state':
      return bridgeFacts(items);
    case 'external_contract':
      return contractFacts(items, page, events ?? null);
    case 'rate_limiter_input':
      return crosschainFacts(items);
  }
}

/** With the parameter as block time, after a restart, durations in hub blocks can be wrong by several times. */
function blockTime(time: BridgeItems['hubBlockTime']): Markup {
  if (time === null) return UNKNOWN;
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
    ['Last observed event', orUnknown(items.lastObservedNonce)],
    ['External height known to the hub', digits(items.lastObservedExternalHeight)],
    ['Estimated external height', digits(items.projectedExternalHeight)],
    ['Required signed power', markup`${percent(Number(items.powerThreshold), 2)}`],
  ]);
}

function crosschainFacts({ height, hidden }: CrosschainItems): Markup {
  const note = markup`<p class="alert">The node omitted ${hidden ?? ''} pending cctxs from its lists; the oldest may be among them.</p>`;
  return markup`${factList([['Hub height', digits(height)]])}${hidden === null || hidden === '0' ? '' : note}`;
}

function contractFacts(items: ContractItems, { nowMs }: PageContext, claimed: NumberView['count']): Markup {
  const { unobservedEvents } = items;
  const beside =
    claimed === null || unobservedEvents === null
      ? ''
      : ` at that block; claimed by validators (pending events): ${claimed}`;
  return factList([
    ['Contract', identifier(items.contract)],
    ['External height', digits(items.externalHeight)],
    ['Newest external block', agoElement(items.externalTime, nowMs)],
    ['Events that the hub has not observed', markup`${orUnknown(unobservedEvents)}${beside}`],
    ...items.backing.map(({ token, ...surplus }): [Markup, Markup] => [
      markup`Backing surplus of ${surplus.symbol === null ? identifier(token) : isolated(surplus.symbol)}`,
      coin(surplus),
    ]),
  ]);
}
