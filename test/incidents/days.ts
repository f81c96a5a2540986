import { Random } from '../../src/simulator/random.js';
import type { Month } from '../../src/simulator/mainnet-month.js';
import type { Rules } from '../../src/simulator/scenarios.js';
import { INITIAL_CONFIG, record, START_SECONDS, type Phase, type RecordingOptions } from '../problems/recording.js';
import { definitionOf, faultKinds, type Fault, type FaultKind } from './faults.js';
import { Hearing, type FalseAlert, type Heard } from './hearing.js';
import { MAX_LAG_MINUTES, ServedChain } from './served-chain.js';

/* Days on which things break at random. */

export const DAY_MINUTES = 24 * 60;
/** Around the beginning and the end of a fault, polls are as frequent as by default. */
const DENSE_SECONDS = 30;
const DENSE_MINUTES = { before: 4, after: 14 };
/** Otherwise fewer are enough: nothing that has a limit of minutes begins or ends. */
const SPARSE_SECONDS = 120;
/** Still fewer when no fault has been there for an hour. Documents that are 5 minutes old are stale. */
const QUIET_SECONDS = 240;
const QUIET_AFTER_MINUTES = 60;

/** How many faults a day has: by their number, of 10. */
const NUMBERS = [0, 1, 1, 1, 2, 2, 2, 3, 3, 3];

/** Those that change which documents are served: one of them at a time. */
const LAGGING: ReadonlySet<FaultKind> = new Set(['node behind', 'node rolled back', 'nodes in turn']);
const ONE_AT_A_TIME: ReadonlySet<FaultKind> = new Set([
  'hub halted',
  'node stuck',
  'node behind',
  'node rolled back',
  'nodes in turn',
]);

type PlannedDay = ReturnType<typeof planDay>;
type PlannedFault = ReturnType<typeof planFault>;

export function planDay(seed: number) {
  const random = new Random(seed, 'day');
  const number = NUMBERS[random.between(0, NUMBERS.length - 1)] ?? 0;
  const faults: PlannedFault[] = [];
  while (faults.length < number) {
    const fault = planFault(random);
    const isTaken = faults.some(
      ({ kind }) => kind === fault.kind || (ONE_AT_A_TIME.has(kind) && ONE_AT_A_TIME.has(fault.kind)),
    );
    if (!isTaken) faults.push(fault);
  }
  return { seed, faults: faults.toSorted((a, b) => a.fromMinute - b.fromMinute), hasStateFile: random.chance(0.5) };
}

function planFault(random: Random) {
  const [first, ...others] = faultKinds.map((kind) => ({ kind, weight: definitionOf(kind).weight }));
  if (first === undefined) throw new RangeError('there are no faults');
  const { kind } = random.pick([first, ...others]);
  const [shortest, longest] = definitionOf(kind).minutes;
  const minutes = even(shortest * (longest / shortest) ** random.next());
  const drawn = even(30 + random.next() * (DAY_MINUTES - 60));
  // A node can only serve documents that there were.
  const fromMinute = LAGGING.has(kind) ? Math.max(drawn, MAX_LAG_MINUTES) : drawn;
  return { kind, fromMinute, untilMinute: Math.min(fromMinute + minutes, DAY_MINUTES) };
}

const even = (minutes: number): number => 2 * Math.round(minutes / 2);

export interface DayResult {
  readonly seed: number;
  readonly faults: readonly string[];
  readonly heard: readonly Heard[];
  readonly falseAlerts: readonly FalseAlert[];
}

interface DayOptions extends Pick<RecordingOptions, 'keep' | 'observe'> {
  /** The same interval between all polls. */
  readonly sampleSeconds?: number;
}

/** The day as it is recorded. */
export function runDay(
  plan: PlannedDay,
  { sampleSeconds, ...options }: DayOptions = {},
): DayResult & { readonly recording: ReturnType<typeof record> } {
  const { seed, hasStateFile } = plan;
  const lagging = plan.faults.some(
    ({ kind }) => kind === 'node behind' || kind === 'node rolled back' || kind === 'nodes in turn',
  );
  const served = new ServedChain(seed, lagging, timesOf(plan));
  const random = new Random(seed, 'faults');
  const faults = plan.faults.map((planned): Fault => ({
    ...planned,
    ...definitionOf(planned.kind).draw(random, served),
  }));
  const hearing = new Hearing();
  let [active, remembersSince, isForgotten]: [readonly Fault[], number, boolean] = [[], 0, false];
  const phases = segmentsOf(faults).map(([fromMinute, untilMinute], index): Phase => {
    const during = faults.filter((fault) => fault.fromMinute <= fromMinute && fromMinute < fault.untilMinute);
    const phase = mergePhases(during);
    return {
      ...phase,
      ...(index === 0 && { config: INITIAL_CONFIG }),
      minutes: untilMinute - fromMinute,
      sampleSeconds: sampleSeconds ?? secondsBetweenPolls(faults, fromMinute, untilMinute),
      begin: () => {
        for (const fault of faults) if (fault.untilMinute === fromMinute) fault.end?.(served);
        served.setChanges(mergeRules(during.map(({ rules = {} }) => rules)));
        for (const fault of faults) if (fault.fromMinute === fromMinute) fault.begin?.(served);
        served.each = during.flatMap(({ each }) => (each === undefined ? [] : [() => each(served)]));
        active = during;
        if (!phase.exporterDown) return;
        hearing.interrupted(hasStateFile);
        isForgotten = !hasStateFile;
      },
    };
  });
  const recording = record(phases, {
    ...options,
    scenario: 'mainnet',
    model: served,
    contract: true,
    valsets: Infinity,
    ...(hasStateFile && { hasStateFile }),
    sampleSeconds: sampleSeconds ?? SPARSE_SECONDS,
    observe: (targets, minute, endpoints) => {
      if (isForgotten) remembersSince = minute;
      isForgotten = false;
      hearing.observe(
        {
          minute,
          nowSeconds: START_SECONDS + minute * 60,
          chain: served,
          faults: active,
          over: faults.filter(({ untilMinute }) => untilMinute <= minute),
          remembersSince,
        },
        targets.flatMap(({ problems }) => problems),
      );
      options.observe?.(targets, minute, endpoints);
    },
  });
  const texts = faults.map(
    ({ kind, text, fromMinute, untilMinute }) => `${kind} (${text}) ${fromMinute}-${untilMinute}`,
  );
  const { heard, falseAlerts } = hearing;
  return {
    seed,
    faults: [...texts, ...(hasStateFile ? [] : ['no state file'])],
    heard,
    falseAlerts,
    recording,
  };
}

/** What the chain does at times of its own. */
function timesOf({ faults }: PlannedDay): Partial<Month> {
  const millis = (minute: number): number => (START_SECONDS + minute * 60) * 1000;
  const halt = faults.find(({ kind }) => kind === 'hub halted');
  const rotation = faults.find(({ kind }) => kind === 'signers change their key');
  return {
    ...(halt && { upgrade: { fromMs: millis(halt.fromMinute), untilMs: millis(halt.untilMinute) } }),
    ...(rotation && { keyRotationMs: millis(rotation.fromMinute) }),
  };
}

/** From one change to the next. */
function segmentsOf(faults: readonly Fault[]): readonly (readonly [from: number, until: number])[] {
  const changes = faults.flatMap(({ fromMinute, untilMinute }) => [fromMinute, untilMinute]);
  const { before, after } = DENSE_MINUTES;
  const around = [-before, 0, after, QUIET_AFTER_MINUTES].flatMap((offset) => changes.map((minute) => minute + offset));
  const all = [0, DAY_MINUTES, ...around].filter((minute) => minute >= 0);
  const minutes = Array.from(new Set(all.filter((minute) => minute <= DAY_MINUTES))).toSorted((a, b) => a - b);
  return minutes.slice(1).map((until, index) => [minutes[index] ?? 0, until]);
}

function secondsBetweenPolls(faults: readonly Fault[], fromMinute: number, untilMinute: number): number {
  const isWithin = (from: number, until: number): boolean => from <= fromMinute && fromMinute < until;
  const { before, after } = DENSE_MINUTES;
  const changes = faults.flatMap((fault) => [fault.fromMinute, fault.untilMinute]);
  if (changes.some((change) => isWithin(change - before, change + after))) return DENSE_SECONDS;
  if (faults.some((fault) => isWithin(fault.fromMinute, fault.untilMinute + QUIET_AFTER_MINUTES)))
    return SPARSE_SECONDS;
  // The next phase begins in time.
  let seconds = QUIET_SECONDS;
  while (((untilMinute - fromMinute) * 60) % seconds !== 0) seconds -= 1;
  return seconds;
}

/** Each fault adds its own. */
function mergeRules(all: readonly Partial<Rules>[]): Partial<Rules> {
  const merged: Record<string, unknown> = {};
  for (const rules of all) {
    for (const [name, value] of Object.entries(rules)) merged[name] = mergeRule(merged[name], value);
  }
  return merged;
}

function mergeRule(a: unknown, b: unknown): unknown {
  if (a instanceof Set && b instanceof Set) return new Set([...a, ...b]);
  if (a instanceof Map && b instanceof Map) return new Map([...a, ...b]);
  // Nothing is sent to a contract that is paused, however many want to.
  return typeof a === 'number' && typeof b === 'number' ? Math.min(a, b) : b;
}

type Outcomes = Pick<Phase, 'bridge' | 'crosschain' | 'contract'>;

/** A poll that fails shows nothing of the others. */
function mergePhases(faults: readonly Fault[]): Omit<Phase, 'minutes'> {
  const phases = faults.flatMap(({ phase }) => phase ?? []);
  const outcomeOf = (name: keyof Outcomes) => {
    const own = phases.flatMap((phase) => phase[name] ?? []);
    return own.find((outcome) => typeof outcome === 'object' && 'fails' in outcome) ?? own.at(-1);
  };
  const merged: Omit<Phase, 'minutes'> = Object.assign({}, ...phases);
  const contract = phases.flatMap(({ contract: own }) => (typeof own === 'object' && !('fails' in own) ? [own] : []));
  const failing = outcomeOf('contract');
  return {
    ...merged,
    ...(phases.some(({ bridge }) => bridge) && { bridge: outcomeOf('bridge') as NonNullable<Phase['bridge']> }),
    ...(contract.length > 0 && {
      contract: Object.assign({}, ...contract, {
        contract: (state: Parameters<NonNullable<(typeof contract)[number]['contract']>>[0]) =>
          Object.assign({}, ...contract.map((own) => own.contract?.(state))),
      }) as NonNullable<Phase['contract']>,
    }),
    ...(typeof failing === 'object' && 'fails' in failing && { contract: failing }),
  };
}
