import { isoTime, wallSeconds, type Moment } from '../clock.js';
import { ENDED_SECONDS, type EndedProblem } from '../problems/problem-memory.js';
import { severities, subjectLabels, type Subject } from '../problems/problem.js';
import { durationInWords } from '../text/format.js';
import { shortName } from '../problems/sentence.js';
import { isolated, markup, type Markup } from './html.js';
import { section } from './layout.js';
import { agoElement, timeElement } from './time.js';
import type { EndpointState } from '../engine/endpoint-state.js';
import type { ValidatorView } from './validator-view.js';
import type { TargetView } from './view.js';

/* The ended problems of a target: the reason of an alert that is over when its page is opened. */

/** The problems that ended within a week, newest first. A warning that was critical at the same time is not listed. */
export function endedProblems(endpoints: readonly { readonly state: EndpointState }[], now: Moment) {
  return endpoints
    .flatMap(({ state: { document, problems } }) => problems.ended.map((problem) => ({ ...problem, document })))
    .filter(({ endSeconds }) => endSeconds > now.at - ENDED_SECONDS)
    .filter((ended, _index, all) => !all.some((other) => isWorseForm(other, ended)))
    .toSorted((a, b) => b.endSeconds - a.endSeconds)
    .map(({ name, severity, subject, document, startSeconds, endSeconds }) => ({
      name,
      severity,
      subject,
      document,
      /** ISO 8601. */
      since: isoTime(wallSeconds(startSeconds, now)),
      until: isoTime(wallSeconds(endSeconds, now)),
      lastedSeconds: endSeconds - startSeconds,
    }));
}

type Ended = EndedProblem & Pick<EndpointState, 'document'>;

function isWorseForm(other: Ended, ended: Ended): boolean {
  return (
    other.name === ended.name &&
    other.document === ended.document &&
    severities.indexOf(other.severity) < severities.indexOf(ended.severity) &&
    subjectLabels.every((label) => other.subject[label] === ended.subject[label]) &&
    other.startSeconds <= ended.endSeconds &&
    ended.startSeconds <= other.endSeconds
  );
}

type NamedValidator = Pick<ValidatorView, 'name' | 'orchestrator' | 'own'>;

/** A page is mainly about present problems. */
const MAX_ROWS = 10;

/** Empty if nothing has ended. */
export function endedSection(
  { ended, validators }: Pick<TargetView, 'ended'> & { readonly validators: readonly NamedValidator[] | null },
  nowMs: number,
): Markup {
  if (ended.length === 0) return markup``;
  const items = ended.slice(0, MAX_ROWS).map(({ name, severity, subject, document, since, until, lastedSeconds }) => {
    return markup`<li>${severity} <b>${name}</b>${subjectHtml(subject, validators ?? [])}, ended ${agoElement(until, nowMs)} <small>${document}, lasted ${durationInWords(lastedSeconds)} from ${timeElement(since)}</small>
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

function subjectHtml(subject: Subject, validators: readonly NamedValidator[]): Markup {
  const { orchestrator = subject.address } = subject;
  const validator = validators.find((view) => orchestrator === view.orchestrator || orchestrator === view.own?.entry);
  const words = Object.entries(SUBJECT_WORDS).flatMap(([label, word]) => {
    const value = subject[label as keyof Subject];
    return value === undefined
      ? []
      : [`${word}${shortName(word === 'validator ' ? (validator?.name ?? value) : value)}`];
  });
  return words.length === 0 ? markup`` : markup` of ${isolated(words.join(', '))}`;
}
