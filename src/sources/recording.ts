import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Moment } from '../clock.js';
import type { Config } from '../config/config.js';
import { documents } from '../documents.js';
import { createEndpoint, createEngine, type Endpoint } from '../engine/engine.js';
import { endpointId, type EndpointKey, type EndpointState } from '../engine/endpoint-state.js';
import { stepContext, targetOptions } from '../engine/jobs.js';
import type { EndpointJob, Received } from '../engine/source.js';
import { failure } from '../http/failure-reasons.js';
import { decodeRecording, recordedFiles, type RecordedFile, type RecordingHeader } from '../recorder/directory.js';
import { fileErrorText, systemErrorText } from '../text/error-text.js';
import { count } from '../text/format.js';
import { DAY_MS } from '../units.js';

/*
 * A recording as a source: it dictates the polls and their times. Other queries of the node have no recorded answers,
 * so that what needs them is not judged.
 */

/** A recorded poll, or a multiple of the step. */
export interface ReplayMoment {
  readonly timeMs: number;
  readonly now: Moment;
  readonly isStep: boolean;
  /** Of the polled endpoint; at a step, of all endpoints whose values still hold. */
  readonly states: readonly EndpointState[];
}

interface ReplayRange {
  /** Earlier polls are not reported, but are the past of the endpoints. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/** Replays recorded polls in the order of time. */
export async function* replay(
  polls: AsyncIterable<RecordedPoll>,
  config: Config,
  { fromMs, toMs, stepMs }: ReplayRange,
): AsyncGenerator<ReplayMoment> {
  let now: Moment = { at: 0, clockOffset: 0 };
  let received: Received = failure('internal', 'nothing was recorded');
  const engine = createEngine<EndpointJob>({ source: { document: async () => received }, now: () => now });
  let nextStepMs: number | undefined;

  /** Takes the steps before a point in time. */
  function* stepUntil(untilMs: number): Generator<ReplayMoment> {
    for (; nextStepMs !== undefined && nextStepMs < untilMs; nextStepMs += stepMs) {
      now = { at: nextStepMs / 1000, clockOffset: 0 };
      const states = engine.states().flatMap((state) => heldState(state, now));
      if (states.length > 0 && nextStepMs >= fromMs) yield { timeMs: nextStepMs, now, isStep: true, states };
    }
  }

  function endpointFor(key: EndpointKey): Endpoint {
    const known = engine.endpoints().find(({ state }) => endpointId(state) === endpointId(key));
    if (known !== undefined) return known;
    const endpoint = createEndpoint({ context: createContext(key, config) }, now.at);
    engine.replace([...engine.endpoints(), endpoint]);
    return endpoint;
  }

  let lastMs = -Infinity;
  for await (const poll of polls) {
    const { timeMs } = poll;
    yield* stepUntil(timeMs);
    nextStepMs ??= Math.ceil(timeMs / stepMs) * stepMs;
    now = { at: timeMs / 1000, clockOffset: 0 };
    received = createReceived(poll, now);
    const { job } = endpointFor(poll);
    // oxlint-disable-next-line no-await-in-loop -- in the order of time
    await engine.poll(job);
    lastMs = timeMs;
    const states = engine.states().filter((state) => endpointId(state) === endpointId(poll));
    // A step at the same time reports the poll.
    if (timeMs >= fromMs && timeMs !== nextStepMs) yield { timeMs, now, isStep: false, states };
  }
  yield* stepUntil(Math.min(toMs, lastMs + holdMs(config)) + 1);
}

/** How long values hold between two recorded polls: with the default settings, 10 minutes. */
function holdMs({ poll, recorder }: Config): number {
  return poll.stale_after + recorder.interval;
}

/** The state between two recorded polls, as if a poll had the same result now; none if the last one is too old. */
function heldState(state: EndpointState, { at }: Moment): readonly EndpointState[] {
  const { lastPoll, lastSuccess, staleAfterMs } = state;
  if (lastPoll === undefined) return [];
  // Only the first of equal failures is recorded.
  if (!lastPoll.ok) return [{ ...state, lastPoll: { ...lastPoll, at } }];
  if (lastSuccess === undefined || (at - lastPoll.at) * 1000 > staleAfterMs) return [];
  return [{ ...state, lastPoll: { ...lastPoll, at }, lastSuccess: { ...lastSuccess, at } }];
}

function createContext({ target: name, document }: EndpointKey, config: Config) {
  const target = config.targets.find((each) => each.name === name) ?? { name };
  const options = {
    ...targetOptions(config, target),
    staleAfterMs: holdMs(config),
    // Unless every poll is recorded, the polls that would confirm a problem are missing.
    isSinglePoll: config.recorder.interval > 0,
  };
  const { intervalMs } = documents[document].request(target) ?? {};
  return stepContext(options, document, documents[document].recordedSettings(target), intervalMs);
}

function createReceived({ document, header, body: bytes, path: source }: RecordedPoll, { at }: Moment): Received {
  const { outcome, message = '', height, path, call } = header;
  if (outcome !== 'ok') return { ...failure(outcome, message), ...(bytes.length > 0 && { body: bytes }) };
  return {
    ok: true,
    bytes,
    source,
    height,
    receivedAt: at,
    servedPath: documents[document].paths.find((each) => each.path === path),
    ...(call && { additionalInput: { call } }),
    isAccepted: true,
  };
}

/* Reads the recorded polls of all endpoints in the order of time, one file at a time. */

export interface RecordedPoll extends RecordedFile {
  readonly header: RecordingHeader;
  /** Empty for a poll without a body. */
  readonly body: Buffer;
}

interface ReadOptions {
  /** The range in milliseconds since 1970, both ends included. */
  readonly fromMs: number;
  readonly toMs: number;
  /** By default all targets. */
  readonly target?: string | undefined;
  /** A larger body is not read. */
  readonly maxBodyBytes: number;
  /** Called for what cannot be read, and is left out. */
  readonly onProblem: (message: string) => void;
}

const MAX_HEADER_BYTES = 64 * 1024;

/** The default of 16 KiB makes decompression of 1 MB 2.5 ms slower. */
const CHUNK_BYTES = 2 ** 19;

const decompress = promisify(gunzip);

/** Rejects if the directory cannot be listed. */
export async function* readRecording(root: string, options: ReadOptions): AsyncGenerator<RecordedPoll> {
  const { fromMs, toMs, target, maxBodyBytes, onProblem } = options;
  const recorded = await recordedFiles(root).catch((error: unknown) => {
    throw new Error(`${fileErrorText(error)} — expected a directory that the recorder has written`);
  });
  const selected = recorded.filter(
    (file) => file.timeMs >= fromMs && file.timeMs <= toMs && (target === undefined || file.target === target),
  );
  const files = withoutWrongClock(selected, onProblem);
  for (const file of files) {
    // oxlint-disable-next-line no-await-in-loop -- in the order of time
    const read = await readRecordedPoll(root, file, maxBodyBytes);
    if ('problem' in read) onProblem(read.problem);
    else yield read;
  }
}

const MAX_PAUSE_MS = 30 * DAY_MS;
/** A part with a smaller share of the polls of the longest part can be of a wrong clock. */
const MAX_WRONG_SHARE = 0.1;

/**
 * The files, without parts of few polls that are months apart from the others, as of a machine whose clock is set only
 * after its start: a problem in such a part would last for months.
 */
function withoutWrongClock(
  files: readonly RecordedFile[],
  onProblem: ReadOptions['onProblem'],
): readonly RecordedFile[] {
  const parts: RecordedFile[][] = [];
  for (const file of files) {
    const last = parts.at(-1);
    if (last === undefined || file.timeMs - (last.at(-1)?.timeMs ?? 0) > MAX_PAUSE_MS) parts.push([file]);
    else last.push(file);
  }
  const longest = Math.max(...parts.map(({ length }) => length));
  return parts.flatMap((part) => {
    const [{ timeMs, path } = { timeMs: 0, path: '' }] = part;
    if (part.length >= longest * MAX_WRONG_SHARE) return part;
    const polls = `${count(part.length, 'recorded poll')} from ${new Date(timeMs).toISOString()} on (${path})`;
    onProblem(
      `${polls} left out: their time is months from all other polls, probably by a wrong clock; --from and --to select them`,
    );
    return [];
  });
}

async function readRecordedPoll(
  root: string,
  file: RecordedFile,
  maxBodyBytes: number,
): Promise<RecordedPoll | { readonly problem: string }> {
  const path = join(root, file.path);
  try {
    const content = await decompress(await readFile(path), {
      maxOutputLength: maxBodyBytes + MAX_HEADER_BYTES,
      chunkSize: CHUNK_BYTES,
    });
    const { header, body } = decodeRecording(content);
    const { target, document, timeMs } = file;
    if (header.target !== target || header.document !== document || Date.parse(header.time) !== timeMs) {
      throw new Error('the header is that of another target, document or time');
    }
    if (document === 'external_contract' && header.outcome === 'ok' && header.call === undefined) {
      throw new Error('the header has no call, as before the contract was read by Multicall3');
    }
    return { ...file, path, header, body };
  } catch (error) {
    return { problem: `${path}: ${systemErrorText(error)}` };
  }
}
