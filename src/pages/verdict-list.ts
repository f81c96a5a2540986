import { groupBy } from '../facts/grouping.js';
import type { Urgency } from '../problems/problem.js';
import { isNote, statuses, type TargetStatus } from '../engine/verdicts.js';
import { joinTexts } from '../problems/sentence.js';
import { capitalized, durationInWords, percent } from '../text/format.js';
import { isolated, markup, sentenceHtml, type Markup } from './html.js';
import { coin, identifier } from './cells.js';
import { anchor, filterLink, pendingLink, relative, section } from './layout.js';
import { clockTimeElement, distantTimeElement, sinceElement } from './time.js';
import type { VerdictView } from './verdict-view.js';
import type { EndpointView, TargetView, View } from './view.js';

/*
 * The verdicts on both pages: the worst as the heading, the rest below it, each with its action and its consequences.
 */

/**
 * The mark is for the title of a tab. The style puts the same shapes before the words, so that no status depends on
 * color alone.
 */
const statusTexts: Readonly<Record<TargetStatus, { readonly word: string; readonly mark: string }>> = {
  critical: { word: 'critical', mark: '■' },
  warning: { word: 'warning', mark: '▲' },
  unknown: { word: 'cannot be judged', mark: '○' },
  pending: { word: 'building up', mark: '△' },
  info: { word: 'note', mark: '◆' },
  ok: { word: 'no problem', mark: '●' },
};

const urgencyTexts: Readonly<Record<Urgency, string>> = {
  now: 'Act now',
  'in working hours': 'Act in working hours',
  'for the record': 'For the record',
};

/** A page of many targets stays readable. */
const MAX_ENTRIES = 30;

/** The page of a target has no links to itself. */
type VerdictPage = 'status' | 'target';

/** Verdicts of a target with the same alert, severity and state, worst first; they have different subjects. */
interface Group {
  readonly view: TargetView;
  readonly first: VerdictView;
  readonly others: readonly VerdictView[];
  readonly page: VerdictPage;
}

export function statusLabel(status: TargetStatus): Markup {
  return markup`<b class="state ${status}">${statusTexts[status].word}</b>`;
}

/** A group of verdicts, or why a target cannot be judged. */
type Entry = { readonly rank: number } & (
  { readonly group: Group } | { readonly target: string; readonly reasons: readonly string[] }
);

/** The worst entry is the heading, which is green only without any problem, and gray when a target cannot be judged. */
export function verdictSections({ targets, endpoints, generatedAt }: View, page: VerdictPage = 'status') {
  const entries = targets.flatMap((view): Entry[] => {
    const groups = createGroups(view, page, (verdict) => !isConsequence(verdict, view));
    const reasons = view.unknown.filter((reason) => !view.verdicts.some(({ heading }) => heading === reason));
    const unknown = { rank: statuses.indexOf('unknown'), target: view.target, reasons };
    return [
      ...groups.map((group) => ({ rank: rankVerdict(group.first), group })),
      ...(reasons.length === 0 ? [] : [unknown]),
    ];
  });
  const isOfNote = (entry: Entry): boolean => 'group' in entry && isNote(entry.group.first);
  const [worst, ...others] = entries.filter((entry) => !isOfNote(entry)).toSorted((a, b) => a.rank - b.rank);
  return {
    ...(worst === undefined ? withoutCondition(targets, downNodes(endpoints)) : renderHeading(worst)),
    problems: section('problems', 'Other problems', listHtml(others)),
    notes: section(
      'notes',
      'Notes',
      markup`${listHtml(entries.filter(isOfNote))}${downNodes(endpoints).map((text) => markup`<p>${isolated(text)}.</p>\n`)}${rateLimitNotes(endpoints)}${upgradeNotes(endpoints, Date.parse(generatedAt))}`,
    ),
  };
}

/** Of the heading without a problem. */
const MAX_DOWN = 2;

/** "2 of 3 nodes of module_state of demo are down": a problem only when one stays down for long. */
function downNodes(endpoints: readonly EndpointView[]): readonly string[] {
  return endpoints.flatMap(({ target, document, nodes }) => {
    const down = (nodes ?? []).filter(({ trouble }) => trouble?.isDown === true).length;
    const are = down === 1 ? 'is' : 'are';
    return down === 0 ? [] : [`${down} of ${nodes?.length} nodes of ${document} of ${target} ${are} down`];
  });
}

/** The rate limit is a note: no node enforces it, nor does zetaclient from version 27 on. */
function rateLimitNotes(endpoints: readonly EndpointView[]): readonly Markup[] {
  return endpoints.flatMap(({ target, rateLimit }) => {
    if (rateLimit?.isExceeded !== true) return [];
    const { utilizationRatio: ratio, windowBlocks, value, limit } = rateLimit;
    const share = ratio === null ? '' : `, ${percent(ratio)}`;
    return [
      markup`<p>${isolated(target)}: the rate limit is exceeded (${coin(value)} of ${coin(limit)} in ${windowBlocks} blocks${share}): clients before version 27 hold back pending transactions, later ones ignore it.</p>\n`,
    ];
  });
}

/** The planned upgrades, once for each target: its documents can be of one hub. */
function upgradeNotes(endpoints: readonly EndpointView[], nowMs: number): readonly Markup[] {
  const notes = new Map(
    endpoints.flatMap(({ target, node: { upgrade } }): [string, Markup][] => {
      if (upgrade === null) return [];
      const { name, height, at } = upgrade;
      const seconds = at === null ? 0 : (Date.parse(at) - nowMs) / 1000;
      const when =
        at === null ? '' : markup`, in about ${durationInWords(seconds)}, at ${distantTimeElement(at, seconds)}`;
      const text = markup`<p>${isolated(target)}: the upgrade ${isolated(name)} of the hub is planned at height ${height}${when}.</p>\n`;
      return [[`${target} ${height}`, text]];
    }),
  );
  return Array.from(notes.values());
}

/** Pending verdicts come after firing verdicts. */
function rankVerdict({ severity, state }: VerdictView): number {
  return statuses.indexOf(severity) + (state === 'pending' ? statuses.length : 0);
}

function withoutCondition(targets: readonly TargetView[], down: readonly string[]) {
  const [first] = targets;
  if (first === undefined) return plainHeading('unknown', 'Nothing to poll');
  const where = targets.length === 1 ? first.target : `any of ${targets.length} targets`;
  return plainHeading('ok', joinTexts('; ', `No problem on ${where}`, ...down.slice(0, MAX_DOWN)));
}

/** The title of the tab, the heading, and its details: names and amounts, start, next steps and links. */
function renderHeading(entry: Entry) {
  if (!('group' in entry)) {
    return plainHeading('unknown', `${entry.target} cannot be judged: ${entry.reasons.join('; ')}`);
  }
  const { group } = entry;
  const { view, first: verdict } = group;
  const { id, heading, details } = verdict;
  const status = judgeStatus(verdict);
  const word = status === 'pending' ? statusTexts.pending.word : verdict.severity;
  const paragraph = details === '' ? markup`` : markup`<p>${linked(capitalized(details), view, verdict)}</p>\n`;
  const followers = consequences(group);
  return {
    title: `${statusTexts[status].mark} ${word}: ${view.target}: ${heading}`,
    heading: live(markup`${stateLabel(verdict)} ${linked(`${view.target}: ${heading}`, view, verdict)}`),
    details: markup`<div id="${id}" class="verdict ${status}">${group.page === 'target' ? markup`${nextSteps(group)}${folded(id, markup`${paragraph}${followers}`)}` : markup`${paragraph}${nextSteps(group)}${followers}`}</div>`,
  };
}

/** On the page of a target, the tables follow at once. */
function folded(id: string, content: Markup): Markup {
  return content.html === ''
    ? content
    : markup`<details id="${id}/details"><summary>Details</summary>${content}</details>`;
}

function plainHeading(status: TargetStatus, text: string) {
  return {
    title: `${statusTexts[status].mark} ${text}`,
    heading: live(markup`<span class="state ${status}"></span>${sentenceHtml(text)}`),
    details: markup``,
  };
}

function live(content: Markup): Markup {
  return markup`<span aria-live="polite">${content}</span>`;
}

function listHtml(entries: readonly Entry[]): Markup {
  if (entries.length === 0) return markup``;
  const more = entries.length - MAX_ENTRIES;
  const note =
    more > 0
      ? markup`<p class="note">and ${more} more; the <a href="${relative('/pending')}">list of targets</a> has all of them</p>`
      : '';
  return markup`<ul class="verdicts">
${entries.slice(0, MAX_ENTRIES).map(entryHtml)}</ul>${note}`;
}

function entryHtml(entry: Entry): Markup {
  if (!('group' in entry)) {
    const { target, reasons } = entry;
    return markup`<li id="${anchor('verdict', target, 'unknown')}" class="verdict unknown"><p>${statusLabel('unknown')} ${sentenceHtml(`${target}: ${reasons.join('; ')}`)}</p>\n`;
  }
  const { group } = entry;
  const { view, first } = group;
  return markup`<li id="${first.id}" class="verdict ${judgeStatus(first)}"><p>${stateLabel(first)} ${linked(`${view.target}: ${first.sentence}`, view, first)}</p>
${nextSteps(group)}${consequences(group)}
`;
}

/** Whether its cause is shown. What an ended cause hides for some minutes is building up. */
function isConsequence({ hiddenBy }: VerdictView, { verdicts }: TargetView): boolean {
  return hiddenBy !== null && verdicts.some((cause) => cause.alert === hiddenBy && cause.hiddenBy === null);
}

function createGroups(
  view: TargetView,
  page: VerdictPage,
  isListed: (verdict: VerdictView) => boolean,
): readonly Group[] {
  const groups = groupBy(
    view.verdicts.filter(isListed),
    ({ alert, severity, state }) => `${state} ${severity} ${alert}`,
  );
  return Array.from(groups.values()).flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ view, page, first, others }],
  );
}

/**
 * The rest of a group, and below the worst group of an alert, the verdicts that it inhibits: without their ages,
 * because that of the cause says since when.
 */
function consequences(group: Group): Markup {
  const { view, first, page } = group;
  const worst = view.verdicts.find(({ alert, hiddenBy }) => alert === first.alert && hiddenBy === null);
  const hidden = createGroups(view, page, ({ hiddenBy }) => worst === first && hiddenBy === first.alert);
  if (hidden.length === 0) return renderSameKind(group);
  const items = hidden.map(
    (follower) =>
      markup`<li id="${follower.first.id}" class="verdict ${judgeStatus(follower.first)}"><p>${stateLabel(follower.first)} ${linked(follower.first.summary, view, follower.first)}</p>${renderSameKind(follower, ({ summary }) => summary)}`,
  );
  return markup`${renderSameKind(group)}<p class="note">Follows from the above:</p>
<ul class="verdicts consequences">
${items}</ul>
`;
}

/** The other verdicts of a group. Own validators come first; others with the action of the first one are folded. */
function renderSameKind(group: Group, text = ({ sentence }: VerdictView): string => sentence): Markup {
  const { view, first, others } = group;
  const isSame = ({ action }: VerdictView): boolean => action === first.action;
  const itemHtml = (verdict: VerdictView): Markup =>
    markup`<li id="${verdict.id}">${linked(text(verdict), view, verdict)}${isSame(verdict) ? '' : markup`<p class="remedy">${sentenceHtml(verdict.action)}</p>`}`;
  const own = others.filter(isAboutOwn);
  const rest = others.filter((verdict) => !own.includes(verdict));
  const open = [...own, ...rest.filter((verdict) => !isSame(verdict))].map(itemHtml);
  const foldedItems = rest.filter(isSame).map(itemHtml);
  return markup`${open.length === 0 ? '' : markup`<ul>${open}</ul>`}${foldedItems.length === 0 ? '' : markup`<details id="${first.id}/more"><summary>${foldedItems.length} more of this kind</summary><ul>${foldedItems}</ul></details>`}`;
}

/** Items that are named by their kind and id. */
const ITEM = /((?:event|batch|validator set|nonce|index|outbound hash) (?:\d+|\w{30,})(?!\w))/;

/**
 * A sentence whose items are links to their rows. An outbound hash is a link to the explorer of its chain, if one is
 * configured.
 */
function linked(text: string, { target }: TargetView, { explorer }: VerdictView): Markup {
  const parts = text.split(ITEM).map((part, index) => {
    if (index % 2 === 0) return sentenceHtml(part);
    const [kind, id] = [part.slice(0, part.lastIndexOf(' ')), part.slice(part.lastIndexOf(' ') + 1)];
    const url = kind === 'outbound hash' && explorer !== null ? explorer : filterLink(target, id);
    return /^\d+$/.test(id) ? markup`${kind} <a href="${url}">${id}</a>` : markup`${kind} ${identifier(id, url)}`;
  });
  return markup`${parts}`;
}

/** Alerts about an entry of `watch` outside the validator set have its address. */
function isAboutOwn({ subject }: VerdictView): boolean {
  return subject.watched === 'true' || subject.address !== undefined;
}

function judgeStatus({ severity, state }: VerdictView): TargetStatus {
  return state === 'firing' ? severity : 'pending';
}

function stateLabel({ severity, state, firesInSeconds }: VerdictView): Markup {
  if (state === 'firing') return statusLabel(severity);
  return markup`<b class="state pending">${severity} in ${durationInWords(firesInSeconds ?? 0)}</b>`;
}

function nextSteps({ first, view: { target }, page }: Group): Markup {
  const { alert, urgency: urgencyOfFirst, since, firesAt, ageSeconds, action, runbook, dashboard } = first;
  const when = urgencyTexts[urgencyOfFirst];
  const urgency =
    firesAt === null ? when : markup`If it lasts until ${clockTimeElement(firesAt)}, ${when.toLowerCase()}`;
  const links = [
    ...(page === 'target' ? [] : [markup`<a href="${pendingLink(target)}">Pending items of ${isolated(target)}</a>`]),
    markup`<a href="${runbook}" rel="noreferrer">Runbook: ${alert}</a>`,
    ...(dashboard === null ? [] : [markup`<a href="${dashboard}" rel="noreferrer">Dashboard</a>`]),
  ];
  return markup`<p class="remedy"><b>${urgency}:</b> ${sentenceHtml(action)}</p>
<p class="links"><span>${first.startWord}${sinceElement(since, ageSeconds)}</span> ${links.map((link) => markup`${link} `)}</p>`;
}
