import { defaultCrosschainSettings } from '../../src/config/endpoint-config.js';
import type { CctxAnswer } from '../../src/facts/crosschain/crosschain-input.js';
import {
  EMPTY_CROSSCHAIN_FLOW,
  nextQuestions,
  outcomes,
  trackCrosschain,
  type CrosschainFlow,
} from '../../src/flow/crosschain-flow.js';
import type { Model } from '../../src/simulator/model.js';
import { inputOf } from '../support/snapshots.js';
import { modelOf, START_SECONDS, throughScenarios, type WeekOptions } from './through-scenarios.js';

/*
 * What is concluded from the rate limiter inputs of a simulated chain, against the event counts of the chain: all scenarios in turn.
 */

const OPTIONS = { staleAfterMs: 300_000, maxSeries: 200 };

const statuses: Readonly<Record<string, CctxAnswer>> = {
  OutboundMined: 'mined',
  Reverted: 'reverted',
  Aborted: 'aborted',
};

type Counts = ReadonlyMap<string, number>;

/** Finished cctxs by chain and outcome, as in the event counts. */
function countsOf(model: Model): Counts {
  return new Map(
    Array.from(model.counts).flatMap(([key, count]): [string, number][] => {
      const [name, chainId, status = ''] = key.split(' ');
      return name === 'cctxs_finished' ? [[`${chainId} ${statuses[status]}`, Number(count)]] : [];
    }),
  );
}

function countedBy({ chains }: CrosschainFlow): Counts {
  return new Map(
    Array.from(chains).flatMap(([chainId, { counts }]) =>
      outcomes.map((outcome): [string, number] => [`${chainId} ${outcome}`, Number(counts.get(outcome) ?? 0)]),
    ),
  );
}

function perChain(counts: Counts): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [key, count] of counts) {
    const [chainId = ''] = key.split(' ');
    if (count > 0) sums.set(chainId, (sums.get(chainId) ?? 0) + count);
  }
  return sums;
}

function difference(after: Counts, before: Counts): Map<string, number> {
  return new Map(
    Array.from(after, ([key, count]): [string, number] => [key, count - (before.get(key) ?? 0)]).filter(
      ([, count]) => count !== 0,
    ),
  );
}

function poll(model: Model, seconds: number, flow: CrosschainFlow, cctxAnswers?: Answers): CrosschainFlow {
  const at = { at: START_SECONDS + seconds, clockOffset: 0 };
  const input = inputOf('rate_limiter_input', model.rateLimiterInput(), {
    settings: defaultCrosschainSettings,
    at: at.at,
  });
  return trackCrosschain(flow, { ...input, cctxAnswers, cctxsAskedAt: at.at }, OPTIONS);
}

function statusOf(model: Model, index: string): CctxAnswer {
  return statuses[model.cctx(index)?.cctx_status.status ?? ''] ?? 'pending';
}

type Answers = ReadonlyMap<string, CctxAnswer>;

function answersOf(model: Model, flow: CrosschainFlow): Answers {
  return new Map(nextQuestions(flow).map((index): [string, CctxAnswer] => [index, statusOf(model, index)]));
}

/**
 * `different` are intervals in which other transactions were counted than finished. In `short` ones, some were created and finished, which is
 * seen by the next nonce of the chain.
 */
export function week(options: WeekOptions) {
  const model = modelOf(options);
  let flow = poll(model, 0, EMPTY_CROSSCHAIN_FLOW);
  const atStart = countsOf(model);
  let counts = atStart;
  const different: { counted: Counts; expected: Counts }[] = [];
  const above: string[] = [];
  let [polls, gaps, short] = [0, 0, 0];
  for (const seconds of throughScenarios(model, options)) {
    const before = flow;
    const answers = answersOf(model, flow);
    const after = poll(model, seconds, before, answers);
    // An interruption is counted when it begins.
    const isInterrupted = [before, after].some(({ baseline }) => baseline?.hasOnlyMissed !== false);
    const hasGap = isInterrupted || Object.entries(after.gaps).some(([reason, count]) => count !== flow.gaps[reason]);
    const countsAfter = countsOf(model);
    polls += 1;
    if (hasGap) gaps += 1;
    else {
      const counted = departedIn(after, before, answers, seconds, (index) => statusOf(model, index) !== 'pending');
      const expected = perChain(difference(countsAfter, counts));
      const isLess = Array.from(counted).every(([chainId, count]) => count <= (expected.get(chainId) ?? 0));
      if (!isLess) different.push({ counted, expected });
      else if (!isEqual(counted, expected)) short += 1;
    }
    const soFar = difference(countsAfter, atStart);
    for (const [key, count] of countedBy(after)) if (!isWithin(key, count, soFar)) above.push(key);
    flow = after;
    counts = countsAfter;
  }
  const { unseen = 0 } = flow.gaps;
  return { polls, gaps, unseen, short, different, above, total: countedBy(flow), observed: pastOf(flow) };
}

/** The finished ones that have left the lists in the last document, by chain. */
function departedIn(
  after: CrosschainFlow,
  before: CrosschainFlow,
  answers: Answers,
  seconds: number,
  isFinished: (index: string) => boolean,
): Counts {
  const sums = new Map<string, number>();
  const add = (chainId: string, count: number): void => void sums.set(chainId, (sums.get(chainId) ?? 0) + count);
  for (const [index, { chainId, at, isUncounted }] of after.departed) {
    if (at === START_SECONDS + seconds && !isUncounted && isFinished(index)) add(chainId, 1);
  }
  // Those that have waited for too long left in an earlier one.
  const waiting = new Set(
    Array.from(after.departed).flatMap(([index, { isUncounted }]) => (isUncounted ? [] : [index])),
  );
  for (const [index, { chainId, isUncounted }] of before.departed) {
    if (!isUncounted && !waiting.has(index) && !answers.has(index)) add(chainId, -1);
  }
  for (const [key, count] of difference(countedBy(after), countedBy(before))) {
    const [chainId = '', outcome] = key.split(' ');
    if (outcome === 'unknown') add(chainId, count);
  }
  return new Map(Array.from(sums).filter(([, count]) => count !== 0));
}

/** Those of unknown outcome have one in the event counts. */
function isWithin(key: string, count: number, counts: Counts): boolean {
  const [chainId = '', outcome] = key.split(' ');
  return count <= ((outcome === 'unknown' ? perChain(counts).get(chainId) : counts.get(key)) ?? 0);
}

function isEqual(a: Counts, b: Counts): boolean {
  return a.size === b.size && Array.from(a).every(([key, value]) => b.get(key) === value);
}

function pastOf({ chains }: CrosschainFlow): number {
  return Array.from(chains.values(), ({ durations }) => durations.counts)
    .flat()
    .reduce((sum, count) => sum + count, 0);
}

export const sumOf = (counts: Counts, outcome: string): number =>
  Array.from(counts)
    .filter(([key]) => key.endsWith(` ${outcome}`))
    .reduce((sum, [, count]) => sum + count, 0);
