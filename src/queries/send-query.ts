import { performance } from 'node:perf_hooks';
import { sourceOf } from '../config/urls.js';
import type { Client } from '../http/client.js';
import { failure, type Failure } from '../http/failure-reasons.js';
import { formatSize } from '../settings/units.js';
import type { NodeQuery, QueryRequest } from './query.js';
import type { QueryResult } from './query-state.js';
import type { PollJob } from '../poll/poll.js';

/** Chains have tens of chains and keys and hundreds of validators. A page has 100 entries, or 1000 validators. */
const MAX_PAGES = 10;

/** The connection and the limits of a job. */
export type JobConnection = Pick<PollJob, 'url' | 'httpClient' | 'limits'>;

/** A page names the next one by its key. */
interface Page {
  readonly ok: true;
  readonly nextKey: string | undefined;
}

type PagesResult<OnePage> =
  | { readonly ok: true; readonly pages: readonly OnePage[] }
  /** `isRefused`: the path is not served. */
  | (Failure & { readonly isRefused: boolean });

/** Requests a path of the node page by page, within the timeout of a poll. More than ten pages are a failure. */
export async function fetchPages<OnePage extends Page>(
  job: JobConnection,
  path: string,
  client: Client,
  read: (source: string, body: Buffer) => OnePage | Failure,
  /** What is said about a page that is too large; by default, that it exceeds `poll.max_body_size`. */
  tooLarge?: string,
): Promise<PagesResult<OnePage>> {
  const started = performance.now();
  const source = sourceOf(job.url, path);
  let page = path;
  const pages: OnePage[] = [];
  while (pages.length < MAX_PAGES) {
    const elapsedMs = performance.now() - started;
    // oxlint-disable-next-line no-await-in-loop -- a page names the next one
    const fetched = await client.fetch(job, page, { ...job.limits, elapsedMs });
    if (!fetched.ok) {
      const isTooLarge = fetched.error.reason === 'too_large' && tooLarge !== undefined;
      const error = isTooLarge ? { ...fetched.error, message: `${source}: ${tooLarge}` } : fetched.error;
      // The path of a further page is that of the first one.
      return { ok: false, error, isRefused: fetched.isNotServed === true && pages.length === 0 };
    }
    const result = read(source, fetched.body.bytes);
    fetched.body.release();
    if (!result.ok) return { ...result, isRefused: false };
    pages.push(result);
    if (result.nextKey === undefined) return { ok: true, pages };
    page = pathOfPage(path, result.nextKey);
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

/** Sends one request of a query, page by page, within the timeout of a poll. */
export async function sendQuery(
  job: JobConnection,
  query: NodeQuery,
  request: QueryRequest,
  client: Client,
): Promise<QueryResult> {
  const maxBodyBytes = Math.min(query.maxBodyBytes, job.limits.maxBodyBytes);
  const result = await fetchPages(
    { ...job, limits: { ...job.limits, maxBodyBytes } },
    request.path,
    client,
    query.read,
    `the response is larger than ${formatSize(maxBodyBytes)}`,
  );
  if (!result.ok) return result;
  const pages = result.pages.map(({ value }) => value);
  if (query.isAbout(request, pages)) return { ok: true, pages };
  const source = sourceOf(job.url, request.path);
  return { ...failure('schema', `${source}: the response is about something else`), isRefused: false };
}
