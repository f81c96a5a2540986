import type { TargetProblem } from '../../src/engine/target-problems.js';
import { hides } from '../../src/problems/due.js';
import type { Severity } from '../../src/problems/problem.js';
import { expectations, type Expectation, type Truth } from './expectations.js';
import { isBlind, type World } from './world.js';

/*
 * Compares what fires with what is expected, at every poll of a day.
 */

/** Something that had to be heard. */
export interface Heard {
  readonly alert: string;
  readonly about: string;
  /** Since when it is true, in minutes of the day. */
  readonly fromMinute: number;
  /** When it was due. */
  readonly dueMinute: number;
  /** Minutes until it was heard; `undefined` if it was not. */
  readonly delayMinutes: number | undefined;
}

/** Something that fired without a reason. */
export interface FalseAlert {
  readonly alert: string;
  readonly severity: Severity;
  readonly about: string;
  readonly fromMinute: number;
  readonly untilMinute: number;
}

interface Episode {
  readonly about: string;
  identity: string | number | undefined;
  fromMinute: number;
  /** Minutes since it is true: a document can prove what nobody saw. */
  mayMinutes: number;
  /** Minutes in which it was visible since it is sure. */
  sureMinutes: number;
  /** Minutes in which it was visible, since it is true no more. */
  goneMinutes: number;
  /** Minutes for which an alert about what was before may still be there. */
  tailMinutes: number;
  silentMinutes: number;
  heardMinute: number | undefined;
  result: { dueMinute: number; delayMinutes: number | undefined } | undefined;
  truth: Truth;
}

/** After an interruption, a problem begins when polls agree. */
const SETTLING_MINUTES = 4;
/** An alert that is due may be silent for this long. */
const MAX_SILENT_MINUTES = 6;
/** Two alerts about the same within these minutes are one. */
const SAME_ALERT_MINUTES = 15;

type Covering = readonly { readonly alert: string; readonly severity: string; readonly truth: Truth }[];

const SEVERITIES = ['info', 'warning', 'critical'];
const textOf = (subject: object): string =>
  Object.entries(subject)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');

export class Hearing {
  readonly heard: Heard[] = [];
  readonly falseAlerts: FalseAlert[] = [];
  readonly #episodes = expectations.map(() => new Map<string, Episode>());
  #unsettledMinutes = 0;
  #down = false;
  #minute = 0;
  /** What could be heard at each poll. */
  readonly #covered: { readonly minute: number; readonly covering: Covering }[] = [];

  /** The exporter runs no more, or polls again. */
  interrupted(keepsState: boolean): void {
    this.#down = true;
    if (keepsState) return;
    for (const own of this.#episodes) for (const episode of own.values()) episode.sureMinutes = 0;
  }

  /** `problems` are those after a poll. */
  observe(world: World, problems: readonly TargetProblem[]): void {
    const { minute } = world;
    const elapsed = minute - this.#minute;
    this.#minute = minute;
    const isDisturbed = this.#down || world.faults.some(({ blinds = [] }) => blinds.length > 0);
    this.#unsettledMinutes = isDisturbed ? SETTLING_MINUTES : Math.max(0, this.#unsettledMinutes - elapsed);
    this.#down = false;
    const firing = problems.filter(({ state }) => state === 'firing');
    const covering: Covering[number][] = [];
    for (const [index, expectation] of expectations.entries()) {
      const own = this.#episodes[index] ?? new Map<string, Episode>();
      const { documents } = expectation;
      const isVisible =
        documents.length === 0 ||
        (this.#unsettledMinutes === 0 && !documents.some((document) => isBlind(world, document)));
      this.#advance(own, expectation, expectation.truths(world), { elapsed, isVisible, minute });
      const [alert = '', severity = ''] = expectation.alert.split('/');
      for (const [key, episode] of own) {
        const { truth } = episode;
        const { earliest, latest } = { ...expectation.minutes, ...truth };
        if (episode.mayMinutes >= earliest - 1 || episode.tailMinutes > 0) covering.push({ alert, severity, truth });
        const isHeard = firing.some(
          (problem) => isAbout(problem, alert, severity, truth) || isCause(problem, alert, severity, truth),
        );
        if (isHeard) episode.heardMinute ??= minute;
        episode.silentMinutes = isHeard || !isVisible ? 0 : episode.silentMinutes + elapsed;
        this.#judge(expectation, episode, latest);
        if (episode.goneMinutes > expectation.minutes.ends) own.delete(key);
      }
    }
    this.#covered.push({ minute, covering });
    this.#findFalse(world, firing);
  }

  #advance(
    episodes: Map<string, Episode>,
    { minutes: { ends } }: Expectation,
    truths: readonly Truth[],
    { elapsed, isVisible, minute }: { elapsed: number; isVisible: boolean; minute: number },
  ): void {
    const visible = isVisible ? elapsed : 0;
    const byKey = new Map(truths.map((truth) => [JSON.stringify([truth.about, truth.document]), truth]));
    for (const [key, truth] of byKey) {
      const known = episodes.get(key);
      if (known === undefined || known.identity !== truth.identity || known.goneMinutes > 0) {
        episodes.set(key, {
          about: [textOf(truth.about ?? {}), truth.document ?? ''].filter((part) => part !== '').join(' '),
          identity: truth.identity,
          fromMinute: minute,
          mayMinutes: 0,
          sureMinutes: 0,
          goneMinutes: 0,
          tailMinutes: known === undefined ? 0 : ends,
          silentMinutes: 0,
          heardMinute: undefined,
          result: undefined,
          truth,
        });
        continue;
      }
      known.truth = truth;
      known.mayMinutes += elapsed;
      known.tailMinutes = Math.max(0, known.tailMinutes - visible);
      known.sureMinutes = truth.isSure ? known.sureMinutes + visible : 0;
    }
    for (const [key, episode] of episodes) {
      if (byKey.has(key)) continue;
      episode.goneMinutes += visible;
      episode.sureMinutes = 0;
    }
  }

  #judge({ alert }: Expectation, episode: Episode, latest: number): void {
    if (episode.sureMinutes < latest || episode.goneMinutes > 0) return;
    const { heardMinute, fromMinute, silentMinutes, about } = episode;
    const dueMinute = this.#minute;
    const isSilent = heardMinute === undefined || silentMinutes > MAX_SILENT_MINUTES;
    if (episode.result === undefined) {
      const delayMinutes = isSilent ? undefined : heardMinute - fromMinute;
      episode.result = { dueMinute, delayMinutes };
      this.heard.push({ alert, about, fromMinute, dueMinute, delayMinutes });
    } else if (isSilent && episode.result.delayMinutes !== undefined) {
      episode.result.delayMinutes = undefined;
      this.heard.push({ alert, about: `${about} (silent again)`, fromMinute, dueMinute, delayMinutes: undefined });
    }
  }

  #findFalse(world: World, firing: readonly TargetProblem[]): void {
    const { minute } = world;
    const lags = [0, ...world.faults.map(({ lag }) => lag?.minutes ?? 0)];
    const covering = lags.flatMap((lag) => this.#covered.findLast((own) => own.minute <= minute - lag)?.covering ?? []);
    for (const problem of firing) {
      const { alert, severity, hiddenBy } = problem;
      if (severity === 'info' || hiddenBy !== null) continue;
      if (covering.some((own) => isAbout(problem, own.alert, own.severity, own.truth, true))) continue;
      const about = `${textOf(problem.subject)} ${problem.document}`.trim();
      const known = this.falseAlerts.findIndex(
        (own) =>
          own.alert === alert &&
          own.severity === severity &&
          own.about === about &&
          minute - own.untilMinute < SAME_ALERT_MINUTES,
      );
      const before = this.falseAlerts[known];
      if (before === undefined)
        this.falseAlerts.push({ alert, severity, about, fromMinute: minute, untilMinute: minute });
      else this.falseAlerts[known] = { ...before, untilMinute: minute };
    }
  }
}

/** `isCovered`: a warning beside its critical form is expected, too. Otherwise the critical form says the same. */
function isAbout(problem: TargetProblem, alert: string, severity: string, truth: Truth, isCovered = false): boolean {
  if (problem.alert !== alert) return false;
  const difference = SEVERITIES.indexOf(problem.severity) - SEVERITIES.indexOf(severity);
  if (isCovered ? difference > 0 : difference < 0) return false;
  if (truth.document !== undefined && truth.document !== problem.document) return false;
  return subjectsOf(problem).some((subject) =>
    Object.entries(truth.about ?? {}).every(([name, value]) =>
      Object.entries(subject).some(([own, other]) => own === name && other === value),
    ),
  );
}

/** A joint problem is about each of its chains. */
function subjectsOf({ subject, chains }: TargetProblem): readonly TargetProblem['subject'][] {
  return chains === undefined ? [subject] : chains.map((chainId) => ({ ...subject, chain_id: chainId }));
}

/** Whether what hides the alert fires, so that somebody looks at it anyway. */
function isCause(problem: TargetProblem, alert: string, severity: string, { about, document }: Truth): boolean {
  return subjectsOf(problem).some((subject) =>
    hides(
      { ...problem, subject },
      { alert, severity: severity as Severity, document: document ?? problem.document, subject: about ?? {} },
    ),
  );
}
