import { performance } from 'node:perf_hooks';
import type { Client } from '../http/client.js';
import { isUnknownPath } from '../http/error-response.js';
import { failure, type Failure } from '../http/failure-reasons.js';
import { formatSize } from '../settings/units.js';
import type { NodeQuery } from '../sources/node-query.js';
import type { QueryResult } from '../sources/query-state.js';
import type { Decoder } from './decode.js';
import type { PollJob } from './poll.js';
import { sourceOf } from './validator-names.js';

/** Chains have tens of chains and keys, and a page 100 of them. */
const MAX_PAGES = 10;

/** Sends one request of a query, page by page, within the timeout of a poll. */
export async function sendQuery(
  { url: baseUrl, httpClient, limits }: Pick<PollJob, 'url' | 'httpClient' | 'limits'>,
  query: NodeQuery,
  path: string,
  client: Client,
  decoder: Decoder,
): Promise<QueryResult> {
  const started = performance.now();
  const maxBodyBytes = Math.min(query.maxBodyBytes, limits.maxBodyBytes);
  const pages: unknown[] = [];
  let nextKey: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const url = new URL(baseUrl + path);
    if (nextKey !== undefined) url.searchParams.set('pagination.key', nextKey);
    const elapsedMs = performance.now() - started;
    // oxlint-disable-next-line no-await-in-loop -- a page names the next one
    const fetched = await client.fetch(url, { ...limits, maxBodyBytes, elapsedMs }, httpClient);
    if (!fetched.ok) {
      const { reason, message } = fetched.error;
      const text = reason === 'too_large' ? tooLarge(url, maxBodyBytes) : url.host + message;
      return { ...failure(reason, text), isUnknownPath: isUnknownPath(fetched.statusCode) };
    }
    // oxlint-disable-next-line no-await-in-loop -- as above
    const { outcome } = await decoder.decode({ source: sourceOf(url), query: query.name }, fetched.body);
    if (!outcome.ok) return known(outcome);
    pages.push(outcome.value);
    ({ nextKey } = outcome);
    if (nextKey === undefined) return { ok: true, pages };
  }
  return known(failure('too_large', `${sourceOf(new URL(baseUrl + path))}: more than ${MAX_PAGES} pages`));
}

/** The limit is that of the query, not `poll.max_body_size`. */
function tooLarge(url: URL, maxBodyBytes: number): string {
  return `${sourceOf(url)}: the response is larger than ${formatSize(maxBodyBytes)}`;
}

function known(result: Failure): QueryResult {
  return { ...result, isUnknownPath: false };
}
