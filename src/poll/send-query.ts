import type { Client } from '../http/client.js';
import { isUnknownPath } from '../http/error-response.js';
import { formatSize } from '../settings/units.js';
import type { NodeQuery } from '../sources/node-query.js';
import type { QueryResult } from '../sources/query-state.js';
import type { Decoder } from './decode.js';
import { fetchPages, type JobConnection } from './fetch-pages.js';

/** Sends one request of a query, page by page, within the timeout of a poll. */
export async function sendQuery(
  job: JobConnection,
  query: NodeQuery,
  path: string,
  client: Client,
  decoder: Decoder,
): Promise<QueryResult> {
  const maxBodyBytes = Math.min(query.maxBodyBytes, job.limits.maxBodyBytes);
  const result = await fetchPages(
    { ...job, limits: { ...job.limits, maxBodyBytes } },
    path,
    client,
    async (source, body) => decoder.decode({ source, query: query.name }, body),
    `the response is larger than ${formatSize(maxBodyBytes)}`,
  );
  if (!result.ok) return { ok: false, error: result.error, isUnknownPath: isUnknownPath(result.statusCode) };
  return { ok: true, pages: result.pages.map(({ value }) => value) };
}
