import { readDocument, unreadable, type UnreadableDocument } from '../chain/document.js';
import { isValid, type Field } from '../chain/field.js';
import { object, string, type FieldSchema, type ValueOf } from '../chain/fields.js';
import type { DocumentName, DocumentTypes, StepContext } from '../document-types.js';
import { orUndefined } from '../facts/required-fields.js';
import type { Failure } from '../http/failure-reasons.js';
import type { Family, FamilyHeader } from '../metrics/family.js';
import { renderFamilies, type RenderedFamily } from '../metrics/render-families.js';
import { formatTargetLabels } from '../metrics/text-format.js';
import { MEBIBYTE, MINUTE_MS } from '../units.js';
import type { QueryStates } from './query-state.js';
import type { Validators } from './validators.js';

/*
 * Optional queries of the node of an endpoint, besides the document. They are sent after a successful poll and never affect polls: without a response,
 * only the series of the query are absent.
 *
 * A query is declared with its requests, the reading of a response, and its families (`QueryDeclaration`). `nodeQuery` makes functions of it
 * (`NodeQuery`), without the type of the JSON. Both extend the reading of a response (`ResponseDeclaration`, `ResponseReader`), which requests of the
 * contract poll use alone.
 */

const DEFAULT_MAX_BODY_BYTES = MEBIBYTE;

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

export interface ResponseReader<Value> {
  readonly maxBodyBytes: number;
  /** Reads one page, with the key of the next one. The message of a failure does not name the node. */
  readonly read: (
    body: Buffer,
    request: QueryRequest,
  ) => { readonly ok: true; readonly value: Value; readonly nextKey: string | undefined } | UnreadableDocument;
  /** Adds a page to the pages before. A method, so that readers of all values have one type. */
  join(before: Value, page: Value): Value;
}

/** The response to a request. */
export type QueryResult<Value = unknown> =
  | { readonly ok: true; readonly value: Value }
  /** `isRefused`: the path is not served. */
  | (Failure & { readonly isRefused: boolean });

interface ResponseDeclaration<Read, Value> {
  readonly maxBodyBytes?: number;
  readonly schema: FieldSchema<Read>;
  /** The kept part of a page, as plain data. Throws WITHDRAWN if a field is missing or invalid. */
  readonly value: (page: Read) => Value;
  /** The key of the next page; `undefined` on the last page, and by default. */
  readonly nextKey?: (page: Read) => string | undefined;
  /** Necessary for a response of several pages. */
  readonly join?: (before: Value, page: Value) => Value;
  /** Whether a page is about the requested object; by default always. */
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
      const result = readDocument(schema, body);
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

/** The input of requests and families of a query, after a successful poll. */
export type QueryContext<Name extends DocumentName = DocumentName> = {
  [Each in Name]: StepContext<Each> & {
    /** The dialect of the path at which the document was found; `undefined` for a contract. */
    readonly dialect: string | undefined;
    readonly past: DocumentTypes[Each]['past'];
    readonly flow: DocumentTypes[Each]['flow'];
    /** By the data part of their address, from the staking module. */
    readonly operators: Validators['operators'];
    /** The queries without stale answers. */
    readonly answers: QueryStates;
  };
}[Name];

/** The input of the families of a query. */
export interface QueryInput<Value> {
  readonly request: QueryRequest;
  readonly context: QueryContext;
  readonly value: Value;
}

interface QueryDeclaration<Read, Value, Kept> extends ResponseDeclaration<Read, Value> {
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
  /** By default a request of the path. */
  readonly requests?: (context: QueryContext, path: string) => readonly QueryRequest[];
  readonly families?: readonly Family<QueryInput<Value>>[];
  /** What is kept of an answer, by the context of its request; by default its value. */
  readonly keep?: (value: Value, request: QueryRequest, context: QueryContext) => Kept;
}

export interface NodeQuery<Value = unknown, Kept = unknown>
  extends
    ResponseReader<Value>,
    Required<
      Pick<
        QueryDeclaration<unknown, Value, Kept>,
        'name' | 'intervalMs' | 'isEnabled' | 'isSentToHub' | 'isOfNode' | 'path'
      >
    > {
  /** None if the dialect of the endpoint does not have the query. */
  readonly requests: (context: QueryContext) => readonly QueryRequest[];
  readonly families: readonly FamilyHeader[];
  /** The series of an answer. */
  render(request: QueryRequest, context: QueryContext, value: Value): RenderedFamily[];
  keep(value: Value, request: QueryRequest, context: QueryContext): Kept;
  /** The kept answers by the key of their request. */
  readonly valuesOf: (states: QueryStates) => ReadonlyMap<string, Kept>;
}

export function nodeQuery<Read, Value, Kept = Value>(
  query: QueryDeclaration<Read, Value, Kept>,
): NodeQuery<Value, Kept> {
  const { name, intervalMs = MINUTE_MS, isEnabled, isSentToHub = false, isOfNode = false, path, families = [] } = query;
  // Without `keep`, a value is kept.
  const { keep = (value) => value as unknown as Kept } = query;
  const { requests = (_context, requested) => [{ key: '', path: requested }] } = query;
  return {
    ...responseReader(query),
    name,
    intervalMs,
    isEnabled,
    isSentToHub,
    isOfNode,
    path,
    requests: (context) => {
      const ofDialect = typeof path === 'string' ? path : path[context.dialect ?? ''];
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
    keep,
    valuesOf: (states) =>
      // `keep` of the same query has returned it.
      new Map(Array.from(states.get(name)?.answers ?? [], ([key, { value }]) => [key, value as Kept])),
  };
}

/** Whether `node_queries` of the endpoint is on. */
export function isOn({ settings }: StepContext): boolean {
  return settings.node_queries === 'auto';
}
