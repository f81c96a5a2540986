import type { DocumentName, FlowOf, LabelSettings, ObservationsOf, SettingsOf } from '../documents.js';
import type { TargetLabels } from '../config/config.js';
import { failure, type Failure } from '../http/failure-reasons.js';
import { readDocument } from '../chain/document.js';
import type { FieldSchema } from '../chain/fields.js';
import type { Family, FamilyHeader } from '../metrics/family.js';
import { renderFamilies, type FamilyLines } from '../metrics/render-families.js';
import { orUndefined } from '../facts/required-fields.js';
import { formatTargetLabels } from '../metrics/text-format.js';
import { MEBIBYTE, MINUTE_MS } from '../settings/units.js';

/*
 * An optional query of the node of an endpoint, besides the document. Queries are sent after a successful poll, and never affect polls: a
 * node that does not know a path, or does not respond, costs only the series of the query.
 */

/** At most once a minute. */
const DEFAULT_INTERVAL_MS = MINUTE_MS;

const DEFAULT_MAX_BODY_BYTES = MEBIBYTE;

/** More values than a page of any query has. */
const MAX_VALUES = 500_000;

/** What an endpoint is configured to request. */
export type QueryOptions<Name extends DocumentName = DocumentName> = {
  [Each in Name]: {
    readonly document: Each;
    readonly settings: SettingsOf[Each];
    readonly target: string;
    readonly targetLabels?: TargetLabels;
    readonly labels: LabelSettings;
    readonly maxSeries: number;
  };
}[Name];

/** What the queries of an endpoint depend on, after a successful poll. */
export type QueryContext<Name extends DocumentName = DocumentName> = {
  [Each in Name]: QueryOptions<Each> & {
    readonly document: Each;
    /** The dialect of the path at which the document was found. */
    readonly dialect: string;
    /** Of the last document. */
    readonly observations: ObservationsOf[Each];
    /** What happened up to the last document. */
    readonly flow: FlowOf[Each];
    /** Operator addresses by their data part, from the staking module. */
    readonly operators: ReadonlyMap<string, string>;
    /** The answers to all queries that are not stale. */
    readonly answers: QueryAnswers;
  };
}[Name];

/** What is requested at once for a query: usually one path, or one for each validator. */
export interface QueryRequest {
  /** Identifies the request among those of the query. */
  readonly key: string;
  /** Path and parameters. The key of a further page is appended as `pagination.key`. */
  readonly path: string;
}

/** What the families of a query are derived from. */
export interface QueryInput<Value> {
  readonly request: QueryRequest;
  readonly context: QueryContext;
  /** One, unless the query has several pages. */
  readonly pages: readonly Value[];
}

/** A path with placeholders such as `{address}`; by dialect, if they differ. */
type QueryPath = string | Readonly<Record<string, string>>;

interface Declaration<Read, Value> {
  /** The value of the label `query`. */
  readonly name: string;
  /** The least time between two rounds of requests; by default a minute. */
  readonly intervalMs?: number;
  readonly maxBodyBytes?: number;
  readonly isEnabled: (options: QueryOptions) => boolean;
  readonly path: QueryPath;
  /** What is requested; by default the path. */
  readonly requests?: (context: QueryContext, path: string) => readonly QueryRequest[];
  readonly schema: FieldSchema<Read>;
  /** The part of a page that is kept, as plain data. Throws WITHDRAWN if a field is missing or invalid. */
  readonly value: (page: Read) => Value;
  /** The key of the next page; `undefined` on the last one. */
  readonly nextKey?: (page: Value) => string | undefined;
  /** Whether a page is about what was requested; always, by default. */
  readonly isAbout?: (request: QueryRequest, page: Value) => boolean;
  readonly families?: readonly Family<QueryInput<Value>>[];
}

/** A query of any type of values. */
export interface NodeQuery<Value = unknown> extends Required<
  Pick<Declaration<unknown, Value>, 'name' | 'intervalMs' | 'maxBodyBytes' | 'isEnabled' | 'path'>
> {
  /** What is requested; nothing if the query is not known in the dialect of the endpoint. */
  readonly requests: (context: QueryContext) => readonly QueryRequest[];
  /** Whether the pages of a response are about what was requested. */
  readonly isAbout: (request: QueryRequest, pages: readonly unknown[]) => boolean;
  /** Reads one page. Error messages begin with `source`. */
  readonly read: (source: string, body: Buffer) => QueryPage | Failure;
  readonly families: readonly FamilyHeader[];
  /** The series of an answer. */
  readonly render: (request: QueryRequest, context: QueryContext, pages: readonly unknown[]) => FamilyLines[];
  /** The values of an answer. */
  readonly valuesOf: (answers: QueryAnswers) => ReadonlyMap<string, readonly Value[]>;
}

/** One page of a response. */
export interface QueryPage {
  readonly ok: true;
  readonly value: unknown;
  readonly nextKey: string | undefined;
}

/** The pages of each answer by the key of its request, by the name of the query. */
export type QueryAnswers = ReadonlyMap<string, ReadonlyMap<string, readonly unknown[]>>;

/** Declares a query. */
export function nodeQuery<Read, Value>(query: Declaration<Read, Value>): NodeQuery<Value> {
  const { name, intervalMs = DEFAULT_INTERVAL_MS, maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = query;
  const { isEnabled, path, requests = singleRequest, schema, value, nextKey, isAbout, families = [] } = query;
  return {
    name,
    intervalMs,
    maxBodyBytes,
    isEnabled,
    path,
    requests: (context) => {
      const own = typeof path === 'string' ? path : path[context.dialect];
      return own === undefined ? [] : requests(context, own);
    },
    families,
    // The pages are those that `read` has returned.
    isAbout: (request, pages) => isAbout === undefined || pages.every((page) => isAbout(request, page as Value)),
    read: (source, body) => {
      const result = readDocument(schema, body, MAX_VALUES);
      if (!result.ok) return failure(result.reason, `${source}: ${result.message}`);
      const { value: whole } = result;
      const page = orUndefined(() => (whole === undefined ? undefined : value(whole)));
      if (page === undefined) return failure('schema', `${source}: a required field is missing or invalid`);
      return { ok: true, value: page, nextKey: nextKey?.(page) };
    },
    render: (request, context, pages) =>
      renderFamilies(
        families,
        // The pages of an answer are those that `read` of the same query has returned.
        { request, context, pages: pages as readonly Value[] },
        formatTargetLabels(context.target, context.targetLabels),
        context.maxSeries,
      ),
    // As above.
    valuesOf: (answers) => (answers.get(name) ?? new Map()) as ReadonlyMap<string, readonly Value[]>,
  };
}

/** Whether `node_queries` of the endpoint is on. */
export function isOn({ settings }: QueryOptions): boolean {
  return settings.nodeQueries === 'auto';
}

function singleRequest(_context: QueryContext, path: string): readonly QueryRequest[] {
  return [{ key: '', path }];
}
