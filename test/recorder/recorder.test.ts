import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { clock } from '../support/clock.js';
import { isoTime, type Moment } from '../../src/clock.js';
import { initialState, type EndpointState } from '../../src/engine/endpoint-state.js';
import {
  createRecorder,
  createWriter,
  type Recorder,
  selectPoll,
  type RecordingMemory,
} from '../../src/recorder/recorder.js';
import { failedFetch } from '../support/polls.js';
import { bridgeContext } from '../support/snapshots.js';
import { createTempFolder, filesBelow } from '../support/temp-folder.js';
import { waitUntil } from '../support/wait-for.js';
import { step } from '../support/steps.js';

const MINUTE = 60_000;

type Outcome = Parameters<typeof selectPoll>[1];
/** A condition of the target begins in a poll that ends with `!`. */
type Poll = Outcome | 'ok!';

/** The minutes of the selected polls of an endpoint that is polled every minute. */
function selected(polls: readonly Poll[], intervalMs: number): number[] {
  let memory: RecordingMemory = { target: 'a' };
  return polls.flatMap((poll, minute) => {
    const before = poll === 'ok!' ? { ...memory, hasNewProblem: true } : memory;
    const result = selectPoll(before, poll === 'ok!' ? 'ok' : poll, minute * MINUTE, intervalMs);
    ({ memory } = result);
    return result.isSelected ? [minute] : [];
  });
}

const repeat = (poll: Poll, count: number): Poll[] => Array.from({ length: count }, () => poll);

describe('the selection of polls to record', () => {
  it('has at most one successful poll per interval', () => {
    expect(selected(repeat('ok', 12), 5 * MINUTE)).toEqual([0, 5, 10]);
  });

  it('has every poll without an interval, also equal failures', () => {
    const polls: Poll[] = ['ok', 'ok', 'timeout', 'timeout', 'schema', 'schema', 'ok'];
    expect(selected(polls, 0)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('has the first poll after a condition of the target began or ended, and counts the interval from it', () => {
    expect(selected([...repeat('ok', 3), 'ok!', ...repeat('ok', 6)], 5 * MINUTE)).toEqual([0, 3, 8]);
  });

  it('keeps a change of the conditions until the next successful poll', () => {
    const changed = selectPoll(
      { target: 'a', outcome: 'ok', okAtMs: 0, hasNewProblem: true },
      'timeout',
      MINUTE,
      60 * MINUTE,
    );
    expect(changed.memory.hasNewProblem).toBe(true);
    expect(selectPoll({ ...changed.memory, outcome: 'ok' }, 'ok', 2 * MINUTE, 60 * MINUTE).isSelected).toBe(true);
  });

  it('has the first of equal failures, and their end', () => {
    const polls: Poll[] = ['ok', ...repeat('timeout', 30), ...repeat('connect', 30), 'ok', 'ok'];
    expect(selected(polls, 5 * MINUTE)).toEqual([0, 1, 31, 61]);
  });

  it('has failures with a body once per interval', () => {
    expect(selected(['ok', ...repeat('not_json', 12)], 5 * MINUTE)).toEqual([0, 1, 6, 11]);
    expect(selected(['ok', ...repeat('regression', 2), 'ok'], 5 * MINUTE)).toEqual([0, 1, 3]);
  });
});

const at = (second: number): Moment => ({ at: 1_790_000_000 + second, clockOffset: 0 });
const added = initialState(bridgeContext(), at(0).at);

/** The state after a poll that has failed. */
function stateAt(second: number): EndpointState {
  const failed = { outcome: failedFetch('timeout', '/x: slow'), phaseSeconds: {} };
  if (failed.outcome.ok) throw new Error('failed');
  return step(added, { ...failed, outcome: failed.outcome }, bridgeContext(), at(second));
}

const record = (recorder: Recorder, after: EndpointState): void =>
  recorder.polled?.({ before: added, after, received: failedFetch('timeout', ''), isReprocessed: false });

describe('a recorder with another configuration', () => {
  const SETTINGS = { interval: 0, max_size: 2 ** 30 };
  const log = pino({ level: 'silent' });

  it('fails when the disk does not respond, before polls wait for it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { path: directory } = createTempFolder();
    const writer = createWriter(log);
    writer.open({ ...SETTINGS, directory });
    // The directory is opened, and none of it can end in between.
    await Promise.resolve();
    vi.advanceTimersByTime(60_000);
    expect(writer.status().failure).toBe(`the disk has not responded for 1m`);
    await writer.close();
    expect(writer.status()).toMatchObject({ failed: 0, failure: undefined });
    vi.useRealTimers();
  });

  it('creates its directory, also with the folders above it', async () => {
    const { path } = createTempFolder();
    const recorder = createRecorder(log, clock);
    recorder.configure({ ...SETTINGS, directory: join(path, 'a', 'b') });
    await waitUntil(() => recorder.status()?.bytes !== undefined);
    expect(recorder.status()?.failure).toBeUndefined();
    await recorder.close();
  });

  it('writes and counts also what has waited for the directory before', async () => {
    const [{ path: first }, { path: second }] = [createTempFolder(), createTempFolder()];
    const recorder = createRecorder(log, clock);
    const directories = [first, second, first];
    for (const [index, directory] of directories.entries()) {
      recorder.configure({ ...SETTINGS, directory, max_size: 2 ** 30 + index });
      for (let poll = 0; poll < 20; poll += 1) record(recorder, stateAt(index * 20 + poll));
    }
    await waitUntil(() => recorder.status()?.recorded === 60);
    await recorder.close();
    expect(filesBelow(first)).toHaveLength(40);
    expect(filesBelow(second)).toHaveLength(20);
  });

  it('writes the next of equal failures when the first one could not be written', async () => {
    const { path: directory } = createTempFolder();
    const recorder = createRecorder(log, clock);
    recorder.configure({ ...SETTINGS, interval: 3_600_000, directory });
    await waitUntil(() => recorder.status()?.bytes !== undefined);
    rmSync(directory, { recursive: true });
    record(recorder, stateAt(1));
    await waitUntil(() => recorder.status()?.failed === 1);
    mkdirSync(directory);
    for (const second of [2, 3]) record(recorder, stateAt(second));
    await recorder.close();
    expect(filesBelow(directory)).toHaveLength(1);
  });

  it('forgets the polls of endpoints that are removed', () => {
    const recorded: string[] = [];
    const recorder = createRecorder(log, () => at(20), {
      open: () => undefined,
      write: async (_settings, { time }) => void recorded.push(time),
      status: () => ({ recorded: 0, failed: 0, bytes: undefined, failure: undefined }),
      close: async () => undefined,
    });
    recorder.configure({ ...SETTINGS, interval: 60_000, directory: '/recordings' });
    record(recorder, stateAt(1));
    record(recorder, stateAt(2));
    recorder.forgetOthers([stateAt(2)]);
    record(recorder, stateAt(3));
    recorder.forgetOthers([]);
    record(recorder, stateAt(4));
    expect(recorded).toEqual([1, 4].map((second) => isoTime(at(second).at)));
  });
});
