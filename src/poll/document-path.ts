import type { DocumentPath } from '../chain/dialects.js';
import type { Failure, PollError } from '../http/failure-reasons.js';
import { remainingLimits, type Client, type FetchedDocument } from '../http/client.js';
import { isUnknownPath } from '../http/error-response.js';
import { portHint, repeatedPathHint, type Protocol } from '../http/port-hints.js';
import type { PollJob } from './fetch.js';

/* Finds the path of a document: chains serve it at different ones. */

/** The failure with what is probably wrong with the address. */
export function withHint(error: PollError, hint: string | undefined): Failure {
  return { ok: false, error: hint === undefined ? error : { ...error, message: `${error.message} — ${hint}` } };
}

/** A document and where it was found. */
interface FoundDocument extends FetchedDocument {
  readonly foundPath: DocumentPath;
}

/** The failures of a server that is not the REST API of a node. */
const FAILURES_WITH_HINT: ReadonlySet<string> = new Set(['aborted', 'bad_request', 'not_json', 'status']);

/** Requests the paths in turn until the node responds to one with another status than those of an unknown path. */
export async function fetchFirstKnownPath(job: PollJob, client: Client): Promise<FoundDocument | Failure> {
  const { url, paths, query, limits } = job;
  const remaining = remainingLimits(limits);
  const failures: PollError[] = [];
  let protocol: Protocol | undefined;
  for (const foundPath of paths) {
    // oxlint-disable-next-line no-await-in-loop -- a path is requested only if the node does not know the one before
    const fetched = await client.fetch(job, foundPath.path + query, remaining());
    if (fetched.ok) return { ...fetched, foundPath };
    const error = fetched.isNotServed === true ? { ...fetched.error, isNotServed: true } : fetched.error;
    protocol ??= fetched.protocol;
    if (!isUnknownPath(fetched.statusCode)) {
      return withHint(error, FAILURES_WITH_HINT.has(error.reason) ? portHint(url, protocol) : undefined);
    }
    failures.push(error);
  }
  const repeated = repeatedPathHint(
    url,
    paths.map(({ path }) => path),
  );
  const message = failures.map((failure) => failure.message).join('; ');
  return withHint(
    { reason: 'status', ...failures[0], message, isNotServed: true },
    repeated ?? portHint(url, protocol),
  );
}
