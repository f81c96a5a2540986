import { duration } from '../text/format.js';
import { markup, sentenceHtml, type Markup } from './html.js';
import { anchor, relative } from './layout.js';
import { statuses, worstTargetFirst, type TargetStatus, type TargetView, type VerdictView } from './target-view.js';
import { clockTime, sinceElement } from './time.js';
import {
  entryDetails,
  groupEntry,
  groupsOf,
  isObservedBriefly,
  rootVerdicts,
  stateLabel,
  statusLabel,
  statusOf,
  statusWords,
  type VerdictPage,
} from './verdict-entry.js';

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
  const first = rootVerdicts(worst).find((verdict) => !isNote(verdict));
  if (first?.state === 'firing') return verdictHeadline(worst, first, page);
  const observation = observationOf(targets);
  const [reason, ...otherReasons] = worst.unknown;
  if (reason !== undefined) {
    return {
      ...plainHeadline('unknown', `${worst.target} cannot be judged: ${reason}`, observation),
      subject: otherReasons.length === 0 ? worst : undefined,
    };
  }
  // What has held for a part of its time says more than what has held since a restart.
  const pending = rootVerdicts(worst).find(({ state }) => state === 'pending');
  if (pending !== undefined) return verdictHeadline(worst, pending, page);
  if (worst.status === 'unknown') {
    if (first === undefined)
      return plainHeadline('unknown', `${worst.target} cannot be judged yet: it has not been polled yet`, observation);
    return observingHeadline(worst, first, observation, page);
  }
  const [only] = targets;
  const where = targets.length === 1 && only ? `on ${only.target}` : `on any of ${targets.length} targets`;
  return plainHeadline('ok', `No problem ${where}`, observation);
}

/** What was there when the exporter began to observe the target. */
function observingHeadline(view: TargetView, verdict: VerdictView, observation: Markup, page: VerdictPage): Headline {
  const { ageSeconds, firesAt } = verdict;
  const until = firesAt === null ? 'yet' : `before ${clockTime(firesAt)}`;
  const [reason, details] = isObservedBriefly(verdict)
    ? [`observed for ${duration(ageSeconds)}`, verdictsHtml([groupEntry(verdict, [], { view, page })])]
    : [verdict.sentence.fact, entryDetails(verdict, { view, page })];
  return {
    ...plainHeadline(
      'unknown',
      `${view.target} cannot be judged ${until}: ${reason}`,
      markup`${details}${observation}`,
    ),
    subject: verdict,
  };
}

/** What is only for the record is no problem. */
function isNote({ severity, state }: VerdictView): boolean {
  return severity === 'info' && state === 'firing';
}

function verdictHeadline(view: TargetView, verdict: VerdictView, page: VerdictPage): Headline {
  const { target } = view;
  const { fact } = verdict.sentence;
  const word = verdict.state === 'pending' ? statusWords.pending : verdict.severity;
  return {
    title: `${titleMarks[statusOf(verdict)]} ${word}: ${target}: ${fact}`,
    heading: live(markup`${stateLabel(verdict)} ${sentenceHtml(`${target}: ${fact}`)}`),
    details: entryDetails(verdict, { view, page }),
    subject: verdict,
  };
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

interface Entry {
  readonly rank: number;
  readonly render: () => Markup;
}

/** All problems, with what follows from them, and the reasons why targets cannot be judged, except what the heading says. Empty if there are none. */
export function verdictList(
  targets: readonly TargetView[],
  { subject }: Headline,
  page: VerdictPage = 'status',
): Markup {
  return listHtml(
    targets.flatMap((view): Entry[] => {
      const others = rootVerdicts(view).filter((verdict) => verdict !== subject && !isNote(verdict));
      const unknown = view.unknown.length === 0 || view === subject ? [] : [view];
      return [
        ...entriesOf(others, view, page),
        ...unknown.map((own) => ({ rank: statuses.indexOf('unknown'), render: () => unknownEntry(own) })),
      ];
    }),
  );
}

/** What is only for the record. Empty if there is nothing. */
export function noteList(targets: readonly TargetView[], page: VerdictPage = 'status'): Markup {
  return listHtml(targets.flatMap((view) => entriesOf(rootVerdicts(view).filter(isNote), view, page)));
}

function entriesOf(verdicts: readonly VerdictView[], view: TargetView, page: VerdictPage): readonly Entry[] {
  return groupsOf(verdicts).map(([first, ...others]) => ({
    rank: rankOf(first),
    render: () => groupEntry(first, others, { view, page }),
  }));
}

function listHtml(unordered: readonly Entry[]): Markup {
  const entries = unordered.toSorted((a, b) => a.rank - b.rank);
  if (entries.length === 0) return markup``;
  const more = entries.length - MAX_ENTRIES;
  const note =
    more > 0
      ? markup`<p class="note">and ${more} more; the <a href="${relative('/pending')}">list of targets</a> has all of them</p>`
      : '';
  return markup`${verdictsHtml(entries.slice(0, MAX_ENTRIES).map(({ render }) => render()))}${note}`;
}

function verdictsHtml(entries: readonly Markup[]): Markup {
  return markup`<ul class="verdicts">
${entries}</ul>`;
}

function unknownEntry(target: TargetView): Markup {
  const text = `${target.target}: ${target.unknown.join('; ')}`;
  return markup`<li id="${anchor('verdict', target.target, 'unknown')}" class="verdict unknown"><p>${statusLabel('unknown')} ${sentenceHtml(text)}</p>
`;
}
