import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../src/problems/verdicts.js';
import type { DocumentName } from '../../src/documents.js';
import { EMPTY_BRIDGE_FLOW } from '../../src/flow/bridge-flow.js';
import { rememberedOf } from '../../src/poll/remembered.js';
import {
  createChain,
  instantAt,
  read,
  startSimulatedProcess,
  written,
  type Chain,
  type SimulatedProcess,
} from './simulated-process.js';

/* What goes on after a restart, as after a gap in the polls, and what begins anew. */

const STEP_MINUTES = 4;

function pollFrom(process: SimulatedProcess, from: number, to: number, step = STEP_MINUTES): void {
  for (let minute = from; minute <= to; minute += step) process.poll(minute);
}

/** Restarted every 20 minutes, until a minute; the last poll is in that minute. */
function pollWithRestarts(chain: Chain, to: number, remembers: boolean): SimulatedProcess {
  let process = startSimulatedProcess(chain, 0);
  for (let started = 0; ; started += 20) {
    pollFrom(process, started, Math.min(started + 16, to));
    if (started + 20 > to) return process;
    const texts = process.end(started + 18);
    process = startSimulatedProcess(chain, started + 19, remembers ? texts : undefined);
  }
}

const summary = (verdicts: readonly Verdict[]): string[] =>
  verdicts.map(
    ({ alert, severity, state, since, mayBeOlder }) =>
      `${state} ${severity} ${alert} since ${((since.epochSeconds - instantAt(0).epochSeconds) / 60).toFixed(1)}${mayBeOlder ? ' or before' : ''}`,
  );

const INCIDENT_MINUTE = 12;

function incident(scenario: 'stuck' | 'no-relayer'): Chain {
  const chain = createChain();
  return {
    ...chain,
    advanceTo: (minute) => {
      chain.advanceTo(minute);
      if (minute === INCIDENT_MINUTE) chain.model.setScenario(scenario);
    },
  };
}

describe('a process that is restarted every 20 minutes during an incident', () => {
  it('has the verdicts of one that is not, since the same times', () => {
    const without = startSimulatedProcess(incident('stuck'), 0);
    pollFrom(without, 0, 76);
    const restarted = pollWithRestarts(incident('stuck'), 76, true);
    expect(summary(restarted.verdicts(76))).toEqual(summary(without.verdicts(76)));
    expect(summary(restarted.verdicts(76)).filter((line) => line.startsWith('firing critical')).length).toBeGreaterThan(
      2,
    );
  });

  it('judges alerts whose range is longer than its own polls, which nothing remembers without a state file', () => {
    // BridgeBacklogStuck requires 45 minutes.
    const firing = (process: SimulatedProcess): boolean =>
      process.verdicts(72).some(({ alert, state }) => alert === 'CrosschainBacklogStuck' && state === 'firing');
    expect(firing(pollWithRestarts(incident('stuck'), 72, true))).toBe(true);
    expect(firing(pollWithRestarts(incident('stuck'), 72, false))).toBe(false);
  });

  it('has verdicts on failing polls since the first one', () => {
    const chain = createChain();
    const fails = (): string => '<html>';
    const first = startSimulatedProcess(chain, 0, undefined, fails);
    pollFrom(first, 0, 8);
    const second = startSimulatedProcess(chain, 11, first.end(10), fails);
    second.poll(12);
    const since = second.verdicts(12).map((verdict) => verdict.since.epochSeconds);
    expect(new Set(since)).toEqual(new Set([instantAt(0).epochSeconds]));
    // What is remembered of a document that no process could read.
    expect(second.end(13).get('module_state')).toContain('"known":null');
  });
});

describe('the first poll after a restart', () => {
  it('has the measured block time', () => {
    const chain = createChain();
    const parameter = (body: string): string => body.replace(/(?<="average_block_time":")\d+/, '2000');
    const first = startSimulatedProcess(chain, 0, undefined, parameter);
    expect((first.poll(0), first.values('bridge_block_time_seconds', 0))).toEqual({ '': 2 });
    pollFrom(first, 4, 20);
    const texts = first.end(21);
    const second = startSimulatedProcess(chain, 22, texts, parameter);
    expect(second.values('bridge_block_time_seconds', 22)).toEqual({});
    second.poll(23);
    expect(second.values('bridge_block_time_seconds', 23)).toEqual({ '': 6 });
  });

  it('keeps the earlier values of what the node is asked for only afterwards', () => {
    const chain = createChain();
    const first = startSimulatedProcess(chain, 0);
    pollFrom(first, 0, 20);
    const second = startSimulatedProcess(chain, 22, first.end(21));
    const earliest = (process: SimulatedProcess): number | undefined => {
      const past = Array.from(process.all()[0]?.memory.history.past ?? []);
      const [, values] = past.find(([key]) => key.includes('bridge_watched_orchestrator_balance_amount')) ?? [];
      return values?.[0]?.at.epochSeconds;
    };
    second.poll(23);
    expect(earliest(second)).toBe(earliest(first));
    second.poll(24);
    expect(earliest(second)).toBe(instantAt(4).epochSeconds);
  });

  it('counts from 0', () => {
    const chain = createChain();
    const counters = ['bridge_transfers_executed_total', 'crosschain_cctxs_finished_total'];
    const hasCounted = (process: SimulatedProcess): boolean[] =>
      counters.map((name) => process.lines(name).some((lines) => /\} [1-9]/.test(lines)));
    const first = startSimulatedProcess(chain, 0);
    pollFrom(first, 0, 20, 1);
    expect(hasCounted(first)).toEqual([true, true]);
    // After a gap, what has left before it would count as unknown.
    const second = startSimulatedProcess(chain, 29, first.end(21));
    second.poll(30);
    expect(hasCounted(second)).toEqual([false, false]);
    // The restart is no gap in what the new process counts.
    const gaps = second.all().flatMap(({ state }) => Object.values(state.success?.snapshot.flow?.gaps ?? {}));
    expect(gaps.filter((count) => count > 0)).toEqual([]);
    pollFrom(second, 31, 39, 1);
    expect(hasCounted(second)).toEqual([true, true]);
  });

  it('remembers the highest ids, so that nothing is counted again of a node that is behind', () => {
    const chain = createChain();
    const first = startSimulatedProcess(chain, 0);
    pollFrom(first, 0, 20);
    const known = read(first.end(21).get('module_state') ?? '', instantAt(22)).known;
    const snapshot = first.all()[0]?.state.success?.snapshot;
    if (known?.document !== 'module_state' || snapshot?.document !== 'module_state') throw new Error('no module state');
    expect(known.flow).toEqual({ ...EMPTY_BRIDGE_FLOW, highest: snapshot.flow.highest });
    expect(known.flow.highest?.transfer).toBeGreaterThan(0);
  });

  it('fails with a height below that of the last one', () => {
    const first = startSimulatedProcess(createChain(), 0);
    pollFrom(first, 0, 20);
    const behind = startSimulatedProcess(createChain(), 22, first.end(21));
    behind.poll(8);
    expect(behind.all().map(({ state }) => state.failure?.error.reason)).toEqual(['regression', 'regression']);
  });
});

const SEARCHED: readonly DocumentName[] = ['module_state', 'rate_limiter_input'];

describe('another bridge', () => {
  it.each([
    [
      'with another contract',
      /"bridge_external_address":"0x[^"]{6}/g,
      (text: string) => text.replace(/0x[^"]{6}/, '0xabcdef'),
      'module_state',
    ],
    ['with another id', /"bridge_id":"[^"]+/g, (text: string) => `${text}-2`, 'module_state'],
    ['with another key of the signers', /"tss_pubkey":"[^"]+/g, (text: string) => `${text}x`, 'rate_limiter_input'],
  ] as const)('%s begins empty, after failed polls, too', (_what, pattern, replace, document) => {
    const chain = incident('stuck');
    const first = startSimulatedProcess(chain, 0);
    pollFrom(first, 0, 60);
    let isFailing = true;
    const changed = (body: string): string => (isFailing ? '<html>' : body.replaceAll(pattern, replace));
    const second = startSimulatedProcess(chain, 62, first.end(61), changed);
    second.poll(63);
    isFailing = false;
    second.poll(64);
    const fresh = startSimulatedProcess(chain, 62, undefined, changed);
    fresh.poll(64);
    const index = SEARCHED.indexOf(document);
    const [own, other] = [second.all()[index], fresh.all()[index]];
    expect(own?.memory).toEqual(other?.memory);
    expect(own?.state.success?.snapshot.observations).toEqual(other?.state.success?.snapshot.observations);
    // The other document is of the same bridge.
    expect(second.all()[1 - index]?.memory.history.firstPollAt?.epochSeconds).toBe(instantAt(0).epochSeconds);
  });

  it('is not one whose document says nothing about it', () => {
    const chain = createChain();
    const first = startSimulatedProcess(chain, 0);
    pollFrom(first, 0, 12);
    const second = startSimulatedProcess(chain, 14, first.end(13), (body) =>
      body.replaceAll('"bridge_id":', '"other":'),
    );
    second.poll(15);
    expect(second.all()[0]?.memory.history.firstPollAt?.epochSeconds).toBe(instantAt(0).epochSeconds);
    // And it is still known after that.
    expect(second.end(16).get('module_state')).toMatch(/"identity":\["0x\w+ \w/);
  });
});

describe('transactions that are pending and no longer listed', () => {
  const UNLISTED = 'crosschain_cctxs_unlisted';
  const sum = (values: Readonly<Record<string, number>>): number => Object.values(values).reduce((a, b) => a + b, 0);

  it('are found when they have left meanwhile, and are there with the first poll after the next restart', () => {
    const chain = createChain();
    const first = startSimulatedProcess(chain, 0);
    pollFrom(first, 0, INCIDENT_MINUTE);
    chain.model.setScenario('unlisted-cctxs');
    pollFrom(first, INCIDENT_MINUTE + 4, 64);
    expect(sum(first.values(UNLISTED, 64))).toBe(0);
    expect(sum(first.values('crosschain_cctxs_missed', 64))).toBe(3);

    const unaware = startSimulatedProcess(chain, 66);
    const second = startSimulatedProcess(chain, 66, first.end(65));
    for (let minute = 68; minute <= 84; minute += STEP_MINUTES) {
      second.poll(minute);
      unaware.poll(minute);
    }
    expect(sum(second.values('crosschain_cctxs_missed', 84))).toBe(0);
    expect(sum(second.values(UNLISTED, 84))).toBe(3);
    expect(sum(unaware.values(UNLISTED, 84))).toBe(0);

    const third = startSimulatedProcess(chain, 87, second.end(86));
    third.poll(88);
    expect(third.values(UNLISTED, 88)).toEqual(second.values(UNLISTED, 84));
    const asked = third.all()[1]?.state.queries.get('cctx')?.answers.size;
    expect(asked).toBe(10);

    // They count for their chain when they finish, also if nothing of it is listed.
    const without = (body: string): string => {
      const document = JSON.parse(body) as { cctxs_pending?: readonly { outbound_params: readonly object[] }[] };
      if (document.cctxs_pending === undefined) return body;
      const listed = document.cctxs_pending.filter(
        ({ outbound_params }) => !JSON.stringify(outbound_params).includes('"8332"'),
      );
      return JSON.stringify({ ...document, cctxs_pending: listed, total_pending: String(listed.length) });
    };
    const fourth = startSimulatedProcess(chain, 87, second.end(86), without);
    fourth.poll(88);
    expect(fourth.lines('crosschain_cctxs_finished_total').join()).toContain('chain_id=\\"8332\\",chain=\\"bitcoin\\"');
  });
});

describe('what is written of an endpoint', () => {
  const chain = createChain();
  const process = startSimulatedProcess(chain, 0);
  pollFrom(process, 0, 40);
  chain.model.setScenario('unlisted-cctxs');
  pollFrom(process, 44, 200);

  /** With whole milliseconds, as they are written. */
  const rounded = (value: unknown): unknown => {
    if (typeof value === 'number') return Math.round(value * 1000) / 1000;
    if (value instanceof Map) return new Map(Array.from(value, ([key, entry]) => [key, rounded(entry)]));
    if (Array.isArray(value)) return value.map(rounded);
    if (typeof value !== 'object' || value === null || value instanceof Set) return value;
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, rounded(entry)]));
  };

  it.each(SEARCHED)('is what was remembered, for %s', (document) => {
    const endpoint = process.all().find(({ state }) => state.document === document);
    const remembered = endpoint && rememberedOf(endpoint);
    if (remembered === undefined) throw new Error('nothing is remembered');
    expect(remembered.memory.history.past.size).toBeGreaterThan(3);
    expect(remembered.memory.presences.data.size).toBeGreaterThan(0);
    const text = written(remembered, instantAt(201));
    expect(rounded(read(text, instantAt(210)))).toEqual(rounded(remembered));
    // Some kilobytes per target.
    expect(text.length).toBeLessThan(200_000);
  });

  it('has all of its times on the clocks of the new process, none of them in the future', () => {
    const [endpoint] = process.all();
    const remembered = endpoint && rememberedOf(endpoint);
    if (remembered === undefined) throw new Error('nothing is remembered');
    const text = written(remembered, instantAt(201));
    const { polledAt, memory } = read(text, instantAt(210, 209));
    expect(instantAt(210, 209).monotonicMs - polledAt.monotonicMs).toBeCloseTo(10 * 60_000);
    expect(memory.history.firstPollAt?.monotonicMs).toBeLessThan(0);
    // The clock was set back by an hour.
    const early = read(text, instantAt(140));
    expect(early.polledAt).toEqual(instantAt(140));
    expect(early.memory.history.firstPollAt).toEqual(instantAt(0));
  });
});
