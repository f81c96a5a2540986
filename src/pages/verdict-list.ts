import { isNote } from '../poll/verdicts.js';
import type { Headline } from './headline.js';
import { markup, sentenceHtml, type Markup } from './html.js';
import { anchor, relative } from './layout.js';
import { statuses, type TargetView, type VerdictView } from './target-view.js';
import {
  groupEntry,
  groupsOf,
  rootVerdicts,
  statusLabel,
  verdictsHtml,
  type VerdictGroup,
  type VerdictPage,
} from './verdict-entry.js';

/* The verdicts on both pages below the heading, by severity. */

/** What may become an alert comes after all that fires. */
function rankOf({ severity, state }: VerdictView): number {
  const rank = { firing: 0, pending: 1 }[state];
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
      const groups = groupsOf(rootVerdicts(view).filter((verdict) => !isNote(verdict)));
      const others = groups.filter(([first]) => first !== subject);
      const reasons = view === subject ? [] : unsaidReasons(view);
      return [...entriesOf(others, view, page), ...(reasons.length === 0 ? [] : [unknownEntry(view, reasons)])];
    }),
  );
}

/** What is only for the record. Empty if there is nothing. */
export function noteList(targets: readonly TargetView[], page: VerdictPage = 'status'): Markup {
  return listHtml(targets.flatMap((view) => entriesOf(groupsOf(rootVerdicts(view).filter(isNote)), view, page)));
}

function entriesOf(groups: readonly VerdictGroup[], view: TargetView, page: VerdictPage): readonly Entry[] {
  return groups.map(([first, ...others]) => ({
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

/** Why a target cannot be judged, unless a verdict says it. */
function unsaidReasons({ unknown, verdicts }: TargetView): readonly string[] {
  return unknown.filter((reason) => !verdicts.some(({ sentence }) => sentence.fact === reason));
}

function unknownEntry({ target }: TargetView, reasons: readonly string[]): Entry {
  const text = `${target}: ${reasons.join('; ')}`;
  return {
    rank: statuses.indexOf('unknown'),
    render:
      () => markup`<li id="${anchor('verdict', target, 'unknown')}" class="verdict unknown"><p>${statusLabel('unknown')} ${sentenceHtml(text)}</p>
`,
  };
}
