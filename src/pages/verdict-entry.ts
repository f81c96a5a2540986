import type { Severity } from '../problems/problem.js';
import { groupBy } from '../facts/grouping.js';
import { duration } from '../text/format.js';
import { isolated, markup, sentenceHtml, type Markup } from './html.js';
import { anchor, pendingLink } from './layout.js';
import type { TargetStatus, TargetView, VerdictView } from './target-view.js';
import { clockTimeElement, sinceElement } from './time.js';

/*
 * One verdict on both pages: what is wrong, what to do first, and what it inhibits.
 */

export const statusWords: Readonly<Record<TargetStatus, string>> = {
  critical: 'critical',
  warning: 'warning',
  unknown: 'cannot be judged',
  pending: 'building up',
  info: 'note',
  ok: 'no problem',
};

/** When to act on an alert of a severity. */
const urgencies: Readonly<Record<Severity, string>> = {
  critical: 'Act now',
  warning: 'Act in working hours',
  info: 'For the record',
};

export function statusLabel(status: TargetStatus): Markup {
  return markup`<b class="state ${status}">${statusWords[status]}</b>`;
}

export function verdictsHtml(entries: readonly Markup[]): Markup {
  return markup`<ul class="verdicts">
${entries}</ul>`;
}

/** The page of a target needs no links to it. */
export type VerdictPage = 'status' | 'target';

/** What a verdict is shown with. */
interface EntryContext {
  readonly view: TargetView;
  readonly page: VerdictPage;
}

/** The verdicts that nothing inhibits. */
export function rootVerdicts({ verdicts }: TargetView): readonly VerdictView[] {
  return verdicts.filter(({ inhibitedBy }) => inhibitedBy === null);
}

/** The verdicts that this one inhibits, below the worst of its alert. */
function inhibitedHtml(verdict: VerdictView, view: TargetView): Markup {
  const worst = rootVerdicts(view).find(({ alert }) => alert === verdict.alert);
  const inhibited = view.verdicts.filter(({ inhibitedBy }) => inhibitedBy === verdict.alert);
  if (worst !== verdict || inhibited.length === 0) return markup``;
  const items = groupsOf(inhibited).map(
    ([first, ...others]) =>
      markup`<li class="verdict ${statusOf(first)}"><p>${stateLabel(first)} ${sentenceHtml(first.summary)}</p>${ofTheSameKind(others, `${entryId(first, view)}/more`)}`,
  );
  return markup`<p class="note">Follows from the above:</p>
<ul class="verdicts consequences">
${items}</ul>
`;
}

/** Verdicts of the same alert, one for each subject, the worst first. */
export type VerdictGroup = readonly [VerdictView, ...VerdictView[]];

export function groupsOf(verdicts: readonly VerdictView[]): readonly VerdictGroup[] {
  const groups = groupBy(verdicts, ({ alert, severity, state }) => `${state} ${severity} ${alert}`);
  return Array.from(groups.values()).flatMap(([first, ...others]) => (first === undefined ? [] : [[first, ...others]]));
}

export function groupEntry(first: VerdictView, others: readonly VerdictView[], context: EntryContext): Markup {
  const { target } = context.view;
  const id = entryId(first, context.view);
  return markup`<li id="${id}" class="verdict ${statusOf(first)}"><p>${stateLabel(first)} ${sentenceHtml(`${target}: ${first.summary}`)}</p>
${nextSteps(first, context)}${ofTheSameKind(others, `${id}/more`)}${inhibitedHtml(first, context.view)}
`;
}

function entryId({ alert, severity, state }: VerdictView, { target }: TargetView): string {
  return anchor('verdict', target, alert, severity, state);
}

function ofTheSameKind(verdicts: readonly VerdictView[], id: string): Markup {
  if (verdicts.length === 0) return markup``;
  const items = verdicts.map(({ summary }) => markup`<li>${sentenceHtml(summary)}`);
  return markup`<details id="${id}"><summary>${verdicts.length} more of this kind</summary><ul>${items}</ul></details>`;
}

export function statusOf({ severity, state }: VerdictView): TargetStatus {
  return state === 'firing' ? severity : 'pending';
}

export function stateLabel({ severity, state, firesInSeconds }: VerdictView): Markup {
  if (state === 'firing') return statusLabel(severity);
  return markup`<b class="state pending">${severity} in ${duration(firesInSeconds ?? 0)}</b>`;
}

function urgency({ severity, firesAt }: VerdictView): Markup {
  const text = urgencies[severity];
  if (firesAt === null) return markup`${text}`;
  return markup`If it lasts until ${clockTimeElement(firesAt)}, ${text.toLowerCase()}`;
}

/** Names such as those of metrics and addresses are left as they are. */
function capitalized(sentence: string): string {
  return sentence.replace(/^[a-z](?=[a-z]*(?:[^\w.]|$))/, (letter) => letter.toUpperCase());
}

/** What the heading has no room for. */
export function entryDetails(verdict: VerdictView, others: readonly VerdictView[], context: EntryContext): Markup {
  const { details } = verdict.sentence;
  const paragraph =
    details === ''
      ? ''
      : markup`<p>${sentenceHtml(capitalized(details))}</p>
`;
  return markup`<div class="verdict ${statusOf(verdict)}">${paragraph}${nextSteps(verdict, context)}${ofTheSameKind(others, `${entryId(verdict, context.view)}/more`)}${inhibitedHtml(verdict, context.view)}</div>`;
}

function nextSteps(verdict: VerdictView, { view: { target }, page }: EntryContext): Markup {
  const { alert, since, ageSeconds, action, runbook, dashboard, mayBeOlder } = verdict;
  const links = [
    ...(page === 'target' ? [] : [markup`<a href="${pendingLink(target)}">Pending items of ${isolated(target)}</a>`]),
    markup`<a href="${runbook}" rel="noreferrer">Runbook: ${alert}</a>`,
    ...(dashboard === null ? [] : [markup`<a href="${dashboard}" rel="noreferrer">Dashboard</a>`]),
  ];
  return markup`<p class="remedy"><b>${urgency(verdict)}:</b> ${sentenceHtml(action)}</p>
<p class="links"><span>${mayBeOlder ? 'seen' : 'true'} ${sinceElement(since, ageSeconds)}</span> ${links.map((link) => markup`${link} `)}</p>`;
}
