import { readDocument, unreadable, type UnreadableDocument } from '../chain/document.js';
import { isValid, type Field } from '../chain/field.js';
import { object, string, type FieldSchema, type ValueOf } from '../chain/fields.js';
import type { DocumentName, DocumentTypes, StepContext } from '../document-types.js';
import { orUndefined } from '../facts/required-fields.js';
import type { Failure } from '../http/failure-reasons.js';
import type { Family, FamilyHeader } from '../metrics/family.js';
import { renderFamilies, type FamilyLines } from '../metrics/render-families.js';
import { formatTargetLabels } from '../metrics/text-format.js';
import { MEBIBYTE, MINUTE_MS } from '../units.js';
import type { QueryStates } from './query-state.js';

/*
 * An optional query of the node of an endpoint, besides the document. Queries are sent after a successful poll, and never affect polls: a
 * node that does not know a path, or does not respond, costs only the series of the query.
 */

const DEFAULT_MAX_BODY_BYTES = MEBIBYTE;

/** More values than a page of any query has. */
const MAX_VALUES = 500_000;

/** What is requested at once for a query: usually one path, or one for each validator. */
export interface QueryRequest {
  /** Identifies the request among those of the query. */
  readonly key: string;
  /** Path and parameters. The key of a further page is appended as `pagination.key`. */
  readonly path: string;
  /** The height of the hub at which the node responds; by default the newest one. */
  readonly height?: string;
}

/** How the response to a request is read. */
export interface ResponseReader<Value> {
  readonly maxBodyBytes: number;
  /** Reads one page. The message of a failure does not name the node. */
  readonly read: (body: Buffer, request: QueryRequest) => QueryPage<Value> | UnreadableDocument;
  /** Adds a further page to those before. A method, so that readers of all values have one type. */
  join(before: Value, page: Value): Value;
}

/** One page of a response. */
interface QueryPage<Value> {
  readonly ok: true;
  readonly value: Value;
  /** `undefined` on the last page. */
  readonly nextKey: string | undefined;
}

/** The response to a request. */
export type QueryResult<Value = unknown> =
  | { readonly ok: true; readonly value: Value }
  /** `isRefused`: the path is not served. */
  | (Failure & { readonly isRefused: boolean });

interface ResponseDeclaration<Read, Value> {
  readonly maxBodyBytes?: number;
  readonly schema: FieldSchema<Read>;
  /** The part of a page that is kept, as plain data. Throws WITHDRAWN if a field is missing or invalid. */
  readonly value: (page: Read) => Value;
  /** The key of the next page; `undefined` on the last one, and by default. */
  readonly nextKey?: (page: Read) => string | undefined;
  /** Necessary for a response of several pages. */
  readonly join?: (before: Value, page: Value) => Value;
  /** Whether a page is about what was requested; always, by default. */
  readonly isAbout?: (request: QueryRequest, page: Value) => boolean;
}

export function responseReader<Read, Value>({
  maxBodyBytes = DEFAULT_MAX_BODY_BYTES,
  schema,
  value,
  nextKey,
  join = (before) => before,
  isAbout = () => true,
}: ResponseDeclaration<Read, Value>): ResponseReader<Value> {
  return {
    maxBodyBytes,
    join,
    read: (body, request) => {
      const result = readDocument(schema, body, MAX_VALUES);
      if (!result.ok) return result;
      const { value: whole } = result;
      const page = orUndefined(() => (whole === undefined ? undefined : value(whole)));
      if (whole === undefined || page === undefined)
        return unreadable('schema', 'a required field is missing or invalid');
      if (!isAbout(request, page)) return unreadable('schema', 'the response is about something else');
      return { ok: true, value: page, nextKey: nextKey?.(whole) };
    },
  };
}

/** The field of a response that names the next page (Cosmos SDK). */
export const pagination = object({ next_key: string });

export function nextKeyOf(page: { readonly pagination: Field<ValueOf<typeof pagination>> }): string | undefined {
  const key = isValid(page.pagination) ? page.pagination.next_key : undefined;
  return isValid(key) && key !== '' ? key : undefined;
}

/** What the queries of an endpoint depend on, after a successful poll. */
export type QueryContext<Name extends DocumentName = DocumentName> = {
  [Each in Name]: StepContext<Each> & {
    /** The dialect of the path at which the document was found. */
    readonly dialect: string;
    /** What is remembered of the last document. */
    readonly past: DocumentTypes[Each]['past'];
    /** What happened up to the last document. */
    readonly flow: DocumentTypes[Each]['flow'];
    /** Operator addresses by their data part, from the staking module. */
    readonly operators: ReadonlyMap<string, string>;
    /** The queries with the answers that are not stale. */
    readonly answered: QueryStates;
  };
}[Name];

/** What the families of a query are derived from. */
export interface QueryInput<Value> {
  readonly request: QueryRequest;
  readonly context: QueryContext;
  readonly value: Value;
}

interface Declaration<Read, Value> extends ResponseDeclaration<Read, Value> {
  /** The value of the label `query`. */
  readonly name: string;
  /** The least time between two rounds of requests; by default a minute. */
  readonly intervalMs?: number;
  readonly isEnabled: (options: StepContext) => boolean;
  /** A path with placeholders such as `{address}`; by dialect, if they differ. */
  readonly path: string | Readonly<Record<string, string>>;
  /** What is requested; by default the path. */
  readonly requests?: (context: QueryContext, path: string) => readonly QueryRequest[];
  readonly families?: readonly Family<QueryInput<Value>>[];
}

/** A query of any type of values. */
export interface NodeQuery<Value = unknown>
  extends
    ResponseReader<Value>,
    Required<Pick<Declaration<unknown, Value>, 'name' | 'intervalMs' | 'isEnabled' | 'path'>> {
  /** What is requested; nothing if the query is not known in the dialect of the endpoint. */
  readonly requests: (context: QueryContext) => readonly QueryRequest[];
  readonly families: readonly FamilyHeader[];
  /** The series of an answer. */
  render(request: QueryRequest, context: QueryContext, value: Value): FamilyLines[];
  /** The answers by the key of their request. */
  readonly valuesOf: (states: QueryStates) => ReadonlyMap<string, Value>;
}

/** Declares a query. */
export function nodeQuery<Read, Value>(query: Declaration<Read, Value>): NodeQuery<Value> {
  const { name, intervalMs = MINUTE_MS, isEnabled, path, requests = singleRequest, families = [] } = query;
  return {
    ...responseReader(query),
    name,
    intervalMs,
    isEnabled,
    path,
    requests: (context) => {
      const ofDialect = typeof path === 'string' ? path : path[context.dialect];
      return ofDialect === undefined ? [] : requests(context, ofDialect);
    },
    families,
    render: (request, context, value) =>
      renderFamilies(
        families,
        { request, context, value },
        formatTargetLabels(context.target, context.targetLabels),
        context.maxSeries,
      ),
    valuesOf: (states) =>
      // The value of an answer is what `read` of the same query has returned.
      new Map(Array.from(states.get(name)?.answers ?? [], ([key, { value }]) => [key, value as Value])),
  };
}

/** Whether `node_queries` of the endpoint is on. */
export function isOn({ settings }: StepContext): boolean {
  return settings.node_queries === 'auto';
}

function singleRequest(_context: QueryContext, path: string): readonly QueryRequest[] {
  return [{ key: '', path }];
}
