import { readDocument } from '../chain/document.js';
import type { NodeConnection } from '../config/http-client-config.js';
import { formatSource } from '../config/urls.js';
import { orUndefined } from '../facts/required-fields.js';
import { remainingLimits, type Client, type RequestLimits } from '../http/client.js';
import { failure, type FailureReason } from '../http/failure-reasons.js';
import { runToEnd } from '../tasks.js';
import { formatSize, MEBIBYTE } from '../units.js';
import type { QueryExchange, QueryRequest, QueryResult, ResponseReader } from './query.js';

/** A page has 100 entries, or 1000 validators. A hub has tens of chains and keys, and hundreds of validators. */
const MAX_PAGES = 10;

/** The node, and the limits of all requests to it together. */
interface QueryConnection extends NodeConnection {
  readonly limits: RequestLimits;
}

interface QueryPage {
  /** As in the response header. */
  readonly height: string | undefined;
  readonly bytes: Buffer;
}

/** Sends a request of a query, page by page, within the timeout of a poll. */
export async function sendQuery<Value>(
  node: QueryConnection,
  reader: ResponseReader<Value>,
  request: QueryRequest,
  client: Client,
): Promise<QueryExchange<Value>> {
  const { height, json } = request;
  const source = formatSource(node.url, request.path);
  const maxBodyBytes = Math.min(reader.maxBodyBytes ?? MEBIBYTE, node.limits.maxBodyBytes);
  const limits = remainingLimits({ ...node.limits, maxBodyBytes });
  const headers = height === undefined ? {} : { 'x-cosmos-block-height': height };
  const options = { headers, ...(json !== undefined && { json }) };
  const readPage = createPageReader(reader, request, source);
  let pageHeight: string | undefined;
  let next: string | QueryResult<Value> = request.path;
  while (typeof next === 'string') {
    const path: string = next;
    // oxlint-disable-next-line no-await-in-loop -- a page names the next page
    const response = await client.send(node, path, limits(), options);
    if (response.ok) {
      pageHeight = response.height;
      next = readPage({ height: pageHeight, bytes: response.bytes });
    } else {
      const isTooLarge = response.error.reason === 'too_large';
      const tooLarge = { message: `${source}: the response is larger than ${formatSize(maxBodyBytes)}` };
      // Further pages have the path of the first page, which was served.
      const isRefused = response.isPathNotServed === true && path === request.path;
      next = { ok: false, error: { ...response.error, ...(isTooLarge && tooLarge) }, isRefused };
    }
  }
  return { request, height: pageHeight, result: next };
}

/** Returns a function that reads the pages of a response in turn: to the path of the next page, or to the result. */
export function createPageReader<Value>(
  reader: ResponseReader<Value>,
  request: QueryRequest,
  source: string,
): (page: QueryPage) => string | QueryResult<Value> {
  const failed = (reason: FailureReason, message: string): QueryResult<Value> => ({
    ...failure(reason, `${source}: ${message}`),
    isRefused: false,
  });
  let pages = 0;
  let before: { readonly value: Value } | undefined;
  return ({ bytes, height }) => {
    const read = runToEnd(readDocument(reader.schema, bytes));
    if (!read.ok) return failed(read.reason, read.message);
    const page = read.value;
    const value = page === undefined ? undefined : orUndefined(() => reader.value(page));
    if (value === undefined) return failed('schema', 'a required field is missing or invalid');
    if (reader.isAbout?.(request, value) === false) return failed('schema', 'the response is about something else');
    // A node or a proxy that ignores the height does not respond with it.
    if (request.height !== undefined && height !== request.height) {
      return failed('schema', 'the response is of another height');
    }
    const joined = before === undefined ? value : (reader.join?.(before.value, value) ?? value);
    const nextKey = reader.nextKey?.(page);
    if (nextKey === undefined) return { ok: true, value: joined };
    pages += 1;
    before = { value: joined };
    return pages < MAX_PAGES ? addPageKey(request.path, nextKey) : failed('too_large', `more than ${MAX_PAGES} pages`);
  };
}

function addPageKey(path: string, pageKey: string): string {
  const [pathname = '', query] = path.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('pagination.key', pageKey);
  return `${pathname}?${parameters.toString()}`;
}
