import type { Instant } from '../clock.js';
import { ENDED_DAYS, type EndedProblem } from '../problems/memory.js';
import type { Subject } from '../problems/problem.js';
import { duration } from '../text/format.js';
import { shortName } from '../problems/sentence.js';
import { isolated, markup, type Markup } from './html.js';
import { ago, distanceElement, isoTime, timeElement } from './time.js';

/*
 * The problems of a target that are over: what woke somebody up, when the page has nothing left to show.
 */

/** In the JSON of `/pending`, whose keys are fixed. */
export interface ResolvedProblem extends Pick<EndedProblem, 'name' | 'severity' | 'subject'> {
  /** ISO 8601. */
  readonly since: string;
  readonly until: string;
  readonly lastedSeconds: number;
}

/** Those of a week, the newest first. */
export function resolvedProblems(ended: readonly EndedProblem[], now: Instant): readonly ResolvedProblem[] {
  return ended
    .filter(({ endSeconds }) => endSeconds > now.epochSeconds - ENDED_DAYS * 86_400)
    .toSorted((a, b) => b.endSeconds - a.endSeconds)
    .map(({ name, severity, subject, startSeconds, endSeconds }) => ({
      name,
      severity,
      subject,
      since: isoTime(startSeconds),
      until: isoTime(endSeconds),
      lastedSeconds: endSeconds - startSeconds,
    }));
}

/** A page is about what is wrong now. */
const MAX_ROWS = 10;

/** Empty if nothing has ended. */
export function resolvedSection(resolved: readonly ResolvedProblem[], nowMs: number): Markup {
  if (resolved.length === 0) return markup``;
  const items = resolved.slice(0, MAX_ROWS).map(({ name, severity, subject, since, until, lastedSeconds }) => {
    const ended = distanceElement(until, ago((nowMs - Date.parse(until)) / 1000));
    return markup`<li>${severity} <b>${name}</b>${subjectHtml(subject)}, ended ${ended} <small>lasted ${duration(lastedSeconds)} from ${timeElement(since)}</small>
`;
  });
  const more = resolved.length - items.length;
  const note = more > 0 ? markup`<p class="note">and ${more} more in the JSON</p>` : '';
  return markup`<section id="resolved" class="part" aria-labelledby="resolved-title">
<h2 id="resolved-title">Resolved <span class="quiet">${resolved.length}</span></h2>
<ul class="resolved">
${items}</ul>${note}
</section>
`;
}

const SUBJECT_WORDS: Readonly<Partial<Record<keyof Subject, string>>> = {
  token_contract: 'token ',
  chain_id: 'chain ',
  orchestrator: 'validator ',
  address: 'validator ',
  kind: '',
};

function subjectHtml(subject: Subject): Markup {
  const words = Object.entries(SUBJECT_WORDS).flatMap(([label, word]) => {
    const value = subject[label as keyof Subject];
    return value === undefined ? [] : [`${word}${shortName(value)}`];
  });
  return words.length === 0 ? markup`` : markup` of ${isolated(words.join(', '))}`;
}
