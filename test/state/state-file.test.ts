import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { clock } from '../support/clock.js';
import { initialState, type EndpointState } from '../../src/engine/endpoint-state.js';
import { formatLines, MEMORY_VERSION, openStateFile, type StateFile } from '../../src/engine/state-file.js';
import { createTempFolder } from '../support/temp-folder.js';
import { waitUntil } from '../support/wait-for.js';

const opened: StateFile[] = [];
const lines: string[] = [];
const log = pino({ base: null }, { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) });

afterEach(async () => {
  vi.useRealTimers();
  for (const stateFile of opened.splice(0)) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await stateFile.close();
  }
  lines.length = 0;
});

async function open(path: string, wallMs?: number): Promise<StateFile> {
  const stateFile = await openStateFile(path, log, wallMs);
  opened.push(stateFile);
  return stateFile;
}

async function close(stateFile: StateFile): Promise<void> {
  opened.splice(opened.indexOf(stateFile), 1);
  await stateFile.close();
}

/** An endpoint that was polled some days ago, with as many characters as it takes to fill a file. */
function endpoint(target: string, daysAgo = 0, characters = 0): EndpointState {
  const at = clock().at - daysAgo * 86_400;
  const state = initialState({ target, document: 'module_state', maxBodyBytes: 1, staleAfterMs: 1 }, at);
  return {
    ...state,
    polls: 1,
    lastPoll: { at, ok: false, phaseSeconds: {}, bodyBytes: undefined },
    problems: {
      remembered: new Map([
        [
          'BridgeHeightStalled critical module_state',
          {
            histories: new Map(),
            unjudged: undefined,
            mark: 'x'.repeat(characters),
          },
        ],
      ]),
    },
  };
}

/** A clock whose seconds pass with the timers of the state file. */
function startTimers() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let { at } = clock();
  return {
    now: () => ({ at, clockOffset: 0 }),
    pass: async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        at += 1;
        vi.advanceTimersByTime(1_000);
        // oxlint-disable-next-line no-await-in-loop -- until it is written
        await waitUntil(() => vi.getTimerCount() === 1);
      }
    },
  };
}

/** What a process writes that ends at once. */
async function write(path: string, endpoints: readonly EndpointState[], now = clock): Promise<void> {
  const stateFile = await open(path);
  stateFile.start(() => endpoints, now);
  await close(stateFile);
}

const fileIn = (folder: string): string => join(folder, 'state.json');
const isKnown = (stateFile: StateFile, target: string): boolean =>
  stateFile.findMemory({ target, document: 'module_state' }) !== undefined;

describe('the state file', () => {
  it('has mode 0600, is JSON with a line per endpoint, and leaves nothing beside it', async () => {
    const { path } = createTempFolder();
    await write(fileIn(path), [endpoint('a', 1), endpoint('b')]);
    expect(statSync(fileIn(path)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(fileIn(path), 'utf8'))).toMatchObject({
      version: MEMORY_VERSION,
      checksum: expect.stringMatching(/^[\da-f]{64}$/),
      state: { endpoints: [{ target: 'a' }, { target: 'b' }] },
    });
    expect(readFileSync(fileIn(path), 'utf8').split('\n')).toHaveLength(7);
    expect(readdirSync(path)).toEqual(['state.json']);
    const next = await open(fileIn(path));
    expect([isKnown(next, 'a'), isKnown(next, 'b'), isKnown(next, 'c')]).toEqual([true, true, false]);
    expect(lines).toEqual([
      `starting with an empty memory: state file ${fileIn(path)} cannot be read: no such file or directory`,
      `read the memory of 2 endpoints from state file ${fileIn(path)}`,
    ]);
  });

  it('keeps the mode when what another process has left has a wider one', async () => {
    const { path } = createTempFolder();
    writeFileSync(join(path, '.state.json.tmp'), 'partial', { mode: 0o666 });
    await write(fileIn(path), [endpoint('a')]);
    expect(statSync(fileIn(path)).mode & 0o777).toBe(0o600);
  });

  it('keeps endpoints that are not configured any more, for 7 days since their last poll', async () => {
    const { path } = createTempFolder();
    await write(fileIn(path), [endpoint('old', 6.9), endpoint('older', 7.1), endpoint('a')]);
    await write(fileIn(path), [endpoint('a')]);
    const next = await open(fileIn(path));
    expect([isKnown(next, 'old'), isKnown(next, 'older'), isKnown(next, 'a')]).toEqual([true, false, true]);
  });

  it('continues the process clock of the previous process, by as much as the wall clock has gone on', async () => {
    const { path } = createTempFolder();
    const [at, clockOffset] = [1_800_000_000, 500];
    await write(fileIn(path), [endpoint('a')], () => ({ at, clockOffset }));
    const startAfter = async (seconds: number) =>
      (await open(fileIn(path), (at + clockOffset + seconds) * 1000)).clockStart;
    expect(await startAfter(60)).toBe(at + 60);
    // The wall clock was set back.
    expect(await startAfter(-3600)).toBe(at);
    expect((await open(`${fileIn(path)}.other`)).clockStart).toBeUndefined();
  });

  it('is not written when it would be larger than 32 MiB, which is a problem', async () => {
    const { path } = createTempFolder();
    await write(fileIn(path), [endpoint('a')]);
    const stateFile = await open(fileIn(path));
    stateFile.start(() => [endpoint('b', 0, 33 * 2 ** 20)], clock);
    await close(stateFile);
    expect(stateFile.problem()).toBe('the state file cannot be written: it would be larger than 32MiB');
    expect(lines.at(-1)).toBe(stateFile.problem());
    const next = await open(fileIn(path));
    expect([isKnown(next, 'a'), isKnown(next, 'b')]).toEqual([true, false]);
  });

  it('is written a second after the start, every 30 s, within a second when a problem begins or ends, and at the end', async () => {
    const { path } = createTempFolder();
    const { now, pass } = startTimers();
    let target = 'a';
    const stateFile = await open(fileIn(path));
    stateFile.start(() => [endpoint(target)], now);
    const written = (name: string): boolean =>
      existsSync(fileIn(path)) && readFileSync(fileIn(path), 'utf8').includes(`"target":"${name}"`);
    expect(written('a')).toBe(false);
    await pass(1);
    expect(written('a')).toBe(true);

    target = 'a2';
    await pass(29);
    expect(written('a2')).toBe(false);
    await pass(1);
    expect(written('a2')).toBe(true);

    target = 'b';
    stateFile.writeSoon();
    stateFile.writeSoon();
    expect(written('b')).toBe(false);
    await pass(1);
    expect(written('b')).toBe(true);
    target = 'c';
    await pass(1);
    expect(written('c')).toBe(false);

    target = 'e';
    await close(stateFile);
    expect(written('e')).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });
});

const VALID = formatLines([], { at: 1, clockOffset: 0 });
const INVALID = 'is not a state file, or was changed by another program';

describe('a state file that cannot be used', () => {
  it.each([
    ['not JSON', '{"version":1,', INVALID],
    [
      'another version',
      VALID.replace(`"version":${MEMORY_VERSION}`, '"version":1'),
      `has version 1, and this program reads version ${MEMORY_VERSION}`,
    ],
    ['a change by somebody else', VALID.replace('"at":1', '"at":2'), INVALID],
    ['nothing in it', '', 'is empty'],
    ['33 MiB', VALID.padEnd(33 * 2 ** 20), 'is larger than 32MiB'],
  ])('because of %s is logged, and replaced', async (_what, text, problem) => {
    const folder = createTempFolder();
    const path = folder.write('state.json', text);
    const stateFile = await open(path);
    expect(lines).toEqual([`starting with an empty memory: state file ${path} ${problem}`]);
    stateFile.start(() => [endpoint('a')], clock);
    await close(stateFile);
    expect(isKnown(await open(path), 'a')).toBe(true);
  });

  it('because its directory is missing is logged, and written when the directory is there', async () => {
    const { path } = createTempFolder();
    const { now, pass } = startTimers();
    const file = join(path, 'no', 'state.json');
    const stateFile = await open(file);
    stateFile.start(() => [endpoint('a')], now);
    await pass(1);
    const failing = `the state file cannot be written: ${join(path, 'no', '.state.json.tmp')}: no such file or directory`;
    expect([lines.at(-1), stateFile.problem()]).toEqual([failing, failing]);
    await pass(30);
    mkdirSync(join(path, 'no'));
    await pass(30);
    expect(lines.filter((line) => line.startsWith('the state file'))).toEqual([
      failing,
      'the state file is written again',
    ]);
    expect(existsSync(file)).toBe(true);
  });

  it('because the disk does not respond is a problem until it is written', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    const { path } = createTempFolder();
    const stateFile = await open(fileIn(path));
    stateFile.start(() => [endpoint('a')], clock);
    vi.advanceTimersByTime(1_000);
    // The write begins, and nothing of it can end in between.
    await Promise.resolve();
    vi.advanceTimersByTime(10_000);
    const problem = 'the state file cannot be written: the disk has not responded for 10s';
    expect(stateFile.problem()).toBe(problem);
    await waitUntil(() => lines.at(-1) === 'the state file is written again');
    expect(lines.at(-2)).toBe(problem);
    expect(stateFile.problem()).toBeUndefined();
  });
});
