import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/config/config.js';
import type { RecordedPoll } from '../../src/recorder/read-recording.js';
import { replay } from '../../src/sources/recording.js';
import { createModel } from '../../src/simulator/model.js';
import { MINUTE_MS } from '../../src/units.js';

/* Polls between two recorded ones had the result of the first one. */

const START_MS = Date.parse('2026-11-23T08:00:00Z');
const model = createModel({
  seed: 1,
  scenario: 'stalled-oracle',
  startTime: START_MS / 1000,
  blockTimeMs: 30_000,
});
const { state } = model.moduleState();

function pollAt(minute: number, unbatched: readonly object[]): RecordedPoll {
  const timeMs = START_MS + minute * MINUTE_MS;
  const time = new Date(timeMs).toISOString();
  const received = new Date(timeMs - 100).toISOString();
  return {
    target: 'default',
    document: 'module_state',
    timeMs,
    path: `${minute}.json.gz`,
    header: { version: 1, target: 'default', document: 'module_state', time, received, outcome: 'ok' },
    body: Buffer.from(JSON.stringify({ state: { ...state, unbatched_transfers: unbatched } })),
  };
}

/** Documents are received a moment before the end of their polls. */
const minuteOf = (seconds: number): number => Math.floor((seconds * 1000 + 1000 - START_MS) / MINUTE_MS);

/** In which minute the backlog began to be high, by the minute of the recorded poll, and until when it was found at minute 10. */
async function backlogStarts(
  intervalMs: number,
  empty: readonly number[],
): Promise<Record<string, number | undefined>> {
  const transfers = state.unbatched_transfers;
  const starts: Record<string, number | undefined> = {};
  async function* polls(): AsyncGenerator<RecordedPoll> {
    for (const minute of [0, 5, 10, 15, 20]) yield pollAt(minute, empty.includes(minute) ? [] : transfers);
  }
  const config = { ...defaultConfig, recorder: { ...defaultConfig.recorder, interval: intervalMs } };
  const range = { fromMs: -Infinity, toMs: Infinity, stepMs: MINUTE_MS };
  for await (const { endpoints, isStep, timeMs } of replay(polls(), config, range)) {
    const [endpoint] = endpoints;
    const minute = (timeMs - START_MS) / MINUTE_MS;
    if (!isStep || minute === 0 || minute % 5 > 0 || minute > 20) continue;
    const present = endpoint?.state.lastSuccess?.snapshot.judgement.present ?? [];
    const own = present.find(({ problem }) => problem.name === 'BridgeBacklogHigh');
    starts[minute] = own && minuteOf(own.startSeconds);
    const remembered = endpoint?.state.problems.remembered.get('BridgeBacklogHigh warning module_state');
    const known = remembered?.histories.get('[] ');
    if (minute === 10) starts['foundAt'] = known && minuteOf(known.lastFoundAt);
  }
  return starts;
}

describe('a replay', () => {
  it('keeps a problem that one odd poll did not find, because the polls before it have found it', async () => {
    expect(await backlogStarts(5 * MINUTE_MS, [10])).toEqual({ 5: 0, 10: 0, 15: 0, 20: 0, foundAt: 9 });
  });

  it('ends a problem that two recorded polls did not find', async () => {
    expect(await backlogStarts(5 * MINUTE_MS, [10, 15])).toEqual({
      5: 0,
      10: 0,
      15: undefined,
      20: undefined,
      foundAt: 9,
    });
  });

  it('repeats nothing of a recording that has every poll', async () => {
    expect(await backlogStarts(0, [10])).toEqual({ 5: 0, 10: 0, 15: 0, 20: 0, foundAt: 5 });
  });
});
