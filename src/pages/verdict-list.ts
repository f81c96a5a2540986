import type { Severity } from '../alerts/alert.js';
import { groupBy } from '../metrics/grouping.js';
import { isolated, markup, sentenceHtml, type Markup } from './html.js';
import { anchor, pendingLink, relative } from './layout.js';
import {
  firingVerdicts,
  statuses,
  worstTargetFirst,
  type TargetStatus,
  type TargetView,
  type VerdictView,
} from './target-view.js';
import { duration } from '../text/format.js';
import { clockTimeElement, sinceElement } from './time.js';

/*
 * The verdicts on both pages: the worst one as the heading, then all others by severity.
 */

/** The style puts the same shapes before the words on the page, so that no status depends on color alone. */
const titleMarks: Readonly<Record<TargetStatus, string>> = {
  critical: '■',
  warning: '▲',
  unknown: '○',
  pending: '△',
  info: '◆',
  ok: '●',
};

export const statusWords: Readonly<Record<TargetStatus, string>> = {
  critical: 'critical',
  warning: 'warning',
  unknown: 'cannot be judged',
  pending: 'building up',
  info: 'info',
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

/** The page of a target needs no links to it. */
type VerdictPage = 'status' | 'target';

export interface Headline {
  /** Title of the tab. */
  readonly title: string;
  readonly heading: Markup;
  /** What the heading has no room for: names and amounts, since when, what to do next, and where to read on. */
  readonly details: Markup;
  /** What it is about, which `verdictList` leaves out: a verdict, or the reason why a target cannot be judged. */
  readonly subject: VerdictView | TargetView | undefined;
}

/** The worst condition of the targets: green only when nothing is wrong, gray when it cannot be judged. */
export function headline(targets: readonly TargetView[], page: VerdictPage = 'status'): Headline {
  const [worst] = worstTargetFirst(targets);
  if (worst === undefined) return plainHeadline('unknown', 'Nothing to poll', markup``);
  const [firing] = firingVerdicts(worst);
  if (firing !== undefined) {
    return verdictHeadline(worst.target, firing, page);
  }
  const observation = observationOf(targets);
  const [reason, ...otherReasons] = worst.unknown;
  if (reason !== undefined) {
    return {
      ...plainHeadline('unknown', `${worst.target} cannot be judged: ${reason}`, observation),
      subject: otherReasons.length === 0 ? worst : undefined,
    };
  }
  const [first] = worst.verdicts;
  if (first?.state === 'pending') return verdictHeadline(worst.target, first, page);
  const observing = first;
  if (worst.status === 'unknown') {
    const text = observing === undefined ? 'it has not been polled yet' : factOf(observing.summary)[0];
    const details = observing === undefined ? '' : entryDetails(worst.target, observing, page);
    return {
      ...plainHeadline('unknown', `${worst.target} cannot be judged yet: ${text}`, markup`${details}${observation}`),
      subject: observing,
    };
  }
  const [only] = targets;
  const where = targets.length === 1 && only ? `on ${only.target}` : `on any of ${targets.length} targets`;
  return plainHeadline('ok', `No problem ${where}`, observation);
}

function verdictHeadline(target: string, verdict: VerdictView, page: VerdictPage): Headline {
  const [fact] = factOf(verdict.summary);
  const word = verdict.state === 'pending' ? statusWords.pending : verdict.severity;
  return {
    title: `${titleMarks[statusOf(verdict)]} ${word}: ${target}: ${fact}`,
    heading: live(markup`${stateLabel(verdict)} ${sentenceHtml(`${target}: ${fact}`)}`),
    details: entryDetails(target, verdict, page),
    subject: verdict,
  };
}

/** The fact at the beginning of a summary, and the rest of it, such as names. A quoted name can contain any punctuation. */
function factOf(summary: string): readonly [string, string] {
  const [fact = summary] = /^(?:“[^”]*”|[^;:“]|[;:](?! ))*/.exec(summary) ?? [];
  const rest = summary.slice(fact.length).replace(/^[;:] /, '');
  return [fact, rest];
}

function plainHeadline(status: TargetStatus, text: string, details: Markup): Headline {
  return {
    title: `${titleMarks[status]} ${text}`,
    heading: live(markup`<span class="state ${status}"></span>${sentenceHtml(text)}`),
    details,
    subject: undefined,
  };
}

function live(content: Markup): Markup {
  return markup`<span aria-live="polite">${content}</span>`;
}

/** Alerts with a range of hours can be excluded only after the exporter has observed the targets for hours. */
function observationOf(targets: readonly TargetView[]): Markup {
  const [latest] = targets
    .flatMap(({ observedSince, observedSeconds }) =>
      observedSince === null || observedSeconds === null ? [] : [{ observedSince, observedSeconds }],
    )
    .toSorted((a, b) => a.observedSeconds - b.observedSeconds);
  if (latest === undefined) return markup``;
  return markup`<p class="quiet">Observing ${sinceElement(latest.observedSince, latest.observedSeconds)}.</p>`;
}

/** What may become an alert comes after all that fires, and what cannot be judged yet last. */
function rankOf({ severity, state }: VerdictView): number {
  const rank = { firing: 0, pending: 1, observing: 2 }[state];
  return rank * statuses.length + statuses.indexOf(severity);
}

/** A page of many targets stays readable. */
const MAX_ENTRIES = 30;

/** All verdicts and reasons why targets cannot be judged, except what the heading says. Empty if there are none. */
export function verdictList(
  targets: readonly TargetView[],
  { subject }: Headline,
  page: VerdictPage = 'status',
): Markup {
  const entries = targets
    .flatMap((view) => {
      const { target, verdicts, unknown } = view;
      const others = verdicts.filter((verdict) => verdict !== subject);
      // Verdicts of the same alert, one for each document.
      const groups = groupBy(others, ({ alert, severity, state }) => `${state} ${severity} ${alert}`);
      return [
        ...Array.from(groups.values()).flatMap(([first, ...more]) =>
          first === undefined ? [] : [{ rank: rankOf(first), render: () => groupEntry(target, first, more, page) }],
        ),
        ...(unknown.length === 0 || view === subject
          ? []
          : [{ rank: statuses.indexOf('unknown'), render: () => unknownEntry(view) }]),
      ];
    })
    .toSorted((a, b) => a.rank - b.rank);
  if (entries.length === 0) return markup``;
  const more = entries.length - MAX_ENTRIES;
  const note =
    more > 0
      ? markup`<p class="note">and ${more} more; the <a href="${relative('/pending')}">list of targets</a> has all of them</p>`
      : '';
  return markup`<ul class="verdicts">
${entries.slice(0, MAX_ENTRIES).map(({ render }) => render())}</ul>${note}`;
}

function groupEntry(target: string, first: VerdictView, others: readonly VerdictView[], page: VerdictPage): Markup {
  const { alert, severity, state } = first;
  const id = anchor('verdict', target, alert, severity, state);
  return markup`<li id="${id}" class="verdict ${statusOf(first)}"><p>${stateLabel(first)} ${sentenceHtml(`${target}: ${first.summary}`)}</p>
${nextSteps(target, first, page)}${others.length === 0 ? '' : ofTheSameKind(others, `${id}/more`)}
`;
}

function ofTheSameKind(verdicts: readonly VerdictView[], id: string): Markup {
  const items = verdicts.map(
    ({ summary, since, ageSeconds }) => markup`<li>${sentenceHtml(summary)}, ${sinceElement(since, ageSeconds)}`,
  );
  return markup`<details id="${id}"><summary>${verdicts.length} more of this kind</summary><ul>${items}</ul></details>`;
}

function statusOf({ severity, state }: VerdictView): TargetStatus {
  return state === 'firing' ? severity : state === 'observing' ? 'unknown' : 'pending';
}

function stateLabel({ severity, state, firesInSeconds }: VerdictView): Markup {
  switch (state) {
    case 'firing':
      return statusLabel(severity);
    case 'observing':
      return markup`<b class="state unknown">not judged yet, would be ${severity}</b>`;
    case 'pending':
      return markup`<b class="state pending">${severity} in ${duration(firesInSeconds ?? 0)}</b>`;
  }
}

function unknownEntry(target: TargetView): Markup {
  const text = `${target.target}: ${target.unknown.join('; ')}`;
  return markup`<li id="${anchor('verdict', target.target, 'unknown')}" class="verdict unknown"><p>${statusLabel('unknown')} ${sentenceHtml(text)}</p>
`;
}

function urgency({ severity, firesAt }: VerdictView): Markup {
  const text = urgencies[severity];
  if (firesAt === null) return markup`${text}`;
  return markup`If it lasts until ${clockTimeElement(firesAt)}, ${text.toLowerCase()}`;
}

/** What the heading has no room for. */
function entryDetails(target: string, verdict: VerdictView, page: VerdictPage): Markup {
  const [, rest] = factOf(verdict.summary);
  const details =
    rest === ''
      ? ''
      : markup`<p>${sentenceHtml(`${rest.slice(0, 1).toUpperCase()}${rest.slice(1)}`)}</p>
`;
  return markup`<div class="verdict ${statusOf(verdict)}">${details}${nextSteps(target, verdict, page)}</div>`;
}

function nextSteps(target: string, verdict: VerdictView, page: VerdictPage): Markup {
  const { alert, since, ageSeconds, action, runbook, dashboard, mayBeOlder } = verdict;
  const what = mayBeOlder ? 'observed' : 'true';
  const links = [
    ...(page === 'target' ? [] : [markup`<a href="${pendingLink(target)}">Pending items of ${isolated(target)}</a>`]),
    markup`<a href="${runbook}" rel="noreferrer">Runbook: ${alert}</a>`,
    ...(dashboard === null ? [] : [markup`<a href="${dashboard}" rel="noreferrer">Dashboard</a>`]),
  ];
  return markup`<p class="remedy"><b>${urgency(verdict)}:</b> ${sentenceHtml(action)}</p>
<p class="links"><span>${what} ${sinceElement(since, ageSeconds)}</span> ${links.map((link) => markup`${link} `)}</p>`;
}
