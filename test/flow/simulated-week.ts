import { defaultBridgeSettings } from '../../src/config/endpoint-config.js';
import { EMPTY_BRIDGE_FLOW, trackBridge, type BridgeFlow, type TokenCounter } from '../../src/flow/bridge-flow.js';
import { bridgePast, type BridgePast } from '../../src/facts/bridge/bridge-input.js';
import type { Model } from '../../src/simulator/model.js';
import { inputOf } from '../support/snapshots.js';
import { modelOf, START_SECONDS, throughScenarios, type WeekOptions } from './through-scenarios.js';

/*
 * What is concluded from the documents of a simulated chain, against the event counts of the chain: all scenarios in turn, on a busy bridge and on
 * a main network.
 */

const OPTIONS = { staleAfterMs: 300_000, maxSeries: 200 };

export type Counts = ReadonlyMap<string, bigint>;

/** The counters of a flow with the names of the event counts. */
function countersOf({ tokens }: BridgeFlow): Counts {
  const perToken = (name: string, counter: TokenCounter, ...labels: string[]): [string, bigint][] =>
    Array.from(tokens, ([contract, { counts }]) => [
      [name, contract, ...labels].join(' '),
      BigInt(counts.get(counter) ?? 0),
    ]);
  const all: [string, bigint][] = [
    ...perToken('batches_executed', 'batchesExecuted'),
    ...perToken('batches_canceled', 'batchesTimedOut', 'timeout'),
    ...perToken('batches_canceled', 'batchesSuperseded', 'superseded'),
    ...perToken('batches_canceled', 'batchesCanceled', 'unknown'),
    ...perToken('transfers_executed', 'transfersExecuted'),
    ...perToken('transfers_canceled', 'transfersCanceled'),
    ...perToken('withdrawn', 'amountExecuted'),
    ...perToken('deposited', 'amountDeposited'),
  ];
  return new Map(all.filter(([, value]) => value !== 0n));
}

function increments(after: Counts, before: Counts): Counts {
  const entries = Array.from(after, ([key, value]): [string, bigint] => [
    key.toLowerCase(),
    value - (before.get(key) ?? 0n),
  ]);
  return new Map(entries.filter(([, value]) => value !== 0n));
}

/** Those of the bridge. */
function countsOf({ counts }: Model): Counts {
  return new Map(Array.from(counts).filter(([key]) => !key.startsWith('cctxs_')));
}

/** The only lists that the flow reads, so that a week takes seconds. */
function documentOf(model: Model): object {
  const { state } = model.moduleState();
  return { state: { ...state, valsets: [], valset_confirms: [], batch_confirms: [] } };
}

interface Polled {
  readonly flow: BridgeFlow;
  readonly past: BridgePast | undefined;
}

function poll(model: Model, seconds: number, { flow, past }: Polled): Polled {
  const at = { at: START_SECONDS + seconds, clockOffset: 0 };
  const height = BigInt(model.height);
  const input = inputOf('module_state', documentOf(model), {
    settings: defaultBridgeSettings,
    height,
    at: at.at,
    past,
  });
  return { flow: trackBridge(flow, input, OPTIONS), past: bridgePast(input) };
}

/** `different` are intervals without a gap whose counters differ from the event counts; `above`, counters of an interval that are above them. */
export function week(options: WeekOptions) {
  const model = modelOf(options);
  let { flow, past } = poll(model, 0, { flow: EMPTY_BRIDGE_FLOW, past: undefined });
  let [counts, counters] = [countsOf(model), countersOf(flow)];
  const different: { counted: Counts; expected: Counts }[] = [];
  const above: string[] = [];
  let [polls, gaps] = [0, 0];
  for (const seconds of throughScenarios(model, options)) {
    const { flow: after, past: pastAfter } = poll(model, seconds, { flow, past });
    const hasGap = Object.entries(after.gaps).some(([reason, count]) => count !== flow.gaps[reason]);
    const [countsAfter, countersAfter] = [countsOf(model), countersOf(after)];
    const [counted, expected] = [increments(countersAfter, counters), increments(countsAfter, counts)];
    polls += 1;
    if (hasGap) gaps += 1;
    else if (!isEqual(comparable(counted), comparable(expected))) different.push({ counted, expected });
    above.push(...keysAbove(counted, expected));
    [flow, past] = [after, pastAfter];
    [counts, counters] = [countsAfter, countersAfter];
  }
  return { polls, gaps, different, above, total: counters };
}

/** A cancellation of unknown reason is one of the others in the event counts. */
function keysAbove(counted: Counts, expected: Counts): string[] {
  const withTotals = (counts: Counts): Counts => {
    const all = new Map(counts);
    for (const [key, value] of counts) {
      const [name, token = '', reason] = key.split(' ');
      if (reason === undefined || name === 'events') continue;
      const total = `all ${name} ${token}`;
      all.set(total, (all.get(total) ?? 0n) + value);
    }
    return all;
  };
  const [own, others] = [withTotals(counted), withTotals(expected)];
  return Array.from(own).flatMap(([key, value]) =>
    !key.endsWith(' unknown') && value > (others.get(key) ?? 0n) ? [key] : [],
  );
}

/** Events that are known without their claims are of type unseen, and the reason of a cancellation can be unknown. */
function comparable(counts: Counts): Counts {
  const sums = new Map<string, bigint>();
  for (const [key, value] of counts) {
    if (/^events (?!deposit)/.test(key)) continue;
    const name = key.replace(/^(batches_canceled \S+) .*/, '$1');
    sums.set(name, (sums.get(name) ?? 0n) + value);
  }
  return sums;
}

function isEqual(a: Counts, b: Counts): boolean {
  return a.size === b.size && Array.from(a).every(([key, value]) => b.get(key) === value);
}

export const hasCounted = (total: Counts, name: string): boolean =>
  Array.from(total.keys()).some((key) => key.startsWith(name));
