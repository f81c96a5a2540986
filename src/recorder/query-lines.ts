import { createHash } from 'node:crypto';
import * as z from 'zod';
import { isoTime, wallSeconds } from '../clock.js';
import type { AnsweredRound } from '../engine/engine.js';
import { groupBy } from '../facts/grouping.js';
import { failure, failureReasonNames } from '../http/failure-reasons.js';
import { nodeQueries } from '../queries/node-queries.js';
import type { NodeQuery, QueryResult } from '../queries/query.js';
import { tryParseJson } from '../text/error-text.js';
import { createPageReader, type QueryExchange } from '../queries/send-query.js';
import { NOT_AN_OBJECT } from './recording-file.js';

/*
 * The answers to queries in a recording: `HHMMSS.mmmZ.queries.jsonl.gz` beside a document, with a line of JSON for each
 * page of a response, and for each failure. docs/backtesting.md describes the format, because other programs can write
 * such files too.
 */

const line = z.object(
  {
    /** When all requests of the query were answered. Lines of a query with the same time are a round. */
    time: z.iso.datetime(),
    query: z.string(),
    /** Identifies the request within the query; empty if it has only one. */
    key: z.string(),
    path: z.string(),
    /** As in the response header; absent without the header. */
    height: z.string().optional(),
    status: z.literal(200).optional(),
    body: z.string().optional(),
    /** Instead of a body that equals the last one of the path, in an earlier line of the same UTC day. */
    same: z.literal(true).optional(),
    /** Instead of a response. */
    reason: z.enum(failureReasonNames).optional(),
    /** Whether the node does not serve the path. */
    refused: z.literal(true).optional(),
    /** Seconds of the process clock at `time`, and when the requests were sent. With them, a replay is exact. */
    clock: z.number().optional(),
    asked: z.number().optional(),
  },
  NOT_AN_OBJECT,
);

type QueryLine = z.output<typeof line>;

/** The last bodies of the paths of an endpoint, within a UTC day. */
export interface LastBodies {
  readonly day: string;
  readonly byPath: Map<string, string>;
}

function selectLastBodies(day: string, before: LastBodies | undefined): LastBodies {
  return before?.day === day ? before : { day, byPath: new Map() };
}

/** The lines of a round by request. `before` has hashes of bodies. */
export function createLines({ after, exchanges, startedAt, now }: AnsweredRound, before: LastBodies | undefined) {
  const time = isoTime(wallSeconds(now.at, now));
  const last = selectLastBodies(time.slice(0, 10), before);
  const fields = { time, query: after.query.name };
  const clocks = { clock: now.at, asked: startedAt };
  const lines = exchanges.map(({ request: { key, path: requested }, pages, result }) => {
    const pageLines = pages.map(({ path, height, bytes }): QueryLine => {
      const hash = createHash('sha256').update(bytes).digest('base64');
      const isSame = last.byPath.get(path) === hash;
      last.byPath.set(path, hash);
      const content = isSame ? ({ same: true } as const) : { body: bytes.toString() };
      return { ...fields, key, path, ...(height !== undefined && { height }), status: 200, ...content, ...clocks };
    });
    const refused = !result.ok && result.isRefused ? ({ refused: true } as const) : {};
    const failed = result.ok
      ? []
      : [{ ...fields, key, path: requested, reason: result.error.reason, ...refused, ...clocks }];
    return [key, [...pageLines, ...failed].map((each) => `${JSON.stringify(each)}\n`).join('')] as const;
  });
  return { lines, last };
}

/** A round of a query in a recording. */
export interface RecordedRound {
  readonly query: NodeQuery;
  readonly exchanges: readonly QueryExchange[];
  readonly timeMs: number;
  readonly clockSeconds: number | undefined;
  readonly askedSeconds: number | undefined;
}

/** The rounds of a file, without those of unknown queries. Throws if a line is not valid. `before` has bodies. */
export function roundsIn(text: string, before: LastBodies | undefined) {
  const rounds: RecordedRound[] = [];
  let last = before;
  const parsed = text
    .split('\n')
    .filter((each) => each !== '')
    .map((each, index) => {
      const { data, error } = line.safeParse(tryParseJson(each));
      if (data === undefined) throw new Error(`line ${index + 1}: ${error.issues[0]?.message}`);
      return data;
    });
  for (const [, lines] of groupBy(parsed, ({ time, query }) => `${time} ${query}`)) {
    const [{ time, query: name, clock, asked }] = lines as [QueryLine, ...QueryLine[]];
    last = selectLastBodies(time.slice(0, 10), last);
    const query = nodeQueries.find((each) => each.name === name);
    if (query === undefined) continue;
    const { byPath } = last;
    const exchanges = Array.from(groupBy(lines, ({ key }) => key).values(), (keyLines) =>
      readExchange(query, keyLines, byPath),
    );
    rounds.push({ query, exchanges, timeMs: Date.parse(time), clockSeconds: clock, askedSeconds: asked });
  }
  return { rounds, last };
}

/** A page that is the same as one in a file that was deleted cannot be read. */
const NO_BODY: QueryResult = { ...failure('internal', 'the recording lacks the body'), isRefused: false };

function readExchange(query: NodeQuery, lines: readonly QueryLine[], bodies: Map<string, string>): QueryExchange {
  const [{ key, path }] = lines as [QueryLine, ...QueryLine[]];
  const request = { key, path };
  const readPage = createPageReader(query, request, path);
  let result: QueryResult = NO_BODY;
  for (const { path: pagePath, height, body, reason, refused } of lines) {
    if (reason !== undefined) {
      result = { ...failure(reason, path), isRefused: refused === true };
      continue;
    }
    const text = body ?? bodies.get(pagePath);
    if (text === undefined) return { request, pages: [], result: NO_BODY };
    bodies.set(pagePath, text);
    const read = readPage({ path: pagePath, height, bytes: Buffer.from(text) });
    if (typeof read !== 'string') result = read;
  }
  return { request, pages: [], result };
}
