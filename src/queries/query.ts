import { type Field, isValid, type FieldSchema, object, type SchemaValue, string } from '../chain/fields.js';
import type { DocumentName, DocumentTypes, StepContext } from '../document-types.js';
import type { Failure, PollError } from '../http/failure-reasons.js';
import type { Family, FamilyHeader } from '../metrics/family.js';
import { type RenderedFamily, renderFamilies, formatTargetLabels } from '../metrics/text-format.js';
import { HOUR_MS, MINUTE_MS } from '../units.js';
import type { Instant } from '../clock.js';

/*
 * Optional queries of the node of an endpoint, besides the document. They are sent after a successful poll and never
 * affect polls: without an answer, the series of the query are absent, and problems that need it are not judged.
 *
 * A query is declared once, with its requests, the reading of a response, and its families. `node-queries.ts` is the
 * list of all.
 */

/** A query has usually one request, or one for each validator. */
export interface QueryRequest {
  /** Identifies the request and its answer within the query. */
  readonly key: string;
  /** Path and parameters. The key of a further page is appended as `pagination.key`. */
  readonly path: string;
  /** The hub height of the response; by default the newest height. */
  readonly height?: string;
  /** The JSON body of a POST request; by default it is a GET request. */
  readonly json?: string;
}

/** The response to a request. */
export type QueryResult<Value = unknown> =
  | { readonly ok: true; readonly value: Value }
  /** `isRefused`: the path is not served. */
  | (Failure & { readonly isRefused: boolean });

/** A request of a query with its result. */
export interface QueryExchange<Value = unknown> {
  readonly request: QueryRequest;
  /** As in the header of the last page; `undefined` without the header. */
  readonly height: string | undefined;
  readonly result: QueryResult<Value>;
}

/** How a response is read. Its functions are methods, so that readers of all pages and values have one type. */
export interface ResponseReader<Value = unknown, Page = unknown> {
  /** By default 1 MiB. */
  readonly maxBodyBytes?: number;
  readonly schema: FieldSchema<Page>;
  /** The kept part of a page, as plain data. Throws WITHDRAWN if a field is missing or invalid. */
  value(page: NoInfer<Page>): Value;
  /** The key of the next page; `undefined` on the last page, and by default. */
  nextKey?(page: NoInfer<Page>): string | undefined;
  /** Adds a page to the pages before. */
  join?(before: Value, page: Value): Value;
  /** Whether a page is about the requested object; by default always. */
  isAbout?(request: QueryRequest, page: Value): boolean;
}

/** A reader without the type of the JSON. */
export function responseReader<Value, Page>(reader: ResponseReader<Value, Page>): ResponseReader<Value> {
  return reader;
}

/** The field of a response that names the next page (Cosmos SDK). */
export const pagination = object({ next_key: string });

export function nextPageKey(page: { readonly pagination: Field<SchemaValue<typeof pagination>> }): string | undefined {
  const key = isValid(page.pagination) ? page.pagination.next_key : undefined;
  return isValid(key) && key !== '' ? key : undefined;
}

/** A validator of the staking module. */
export interface Operator {
  readonly address: string;
  /** `undefined` for a consensus key that is missing or of another kind than ed25519. */
  readonly consensusAddress: string | undefined;
}

/** The input of requests and families of a query, after a successful poll. */
export type QueryContext<Name extends DocumentName = DocumentName> = {
  [Each in Name]: StepContext<Each> & {
    /** The dialect of the path at which the document was found; `undefined` for a contract. */
    readonly dialect: string | undefined;
    readonly past: DocumentTypes[Each]['past'];
    readonly flow: DocumentTypes[Each]['flow'];
    /** By the data part of their address, from the staking module. */
    readonly operators: ReadonlyMap<string, Operator>;
    /** The queries without stale answers. */
    readonly answers: QueryStates;
  };
}[Name];

export interface QueryInput<Value> {
  readonly request: QueryRequest;
  readonly context: QueryContext;
  readonly value: Value;
}

interface QuerySettings {
  /** The value of the label `query`. */
  readonly name: string;
  /** The least time between two rounds of requests; by default a minute. */
  readonly intervalMs?: number;
  readonly isEnabled: (options: StepContext) => boolean;
  /** Whether the node of the module state is asked about a contract. */
  readonly isSentToHub?: boolean;
  /** Whether the answer is about the node and not about the chain. */
  readonly isOfNode?: boolean;
  /** A path with placeholders such as `{address}`; by dialect, if they differ. */
  readonly path: string | Readonly<Record<string, string>>;
}

interface QueryDeclaration<Value, Page, Kept> extends QuerySettings, ResponseReader<Value, Page> {
  readonly requests?: (context: QueryContext, path: string) => readonly QueryRequest[];
  readonly families?: readonly Family<QueryInput<Value>>[];
  /** What is kept of an answer, by the context of its request; by default its value. */
  readonly keep?: (value: Value, request: QueryRequest, context: QueryContext, height: number | undefined) => Kept;
}

/** A query of the list. */
export interface NodeQuery<Value = unknown, Kept = unknown> extends QuerySettings, ResponseReader<Value> {
  readonly intervalMs: number;
  /** None if the dialect of the endpoint does not have the query. */
  readonly requests: (context: QueryContext) => readonly QueryRequest[];
  readonly families: readonly FamilyHeader[];
  /** What is kept of an answer, and its series. */
  keep(
    value: Value,
    request: QueryRequest,
    context: QueryContext,
    height?: number,
  ): Pick<QueryAnswer, 'renderedFamilies'> & { readonly value: Kept };
  /** The kept answers by the key of their request. */
  readonly getAnswers: (states: QueryStates) => ReadonlyMap<string, Kept>;
  /** The kept answer to the request with this key; by default to the only request. */
  readonly getAnswer: (states: QueryStates, key?: string) => Kept | undefined;
}

export function nodeQuery<Value, Page, Kept = Value>(
  query: QueryDeclaration<Value, Page, Kept>,
): NodeQuery<Value, Kept> {
  const { name, intervalMs = MINUTE_MS, path, families = [] } = query;
  const { requests = (_context, requested) => [{ key: '', path: requested }] } = query;
  // Without `keep`, a value is kept.
  const { keep = (value) => value as unknown as Kept } = query;
  // Each value was returned by `keep` of the same query, so its type is known.
  const keptAnswers = (states: QueryStates) =>
    (states.get(name)?.answers ?? new Map()) as ReadonlyMap<string, { readonly value: Kept }>;
  return {
    ...query,
    intervalMs,
    families,
    requests: (context) => {
      const pathInDialect = typeof path === 'string' ? path : path[context.dialect ?? ''];
      return pathInDialect === undefined ? [] : requests(context, pathInDialect);
    },
    keep: (value, request, context, height) => {
      const labels = formatTargetLabels(context.target, context.targetLabels);
      return {
        value: keep(value, request, context, height),
        renderedFamilies: renderFamilies(families, { request, context, value }, labels, context.maxSeries),
      };
    },
    getAnswers: (states) => new Map(Array.from(keptAnswers(states), ([key, { value }]) => [key, value])),
    getAnswer: (states, key = '') => keptAnswers(states).get(key)?.value,
  };
}

/** Whether `node_queries` of the endpoint is on. */
export function hasNodeQueries({ settings }: StepContext): boolean {
  return settings.node_queries === 'auto';
}

/* The state of a query of an endpoint, and when it is due. */

/** Each round of requests replaces it as a whole. */
export interface QueryState {
  readonly query: NodeQuery;
  /** The start of the last round of requests; `undefined` before the first. */
  readonly roundStartedAt: Instant | undefined;
  /** Whether a request of any round was answered. */
  readonly hasAnswered: boolean;
  /**
   * Successive rounds of a query without any answer in which every request was refused, while the document was served.
   */
  readonly refusedRounds: number;
  /** Successive rounds with a failure. */
  readonly failedRounds: number;
  /** Number of failed requests, without refusals of an unsupported query. */
  readonly failures: number;
  /** The first failure of the last round. */
  readonly failure: PollError | undefined;
  /** The answers by the key of their request. */
  readonly answers: ReadonlyMap<string, QueryAnswer>;
}

interface QueryAnswer {
  /** When it was complete. Each answer to a request has a time of its own. */
  readonly at: Instant;
  /** The hub height of the response; `undefined` without the header. */
  readonly height?: number | undefined;
  /** Successive later responses with a lower height. */
  readonly regressions?: number;
  /** What the query keeps of it. */
  readonly value: unknown;
  readonly renderedFamilies: readonly RenderedFamily[];
}

/** The states of the queries of an endpoint, by name. */
export type QueryStates = ReadonlyMap<string, QueryState>;

export function initialQueryState(query: NodeQuery): QueryState {
  return {
    query,
    roundStartedAt: undefined,
    hasAnswered: false,
    refusedRounds: 0,
    failedRounds: 0,
    failures: 0,
    failure: undefined,
    answers: new Map(),
  };
}

/*
 * A proxy that replaces its backend responds with 404 or 501 to every path. So a query with an earlier answer stays
 * supported, and a query without any answer is unsupported only after successive refusals beside a document that was
 * served.
 */

const REFUSED_ROUNDS = 3;

/**
 * A document or an answer with a lower height than the last one is not used, because the node may be behind others of
 * its load balancer. The third one in a row is accepted: the node was rolled back or replaced. An answer about the node
 * itself, such as its newest block, is accepted at once: it shows that the node is behind.
 */
export const REGRESSIONS_TO_ACCEPT = 3;

/** The most time until a query that has failed is sent again; it is a minute after the first failure, and doubles. */
const MAX_RETRY_MS = 5 * MINUTE_MS;

/** Whether the node does not support the query, as far as refusals prove it. */
export function isUnsupported({ refusedRounds }: QueryState): boolean {
  return refusedRounds >= REFUSED_ROUNDS;
}

/** Whether it is time for the next round. An unsupported query is sent every hour. */
export function isDue(state: QueryState, now: Instant): boolean {
  const { roundStartedAt } = state;
  return roundStartedAt === undefined || (now - roundStartedAt) * 1000 >= waitMs(state);
}

function waitMs(state: QueryState): number {
  const { intervalMs } = state.query;
  if (isUnsupported(state)) return Math.max(intervalMs, HOUR_MS);
  if (state.failedRounds === 0) return intervalMs;
  return Math.min(intervalMs, MAX_RETRY_MS, MINUTE_MS * 2 ** (state.failedRounds - 1));
}

/**
 * The state after a round of requests. An answer stays when its next request fails, until it is stale, and goes when it
 * is not requested any more.
 */
export function afterRound(
  before: QueryState,
  context: QueryContext,
  exchanges: readonly QueryExchange[],
  startedAt: Instant,
  at: Instant,
): QueryState {
  const { query } = before;
  const failed = exchanges.flatMap(({ result }) => (result.ok ? [] : [result]));
  const isAnswered = failed.length < exchanges.length;
  /** The node, or a proxy, does not serve any path of the round. */
  const isRefused = failed.length > 0 && !isAnswered && failed.every((result) => result.isRefused);
  const answers = exchanges.flatMap(({ request, height: header, result }): [string, QueryAnswer][] => {
    const { key } = request;
    const height = readHeight(header);
    const last = before.answers.get(key);
    const isLower = query.isOfNode !== true && height !== undefined && height < (last?.height ?? 0);
    const regressions = (last?.regressions ?? 0) + (isLower ? 1 : 0);
    const isUsed = result.ok && (!isLower || regressions >= REGRESSIONS_TO_ACCEPT);
    if (isUsed) return [[key, { at, height, ...query.keep(result.value, request, context, height) }]];
    return last === undefined ? [] : [[key, { ...last, regressions }]];
  });
  return {
    query,
    roundStartedAt: startedAt,
    hasAnswered: before.hasAnswered || isAnswered,
    refusedRounds: isRefused && !before.hasAnswered ? before.refusedRounds + 1 : 0,
    failedRounds: failed.length === 0 ? 0 : before.failedRounds + 1,
    failures: before.failures + (isRefused && isUnsupported(before) ? 0 : failed.length),
    failure: failed[0]?.error,
    answers: new Map(answers),
  };
}

function readHeight(header: string | undefined): number | undefined {
  return Number(header ?? NaN) || undefined;
}

/** The states at the first poll of another node, without the refusals of the last one and its answers about itself. */
export function forOtherNode(states: QueryStates): QueryStates {
  return mapStates(states, (state) =>
    state.query.isOfNode
      ? { ...initialQueryState(state.query), failures: state.failures }
      : {
          ...state,
          refusedRounds: 0,
          hasAnswered: false,
          ...(isUnsupported(state) && { roundStartedAt: undefined }),
        },
  );
}

function mapStates(states: QueryStates, change: (state: QueryState) => QueryState): QueryStates {
  return new Map(Array.from(states, ([name, state]) => [name, change(state)]));
}

/**
 * The states without stale answers. Between two rounds of a query an answer is not stale: `staleAfterMs`, which is
 * longer than the time between two polls, counts from the end of its interval.
 */
export function withoutStaleAnswers(states: QueryStates, staleAfterMs: number, now: Instant): QueryStates {
  return mapStates(states, (state) => {
    const maxAgeMs = state.query.intervalMs + staleAfterMs;
    const fresh = Array.from(state.answers).filter(([, { at }]) => (now - at) * 1000 <= maxAgeMs);
    return fresh.length === state.answers.size ? state : { ...state, answers: new Map(fresh) };
  });
}

/** The answers that have come since the states before. */
export function newAnswers(states: QueryStates, before: QueryStates | undefined): QueryStates {
  return mapStates(states, (state) => {
    const seen = before?.get(state.query.name)?.answers;
    return {
      ...state,
      answers: new Map(Array.from(state.answers).filter(([key, { at }]) => at !== seen?.get(key)?.at)),
    };
  });
}
