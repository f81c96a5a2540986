import { formatSource } from '../config/urls.js';
import { remainingLimits, type Client, type FetchLimits } from '../http/client.js';
import { failure, type FailureReason } from '../http/failure-reasons.js';
import type { NodeConnection } from '../config/endpoint-config.js';
import { formatSize } from '../units.js';
import type { QueryRequest, QueryResult, ResponseReader } from './query.js';

/** A page has 100 entries, or 1000 validators. A hub has tens of chains and keys, and hundreds of validators. */
const MAX_PAGES = 10;

/** The node, and the limits of all requests to it together. */
export interface QueryConnection extends NodeConnection {
  readonly limits: FetchLimits;
}

/** A request of a query with the pages of its response, without a page that failed. */
export interface QueryExchange<Value = unknown> {
  readonly request: QueryRequest;
  readonly pages: readonly QueryPage[];
  readonly result: QueryResult<Value>;
}

export interface QueryPage {
  /** With the key of the page. */
  readonly path: string;
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
  const maxBodyBytes = Math.min(reader.maxBodyBytes, node.limits.maxBodyBytes);
  const limits = remainingLimits({ ...node.limits, maxBodyBytes });
  const headers = height === undefined ? {} : { 'x-cosmos-block-height': height };
  const options = { headers, ...(json !== undefined && { json }) };
  const pages: QueryPage[] = [];
  const readPage = createPageReader(reader, request, source);
  let next: string | QueryResult<Value> = request.path;
  while (typeof next === 'string') {
    const path: string = next;
    // oxlint-disable-next-line no-await-in-loop -- a page names the next page
    const fetched = await client.fetch(node, path, limits(), options);
    if (fetched.ok) {
      const page = { path, height: fetched.height, bytes: fetched.bytes };
      fetched.release();
      next = readPage(page);
      pages.push(page);
    } else {
      const isTooLarge = fetched.error.reason === 'too_large';
      const tooLarge = { message: `${source}: the response is larger than ${formatSize(maxBodyBytes)}` };
      // Further pages have the path of the first page, which was served.
      const isRefused = fetched.isPathNotServed === true && pages.length === 0;
      next = { ok: false, error: { ...fetched.error, ...(isTooLarge && tooLarge) }, isRefused };
    }
  }
  return { request, pages, result: next };
}

/** Returns a function that reads the pages of a response in turn, and returns the path of the next page, or the result. */
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
    const page = reader.read(bytes, request);
    if (!page.ok) return failed(page.reason, page.message);
    // A node or a proxy that ignores the height does not respond with it.
    if (request.height !== undefined && height !== request.height) {
      return failed('schema', 'the response is of another height');
    }
    const value = before === undefined ? page.value : reader.join(before.value, page.value);
    if (page.nextKey === undefined) return { ok: true, value };
    pages += 1;
    before = { value };
    return pages < MAX_PAGES
      ? pathOfPage(request.path, page.nextKey)
      : failed('too_large', `more than ${MAX_PAGES} pages`);
  };
}

/** The path of a further page. */
function pathOfPage(path: string, nextKey: string): string {
  const [pathname = '', query] = path.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('pagination.key', nextKey);
  return `${pathname}?${parameters.toString()}`;
}
