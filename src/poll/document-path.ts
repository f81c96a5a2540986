import { performance } from 'node:perf_hooks';
import type { DocumentPath } from '../chain/dialects.js';
import { failure, type Failure, type PollError } from '../http/failure-reasons.js';
import type { Client, FetchedDocument } from '../http/client.js';
import { isUnknownPath } from '../http/error-response.js';
import { portHint, repeatedPathHint, type Protocol } from '../http/port-hints.js';
import type { PollJob } from './poll.js';

/* Finds the path of a document: chains serve it at different ones. */

/** The failure with what is probably wrong with the address. */
export function withHint({ reason, message }: PollError, hint: string | undefined): Failure {
  return failure(reason, hint === undefined ? message : `${message} — ${hint}`);
}

/** A document and where it was found. */
interface FoundDocument extends FetchedDocument {
  readonly foundAt: DocumentPath;
  readonly url: URL;
}

/** The failures of a server that is not the REST API of a node. */
const FAILURES_WITH_HINT: ReadonlySet<string> = new Set(['aborted', 'bad_request', 'not_json', 'status']);

/** Requests the paths in turn until the node responds to one with another status than those of an unknown path. */
export async function fetchFirstKnownPath(
  { url: baseUrl, paths, query, limits, httpClient }: PollJob,
  client: Client,
): Promise<FoundDocument | Failure> {
  const started = performance.now();
  const messages: string[] = [];
  const base = new URL(baseUrl);
  let protocol: Protocol | undefined;
  for (const foundAt of paths) {
    const url = new URL(baseUrl + foundAt.path + query);
    const elapsedMs = performance.now() - started;
    // oxlint-disable-next-line no-await-in-loop -- a path is requested only if the node does not know the one before
    const fetched = await client.fetch(url, { ...limits, elapsedMs }, httpClient);
    if (fetched.ok) return { ...fetched, foundAt, url };
    const error = { ...fetched.error, message: url.host + fetched.error.message };
    protocol ??= fetched.protocol;
    if (!isUnknownPath(fetched.statusCode)) {
      return withHint(error, FAILURES_WITH_HINT.has(error.reason) ? portHint(base, protocol) : undefined);
    }
    messages.push(error.message);
  }
  const repeated = repeatedPathHint(
    baseUrl,
    paths.map(({ path }) => path),
  );
  return withHint({ reason: 'status', message: messages.join('; ') }, repeated ?? portHint(base, protocol));
}
