import { isNote } from '../poll/verdicts.js';
import { markup, sentenceHtml, type Markup } from './html.js';
import { worstTargetFirst, type TargetStatus, type TargetView, type VerdictView } from './target-view.js';
import {
  entryDetails,
  groupsOf,
  rootVerdicts,
  stateLabel,
  statusOf,
  statusWords,
  type VerdictGroup,
  type VerdictPage,
} from './verdict-entry.js';

/* The heading of both pages: the worst condition. */

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
  /** What it is about, which `verdictList` leaves out: a verdict with others of its kind, or the reason why a target cannot be judged. */
  readonly subject: VerdictView | TargetView | undefined;
}

/** The worst condition of the targets: green only when nothing is wrong, gray when it cannot be judged. */
export function headline(targets: readonly TargetView[], page: VerdictPage = 'status'): Headline {
  const [worst] = worstTargetFirst(targets);
  if (worst === undefined) return plainHeadline('unknown', 'Nothing to poll', markup``);
  const [group] = groupsOf(rootVerdicts(worst).filter((verdict) => !isNote(verdict)));
  if (group?.[0].state === 'firing') return verdictHeadline(worst, group, page);
  const [reason, ...otherReasons] = worst.unknown;
  if (reason !== undefined) {
    return {
      ...plainHeadline('unknown', `${worst.target} cannot be judged: ${reason}`, markup``),
      subject: otherReasons.length === 0 ? worst : undefined,
    };
  }
  if (group !== undefined) return verdictHeadline(worst, group, page);
  const [only] = targets;
  const where = targets.length === 1 && only ? `on ${only.target}` : `on any of ${targets.length} targets`;
  return plainHeadline('ok', `No problem ${where}`, markup``);
}

function verdictHeadline(view: TargetView, [verdict, ...others]: VerdictGroup, page: VerdictPage): Headline {
  const { target } = view;
  const { fact } = verdict.sentence;
  const word = verdict.state === 'pending' ? statusWords.pending : verdict.severity;
  return {
    title: `${titleMarks[statusOf(verdict)]} ${word}: ${target}: ${fact}`,
    heading: live(markup`${stateLabel(verdict)} ${sentenceHtml(`${target}: ${fact}`)}`),
    details: entryDetails(verdict, others, { view, page }),
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
