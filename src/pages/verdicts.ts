import { groupBy } from '../facts/grouping.js';
import type { Severity } from '../problems/problem.js';
import { isNote } from '../poll/verdicts.js';
import { duration } from '../text/format.js';
import { isolated, markup, sentenceHtml, type Markup } from './html.js';
import { anchor, pendingLink, relative } from './layout.js';
import { statuses, worstTargetFirst, type TargetStatus, type TargetView, type VerdictView } from './target-view.js';
import { clockTimeElement, sinceElement } from './time.js';

/*
 * The verdicts on both pages: the worst one as the heading, the others below it, with what to do first and what follows from them.
 */

/** The mark is for the title of a tab: the style puts the same shapes before the words, so that no status depends on color alone. */
const statusTexts: Readonly<Record<TargetStatus, { readonly word: string; readonly mark: string }>> = {
  critical: { word: 'critical', mark: '■' },
  warning: { word: 'warning', mark: '▲' },
  unknown: { word: 'cannot be judged', mark: '○' },
  pending: { word: 'building up', mark: '△' },
  info: { word: 'note', mark: '◆' },
  ok: { word: 'no problem', mark: '●' },
};

/** When to act on an alert of a severity. */
const urgencies: Readonly<Record<Severity, string>> = {
  critical: 'Act now',
  warning: 'Act in working hours',
  info: 'For the record',
};

/** A page of many targets stays readable. */
const MAX_ENTRIES = 30;

/** The page of a target needs no links to it. */
type VerdictPage = 'status' | 'target';

/** Verdicts of the same alert, severity and state of a target, one for each subject, the worst first. */
interface Group {
  readonly view: TargetView;
  readonly first: VerdictView;
  readonly others: readonly VerdictView[];
  readonly page: VerdictPage;
}

export function statusLabel(status: TargetStatus): Markup {
  return markup`<b class="state ${status}">${statusTexts[status].word}</b>`;
}

export interface Headline {
  /** Title of the tab. */
  readonly title: string;
  readonly heading: Markup;
  /** What the heading has no room for: names and amounts, since when, what to do next, and where to read on. */
  readonly details: Markup;
  /** What it is about, which `verdictList` leaves out: a verdict with others of its kind, or the reason why a target cannot be judged. */
  readonly subject: VerdictView | TargetView | undefined;
}

/** The worst condition of the targets: green only when nothing is wrong, gray when it cannot be judged. */
export function headline(targets: readonly TargetView[], page: VerdictPage = 'status'): Headline {
  const [worst] = worstTargetFirst(targets);
  if (worst === undefined) return plainHeadline('unknown', 'Nothing to poll');
  const [group] = groupsOf(worst, page, (verdict) => !isNote(verdict));
  if (group?.first.state === 'firing') return verdictHeadline(group);
  const [reason, ...otherReasons] = worst.unknown;
  if (reason !== undefined) {
    const subject = otherReasons.length === 0 ? worst : undefined;
    return plainHeadline('unknown', `${worst.target} cannot be judged: ${reason}`, subject);
  }
  if (group !== undefined) return verdictHeadline(group);
  return plainHeadline(
    'ok',
    `No problem on ${targets.length === 1 ? worst.target : `any of ${targets.length} targets`}`,
  );
}

function verdictHeadline(group: Group): Headline {
  const { view, first: verdict } = group;
  const { fact, details } = verdict.sentence;
  const status = statusOf(verdict);
  const word = status === 'pending' ? statusTexts.pending.word : verdict.severity;
  const paragraph = details === '' ? '' : markup`<p>${sentenceHtml(capitalized(details))}</p>\n`;
  return {
    title: `${statusTexts[status].mark} ${word}: ${view.target}: ${fact}`,
    heading: live(markup`${stateLabel(verdict)} ${sentenceHtml(`${view.target}: ${fact}`)}`),
    details: markup`<div class="verdict ${status}">${paragraph}${nextSteps(group)}${consequences(group)}</div>`,
    subject: verdict,
  };
}

function plainHeadline(status: TargetStatus, text: string, subject?: TargetView): Headline {
  return {
    title: `${statusTexts[status].mark} ${text}`,
    heading: live(markup`<span class="state ${status}"></span>${sentenceHtml(text)}`),
    details: markup``,
    subject,
  };
}

function live(content: Markup): Markup {
  return markup`<span aria-live="polite">${content}</span>`;
}

/** All problems, with what follows from them, and the reasons why targets cannot be judged, except what the heading says. Empty if there are none. */
export function verdictList(
  targets: readonly TargetView[],
  { subject }: Headline,
  page: VerdictPage = 'status',
): Markup {
  return listHtml(
    targets.flatMap((view): Entry[] => {
      const groups = groupsOf(view, page, (verdict) => !isNote(verdict)).filter(({ first }) => first !== subject);
      const reasons = view === subject ? [] : unsaidReasons(view);
      return [...groups.map(groupEntry), ...(reasons.length === 0 ? [] : [unknownEntry(view, reasons)])];
    }),
  );
}

/** What is only for the record. Empty if there is nothing. */
export function noteList(targets: readonly TargetView[], page: VerdictPage = 'status'): Markup {
  return listHtml(targets.flatMap((view) => groupsOf(view, page, isNote).map(groupEntry)));
}

interface Entry {
  readonly rank: number;
  readonly render: () => Markup;
}

function groupEntry(group: Group): Entry {
  const { view, first } = group;
  // What may become an alert comes after all that fires.
  const rank = statuses.indexOf(first.severity) + (first.state === 'pending' ? statuses.length : 0);
  return {
    rank,
    render:
      () => markup`<li id="${entryId(group)}" class="verdict ${statusOf(first)}"><p>${stateLabel(first)} ${sentenceHtml(`${view.target}: ${first.summary}`)}</p>
${nextSteps(group)}${consequences(group)}
`,
  };
}

function unknownEntry({ target }: TargetView, reasons: readonly string[]): Entry {
  return {
    rank: statuses.indexOf('unknown'),
    render:
      () => markup`<li id="${anchor('verdict', target, 'unknown')}" class="verdict unknown"><p>${statusLabel('unknown')} ${sentenceHtml(`${target}: ${reasons.join('; ')}`)}</p>
`,
  };
}

/** Why a target cannot be judged, unless a verdict says it. */
function unsaidReasons({ unknown, verdicts }: TargetView): readonly string[] {
  return unknown.filter((reason) => !verdicts.some(({ sentence }) => sentence.fact === reason));
}

function listHtml(unordered: readonly Entry[]): Markup {
  if (unordered.length === 0) return markup``;
  const entries = unordered.toSorted((a, b) => a.rank - b.rank);
  const more = entries.length - MAX_ENTRIES;
  const note =
    more > 0
      ? markup`<p class="note">and ${more} more; the <a href="${relative('/pending')}">list of targets</a> has all of them</p>`
      : '';
  return markup`<ul class="verdicts">
${entries.slice(0, MAX_ENTRIES).map(({ render }) => render())}</ul>${note}`;
}

/** The verdicts of a target that nothing inhibits. */
function groupsOf(view: TargetView, page: VerdictPage, isListed: (verdict: VerdictView) => boolean): readonly Group[] {
  return grouped(view, page, (verdict) => verdict.inhibitedBy === null && isListed(verdict));
}

function grouped(view: TargetView, page: VerdictPage, isListed: (verdict: VerdictView) => boolean): readonly Group[] {
  const groups = groupBy(
    view.verdicts.filter(isListed),
    ({ alert, severity, state }) => `${state} ${severity} ${alert}`,
  );
  return Array.from(groups.values()).flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ view, page, first, others }],
  );
}

function entryId({ view, first: { alert, severity, state } }: Pick<Group, 'view' | 'first'>): string {
  return anchor('verdict', view.target, alert, severity, state);
}

/** Others of its kind, and the facts that it inhibits, below the worst of its alert: who and how much is said above. */
function consequences(group: Group): Markup {
  const { view, first, page } = group;
  const worst = view.verdicts.find(({ alert, inhibitedBy }) => alert === first.alert && inhibitedBy === null);
  const inhibited = grouped(view, page, ({ inhibitedBy }) => worst === first && inhibitedBy === first.alert);
  if (inhibited.length === 0) return ofTheSameKind(group);
  const items = inhibited.map(
    (own) =>
      markup`<li class="verdict ${statusOf(own.first)}"><p>${stateLabel(own.first)} ${sentenceHtml(own.first.sentence.fact)}</p>${ofTheSameKind(own, ({ sentence }) => sentence.fact)}`,
  );
  return markup`${ofTheSameKind(group)}<p class="note">Follows from the above:</p>
<ul class="verdicts consequences">
${items}</ul>
`;
}

function ofTheSameKind(group: Group, text = ({ summary }: VerdictView): string => summary): Markup {
  const { others } = group;
  if (others.length === 0) return markup``;
  const items = others.map((verdict) => markup`<li>${sentenceHtml(text(verdict))}`);
  return markup`<details id="${entryId(group)}/more"><summary>${others.length} more of this kind</summary><ul>${items}</ul></details>`;
}

function statusOf({ severity, state }: VerdictView): TargetStatus {
  return state === 'firing' ? severity : 'pending';
}

function stateLabel({ severity, state, firesInSeconds }: VerdictView): Markup {
  if (state === 'firing') return statusLabel(severity);
  return markup`<b class="state pending">${severity} in ${duration(firesInSeconds ?? 0)}</b>`;
}

/** Names such as those of metrics and addresses are left as they are. */
function capitalized(sentence: string): string {
  return sentence.replace(/^[a-z](?=[a-z]*(?:[^\w.]|$))/, (letter) => letter.toUpperCase());
}

function nextSteps({ first, view: { target }, page }: Group): Markup {
  const { alert, severity, since, firesAt, ageSeconds, action, runbook, dashboard, mayBeOlder } = first;
  const when = urgencies[severity];
  const urgency =
    firesAt === null ? when : markup`If it lasts until ${clockTimeElement(firesAt)}, ${when.toLowerCase()}`;
  const links = [
    ...(page === 'target' ? [] : [markup`<a href="${pendingLink(target)}">Pending items of ${isolated(target)}</a>`]),
    markup`<a href="${runbook}" rel="noreferrer">Runbook: ${alert}</a>`,
    ...(dashboard === null ? [] : [markup`<a href="${dashboard}" rel="noreferrer">Dashboard</a>`]),
  ];
  return markup`<p class="remedy"><b>${urgency}:</b> ${sentenceHtml(action)}</p>
<p class="links"><span>${mayBeOlder ? 'seen' : 'true'} ${sinceElement(since, ageSeconds)}</span> ${links.map((link) => markup`${link} `)}</p>`;
}
