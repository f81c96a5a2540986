import { groupBy } from '../facts/grouping.js';
import type { Urgency } from '../problems/problem.js';
import { formatHeading, formatSentence, isNote, statuses, type TargetStatus } from '../engine/target-problems.js';
import { joinTexts } from '../problems/sentence.js';
import { capitalized, durationInWords, utcMinute } from '../text/format.js';
import { isolated, markup, sentenceHtml, type Markup, clockTimeElement, sinceElement } from './html.js';
import { identifier } from './cells.js';
import { anchor, filterLink, pendingLink, relative, section } from './layout.js';
import type { EndpointView, TargetView, ProblemView, View } from './view.js';

/*
 * The problems on both pages: the worst as the heading, the rest below it, each with its action and its consequences.
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

/** Limits each list, so that the page of many targets stays readable. */
const MAX_ENTRIES = 30;

/** Problems of a target with the same alert, severity and state, worst first; they have different subjects. */
interface Group {
  readonly view: TargetView;
  readonly first: ProblemView;
  readonly others: readonly ProblemView[];
}

export function statusLabel(status: TargetStatus): Markup {
  return markup`<b class="state ${status}">${statusTexts[status].word}</b>`;
}

/** A group of problems, or why a target cannot be judged. */
type Entry = { readonly rank: number } & (
  { readonly group: Group } | { readonly target: string; readonly reasons: readonly string[] }
);

/** The worst entry is the heading, which is green only without any problem, and gray when a target cannot be judged. */
export function problemSections({ targets, endpoints }: View) {
  const entries = targets.flatMap((view): Entry[] => {
    const groups = createGroups(view, (problem) => !isConsequence(problem, view));
    const reasons = view.unknown.filter((reason) => !view.problems.some((each) => formatHeading(each) === reason));
    const unknown = { rank: statuses.indexOf('unknown'), target: view.target, reasons };
    return [
      ...groups.map((group) => ({ rank: rankProblem(group.first), group })),
      ...(reasons.length === 0 ? [] : [unknown]),
    ];
  });
  const isOfNote = (entry: Entry): boolean => 'group' in entry && isNote(entry.group.first);
  const [worst, ...others] = entries.filter((entry) => !isOfNote(entry)).toSorted((a, b) => a.rank - b.rank);
  return {
    ...(worst === undefined ? withoutCondition(targets) : renderHeading(worst)),
    problems: section('problems', 'Other problems', listHtml(others)),
    notes: section('notes', 'Notes', markup`${listHtml(entries.filter(isOfNote))}${upgradeNotes(endpoints)}`),
  };
}

/** The planned upgrades, once for each target, because both documents can be of the same hub. */
function upgradeNotes(endpoints: readonly EndpointView[]): readonly Markup[] {
  const notes = endpoints.flatMap(({ target, node: { upgrade } }) => {
    if (upgrade === null) return [];
    const when = upgrade.at === null ? '' : `, about ${utcMinute(upgrade.at)}`;
    return [`${target}: the upgrade ${upgrade.name} of the hub is planned at height ${upgrade.height}${when}.`];
  });
  return Array.from(new Set(notes), (note) => markup`<p>${isolated(note)}</p>\n`);
}

/** Pending problems come after firing problems. */
function rankProblem({ severity, state }: ProblemView): number {
  return statuses.indexOf(severity) + (state === 'pending' ? statuses.length : 0);
}

function withoutCondition(targets: readonly TargetView[]) {
  const [first] = targets;
  if (first === undefined) return plainHeading('unknown', 'Nothing to poll');
  return plainHeading(
    'ok',
    `No problem on ${targets.length === 1 ? first.target : `any of ${targets.length} targets`}`,
  );
}

/** The title of the tab, the heading, and its details: names and amounts, start, next steps and links. */
function renderHeading(entry: Entry) {
  if (!('group' in entry)) {
    return plainHeading('unknown', `${entry.target} cannot be judged: ${entry.reasons.join('; ')}`);
  }
  const { group } = entry;
  const { view, first: problem } = group;
  const { id, details } = problem;
  const heading = formatHeading(problem);
  const status = judgeStatus(problem);
  const word = status === 'pending' ? statusTexts.pending.word : problem.severity;
  const paragraph = details === '' ? '' : markup`<p>${linked(capitalized(details), view)}</p>\n`;
  return {
    title: `${statusTexts[status].mark} ${word}: ${view.target}: ${heading}`,
    heading: live(markup`${stateLabel(problem)} ${targetLink(view)}: ${linked(heading, view)}`),
    details: markup`<div id="${id}" class="problem ${status}">${paragraph}${nextSteps(group)}${moreHtml(group)}</div>`,
  };
}

/** A link to the rows behind the problems of a target. */
function targetLink({ target }: TargetView): Markup {
  return markup`<a href="${pendingLink(target)}">${isolated(target)}</a>`;
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
  return markup`<ul class="plain">
${entries.slice(0, MAX_ENTRIES).map(entryHtml)}</ul>${note}`;
}

function entryHtml(entry: Entry): Markup {
  if (!('group' in entry)) {
    const { target, reasons } = entry;
    return markup`<li id="${anchor('problem', target, 'unknown')}" class="problem unknown"><p>${statusLabel('unknown')} ${sentenceHtml(`${target}: ${reasons.join('; ')}`)}</p>\n`;
  }
  const { group } = entry;
  const { view, first } = group;
  return markup`<li id="${first.id}" class="problem ${judgeStatus(first)}"><p>${stateLabel(first)} ${targetLink(view)}: ${linked(formatSentence(first), view)}</p>
${nextSteps(group)}${moreHtml(group)}
`;
}

/** Whether the cause of a hidden problem is listed. For minutes after its end, the problem is listed as building up. */
function isConsequence({ hiddenBy }: ProblemView, { problems }: TargetView): boolean {
  return hiddenBy !== null && problems.some((cause) => cause.alert === hiddenBy && cause.hiddenBy === null);
}

function createGroups(view: TargetView, isListed: (problem: ProblemView) => boolean): readonly Group[] {
  const groups = groupBy(
    view.problems.filter(isListed),
    ({ alert, severity, state }) => `${state} ${severity} ${alert}`,
  );
  return Array.from(groups.values()).flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ view, first, others }],
  );
}

/**
 * The other problems of a group and, for the worst group of an alert, the problems that the alert inhibits. These have
 * no age, because the age of their cause tells since when.
 */
function moreHtml({ view, first, others }: Group): Markup {
  const worst = view.problems.find(({ alert, hiddenBy }) => alert === first.alert && hiddenBy === null);
  const hidden = view.problems.filter(({ hiddenBy }) => worst === first && hiddenBy === first.alert);
  if (others.length + hidden.length === 0) return markup``;
  const itemHtml = (problem: ProblemView, text: string): Markup => {
    const isNew = problem.hiddenBy === null && problem.action !== first.action;
    const action = isNew ? markup`<p class="remedy">${sentenceHtml(problem.action)}</p>` : '';
    return markup`<li id="${problem.id}">${stateLabel(problem)} ${linked(text, view)}${action}\n`;
  };
  const items = [
    ...others.map((problem) => itemHtml(problem, formatSentence(problem))),
    ...hidden.map((problem) => itemHtml(problem, problem.summary)),
  ];
  const title = joinTexts(
    ', ',
    others.length === 0 ? '' : `${others.length} more of this kind`,
    hidden.length === 0 ? '' : `${hidden.length} ${hidden.length === 1 ? 'follows' : 'follow'} from it`,
  );
  return markup`<details id="${first.id}/more"><summary>${title}</summary><ul>
${items}</ul></details>`;
}

/** Items that are named by their kind and id. */
const ITEM = /((?:event|batch|validator set|nonce|index|outbound hash) (?:\d+|\w{30,})(?!\w))/;

/** A sentence whose items are links to their rows. */
function linked(text: string, { target }: TargetView): Markup {
  const parts = text.split(ITEM).map((part, index) => {
    if (index % 2 === 0) return sentenceHtml(part);
    const [kind, id] = [part.slice(0, part.lastIndexOf(' ')), part.slice(part.lastIndexOf(' ') + 1)];
    const url = filterLink(target, id);
    return /^\d+$/.test(id) ? markup`${kind} <a href="${url}">${id}</a>` : markup`${kind} ${identifier(id, url)}`;
  });
  return markup`${parts}`;
}

function judgeStatus({ severity, state }: ProblemView): TargetStatus {
  return state === 'firing' ? severity : 'pending';
}

function stateLabel({ severity, state, firesInSeconds }: ProblemView): Markup {
  if (state === 'firing') return statusLabel(severity);
  return markup`<b class="state pending">${severity} in ${durationInWords(firesInSeconds ?? 0)}</b>`;
}

function nextSteps({ first }: Group): Markup {
  const { alert, since, firesAt, ageSeconds, action, runbook, dashboard } = first;
  const when = urgencyTexts[first.urgency];
  const urgency =
    firesAt === null ? when : markup`If it lasts until ${clockTimeElement(firesAt)}, ${when.toLowerCase()}`;
  const link = dashboard === null ? '' : markup` <a href="${dashboard}" rel="noreferrer">Dashboard</a>`;
  return markup`<p class="remedy"><b>${urgency}:</b> ${sentenceHtml(action)}</p>
<p class="links"><span>${startWord(first)}${sinceElement(since, ageSeconds)}</span> <a href="${runbook}" rel="noreferrer">Runbook: ${alert}</a>${link}</p>`;
}

/** The word before the start: when a problem went over its limit, was first seen (it may be older), or began. */
function startWord({ ageKind, mayBeOlder }: ProblemView): string {
  if (ageKind === 'over') return 'over its limit ';
  return mayBeOlder ? 'seen ' : '';
}
