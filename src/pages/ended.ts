import type { Instant } from '../clock.js';
import { ENDED_SECONDS } from '../problems/memory.js';
import type { Subject } from '../problems/problem.js';
import { duration } from '../text/format.js';
import { shortName } from '../problems/sentence.js';
import { isolated, markup, type Markup } from './html.js';
import { section } from './layout.js';
import { agoElement, isoTime, timeElement } from './time.js';
import type { KnownEndpoint } from '../poll/endpoint-state.js';

/*
 * The problems of a target that have ended: what woke somebody up, when the page has nothing left to show.
 */

export type EndedView = Readonly<ReturnType<typeof endedProblems>[number]>;

/** Those of a week, the newest first. */
export function endedProblems(endpoints: readonly KnownEndpoint[], now: Instant) {
  return endpoints
    .flatMap(({ state: { document }, memory }) => memory.problems.ended.map((own) => ({ ...own, document })))
    .filter(({ endSeconds }) => endSeconds > now.epochSeconds - ENDED_SECONDS)
    .toSorted((a, b) => b.endSeconds - a.endSeconds)
    .map(({ name, severity, subject, document, startSeconds, endSeconds }) => ({
      name,
      severity,
      subject,
      document,
      /** ISO 8601. */
      since: isoTime(startSeconds),
      until: isoTime(endSeconds),
      lastedSeconds: endSeconds - startSeconds,
    }));
}

/** A page is about what is wrong now. */
const MAX_ROWS = 10;

/** Empty if nothing has ended. */
export function endedSection(ended: readonly EndedView[], nowMs: number): Markup {
  if (ended.length === 0) return markup``;
  const items = ended.slice(0, MAX_ROWS).map(({ name, severity, subject, document, since, until, lastedSeconds }) => {
    return markup`<li>${severity} <b>${name}</b>${subjectHtml(subject)}, ended ${agoElement(until, nowMs)} <small>${document}, lasted ${duration(lastedSeconds)} from ${timeElement(since)}</small>
`;
  });
  const more = ended.length - items.length;
  const note = more > 0 ? markup`<p class="note">and ${more} more in the JSON</p>` : '';
  const title = markup`Ended problems <span class="quiet">${ended.length}</span>`;
  return section('ended', title, markup`<ul class="ended">\n${items}</ul>${note}`);
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
