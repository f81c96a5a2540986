import { sourceOf } from '../config/urls.js';
import { remainingLimits, type Client, type FetchLimits } from '../http/client.js';
import { failure } from '../http/failure-reasons.js';
import type { NodeConnection } from '../config/endpoint-config.js';
import { formatSize } from '../units.js';
import type { QueryRequest, QueryResult, ResponseReader } from './query.js';

/** A page has 100 entries, or 1000 validators. A hub has tens of chains and keys, and hundreds of validators. */
const MAX_PAGES = 10;

/** The node, and the limits of all requests to it together. */
export interface QueryConnection extends NodeConnection {
  readonly limits: FetchLimits;
}

/** Sends a request of a query, page by page, within the timeout of a poll. */
export async function sendQuery<Value>(
  node: QueryConnection,
  reader: ResponseReader<Value>,
  request: QueryRequest,
  client: Client,
): Promise<QueryResult<Value>> {
  const { path, height, json } = request;
  const source = sourceOf(node.url, path);
  const maxBodyBytes = Math.min(reader.maxBodyBytes, node.limits.maxBodyBytes);
  const limits = remainingLimits({ ...node.limits, maxBodyBytes });
  const headers = height === undefined ? {} : { 'x-cosmos-block-height': height };
  const options = { headers, ...(json !== undefined && { json }) };
  let pagesBefore: { readonly value: Value } | undefined;
  let page = path;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    // oxlint-disable-next-line no-await-in-loop -- a page names the next page
    const fetched = await client.fetch(node, page, limits(), options);
    if (!fetched.ok) {
      const isTooLarge = fetched.error.reason === 'too_large';
      const tooLarge = { message: `${source}: the response is larger than ${formatSize(maxBodyBytes)}` };
      // Further pages have the path of the first page, which was served.
      const isRefused = fetched.isPathNotServed === true && pages === 0;
      return { ok: false, error: { ...fetched.error, ...(isTooLarge && tooLarge) }, isRefused };
    }
    const read = reader.read(fetched.bytes, request);
    fetched.release();
    if (!read.ok) return { ...failure(read.reason, `${source}: ${read.message}`), isRefused: false };
    // A node or a proxy that ignores the height does not respond with it.
    if (height !== undefined && fetched.height !== height) {
      return { ...failure('schema', `${source}: the response is of another height`), isRefused: false };
    }
    const value = pagesBefore === undefined ? read.value : reader.join(pagesBefore.value, read.value);
    if (read.nextKey === undefined) return { ok: true, value };
    pagesBefore = { value };
    page = pathOfPage(path, read.nextKey);
  }
  return { ...failure('too_large', `${source}: more than ${MAX_PAGES} pages`), isRefused: false };
}

/** The path of a further page. */
export function pathOfPage(path: string, nextKey: string): string {
  const [pathname = '', query] = path.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('pagination.key', nextKey);
  return `${pathname}?${parameters.toString()}`;
}
