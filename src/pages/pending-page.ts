import { documents, type Items } from '../documents.js';
import { firingProblems, formatHeading, worstTargetFirst } from '../engine/target-problems.js';
import type { BridgeItems } from '../items/bridge-items.js';
import { unknownMinimumsText } from '../problems/sentence.js';
import { identifier, orUnknown, UNKNOWN } from './cells.js';
import type { ExternalLinks } from './external-links.js';
import { isolated, markup, type Markup, agoElement } from './html.js';
import { anchor, factList, layout, pendingLink, relative, type Site } from './layout.js';
import { bridgeLists, crosschainLists } from './lists.js';
import { numbersHtml, failureHtml, lastSuccess, renderBlockTime } from './endpoint-html.js';
import { findUrgency, listSection, type ListContext, type Section, validatorsSection } from './table.js';
import { problemSections, statusLabel } from './problem-list.js';
import type { EndpointView, TargetView, View } from './view.js';

/**
 * The page of a target: problems, validators, and the items behind the gauges, for handling an alert; with a query, the
 * items that match. With several targets, their list.
 */
export function pendingPage(view: View, query: string, links: ExternalLinks, site: Site): string {
  const { generatedAt, targets } = view;
  const [target, ...others] = targets;
  const { title, heading, ...problems } = problemSections(view);
  const context = { links, nowMs: Date.parse(generatedAt) };
  const body =
    target !== undefined && others.length === 0
      ? targetBody(view.endpoints, { ...context, view: target }, query, problems)
      : targetList(targets);
  return layout({ path: '/pending', title, heading, asOf: generatedAt, body }, site);
}

/** The targets with their worst problem. */
function targetList(targets: readonly TargetView[]): Markup {
  const items = worstTargetFirst(targets).map((view) => {
    const [worst] = firingProblems(view);
    const text = worst === undefined ? view.unknown.join('; ') : formatHeading(worst);
    return markup`<li id="${anchor(view.target)}">${statusLabel(view.status)} <a href="${pendingLink(view.target)}">${isolated(view.target)}</a> ${isolated(text)}\n`;
  });
  return markup`<ul class="plain">
${items}</ul>
<p class="note"><code>Accept: application/json</code> returns the items of all targets as JSON.</p>`;
}

interface PageContext extends ListContext {
  readonly view: TargetView;
}

/** The worst problem, then tables: first those of the firing problems, and the validators. */
function targetBody(
  endpoints: readonly EndpointView[],
  page: PageContext,
  query: string,
  { details, problems, notes }: Omit<ReturnType<typeof problemSections>, 'title' | 'heading'>,
): Markup {
  const { view: target } = page;
  const bridge = endpoints.map(({ items }) => items).find((items) => items?.document === 'module_state');
  const sections = [
    { urgency: validatorUrgency(target), html: validatorsSection(target, bridge?.validatorsNote ?? '', page) },
    ...endpoints.map((endpoint) => endpointSection(endpoint, page)),
  ].toSorted((a, b) => a.urgency - b.urgency);
  const isFirst = ({ urgency }: Section): boolean => urgency < target.problems.length;
  return markup`${details}
${filterForm(target, query)}
${sections.filter(isFirst).map(({ html }) => html)}
${problems}
${notes}
${judgementNotes(target, bridge)}
${sections.filter((section) => !isFirst(section)).map(({ html }) => html)}
<p class="note">Ages in blocks are as of the last success of each endpoint. Click an address or hash to select it. <code>Accept: application/json</code> returns the same data as JSON.</p>`;
}

/** The position of the first firing problem about validators. */
function validatorUrgency(target: TargetView): number {
  return findUrgency(
    target,
    ({ validators, subject: { orchestrator, address } }) =>
      validators.length > 0 || orchestrator !== undefined || address !== undefined,
  );
}

/** A form, so that filtering works without JavaScript. */
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
      : `Not judged here: ${notJudgedHere.join(', ')}. The node has never served the data for these problems`,
    unknownMinimumsText(bridge?.tokensWithoutMinimumFee ?? 0),
  ];
  return markup`${texts.filter((text) => text !== '').map((text) => markup`<p class="note">${text}.</p>\n`)}`;
}

/** The lists of the firing problems come first. */
function endpointSection(endpoint: EndpointView, page: PageContext): Section {
  const { document, items } = endpoint;
  const lists = createLists(items, page).toSorted((a, b) => a.urgency - b.urgency);
  const html = markup`<section id="${document}" aria-labelledby="${document}-title">
<h2 id="${document}-title">${documents[document].title} <span class="quiet">${document}</span></h2>
${freshness(endpoint)}
${numbersHtml(endpoint.target, endpoint.backlog)}${lists.map((list) => list.html)}${items === null ? '' : renderFacts(items, page)}
</section>
`;
  return { urgency: lists[0]?.urgency ?? page.view.problems.length, html };
}

function freshness(endpoint: EndpointView): Markup {
  const { availability, items, node } = endpoint;
  const failure = availability === 'up' || availability === 'initial' ? '' : failureHtml(endpoint);
  const isCurrent = availability === 'up' && items !== null && renderBlockTime(node) === undefined;
  return markup`<div${isCurrent ? '' : markup` class="alert"`}><p>Last success: ${lastSuccess(endpoint)}</p>${failure}${items === null ? markup`<p>Its items are shown after a successful poll.</p>` : ''}</div>`;
}

function createLists(items: Items | null, page: PageContext): readonly Section[] {
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
        ...(items.unlisted === null ? [] : [listSection(crosschainLists.unlisted, items.unlisted, page)]),
        listSection(crosschainLists.pending, items.pending, page),
      ];
    case 'external_contract':
    case undefined:
      return [];
  }
}

function renderFacts(items: Items, { nowMs }: PageContext): Markup {
  switch (items.document) {
    case 'module_state':
      return factList([
        ['Hub height', orUnknown(items.hubHeight)],
        ['Hub block time', blockTime(items.hubBlockTime)],
        ['Last observed event', orUnknown(items.lastObservedNonce)],
      ]);
    case 'external_contract':
      return factList([
        ['Contract', identifier(items.contract)],
        ['External height', orUnknown(items.externalHeight)],
        ['Newest external block', agoElement(items.externalTime, nowMs)],
        ['Events that the hub has not observed', orUnknown(items.unobservedEvents)],
      ]);
    case 'rate_limiter_input':
      return factList([['Hub height', orUnknown(items.height)]]);
  }
}

/** With its source: until it is measured over ten minutes, the parameter can be wrong by several times. */
function blockTime(time: BridgeItems['hubBlockTime']): Markup {
  if (time === null) return UNKNOWN;
  return markup`${Number(time.seconds.toFixed(3))} s <small>${time.source}</small>`;
}
