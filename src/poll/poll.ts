import { performance } from 'node:perf_hooks';
import type { DocumentPath } from '../chain/dialects.js';
import type { TargetLabels } from '../config/config.js';
import type { HttpClientConfig } from '../config/http-client-config.js';
import type { DocumentName, LabelSettings, SettingsOf } from '../documents.js';
import type { Client, FetchedDocument, FetchLimits } from '../http/client.js';
import { isUnknownPath } from '../http/error-response.js';
import { failure, type Failure } from '../http/failure-reasons.js';
import type { Numeral } from '../json/numeral.js';
import type { FieldProblems } from '../json/shapes.js';
import type { FamilyLines } from '../metrics/render-families.js';
import type { Items } from '../pending/items.js';
import type { Decoder } from './decode.js';
import type { NamesJob, NamesResult } from './validator-names.js';

/** Which document a body is, and the settings to derive its families with. Plain data, sent to the worker thread. */
export type ProcessingOptions<Name extends DocumentName = DocumentName> = {
  [Each in Name]: ProcessingOptionsBase & { readonly document: Each; readonly settings: SettingsOf[Each] };
}[Name];

export interface ProcessingOptionsBase {
  readonly target: string;
  readonly targetLabels?: TargetLabels;
  readonly labels: LabelSettings;
  readonly maxSeries: number;
}

/** One endpoint to poll. */
export interface PollJob {
  readonly baseUrl: string;
  /** Requested in this order, until the node knows one. */
  readonly paths: readonly DocumentPath[];
  /** Appended to each path: empty, or beginning with a question mark. */
  readonly query: string;
  readonly httpClient?: HttpClientConfig;
  readonly limits: FetchLimits;
  readonly processing: ProcessingOptions;
  /** Where the names of the validators are read from, if at all. */
  readonly names?: NamesJob;
}

/** The result of one poll. Plain data, sent back by the worker thread; the document itself stays there. */
export interface PollResult {
  readonly outcome: Snapshot | Failure;
  /** Where the document was found; only after a success, and not for a recorded body. */
  readonly foundAt?: DocumentPath;
  /** Duration of each completed phase. */
  readonly phaseSeconds: Partial<Record<Phase, number>>;
  readonly bodyBytes?: number;
}

export type Phase = 'fetch' | 'decode' | 'derive';

/** What a successful poll exports. */
export interface Snapshot {
  readonly ok: true;
  readonly families: readonly FamilyLines[];
  /** The items for `/pending`, a bounded number, as JSON: one string is cheap to send between threads. */
  readonly itemsJson: string;
  readonly height: Numeral | undefined;
  readonly problems: FieldProblems;
}

/** The items of each snapshot whose JSON was parsed. */
const parsedItems = new WeakMap<Snapshot, Items>();

/** The items of a snapshot. Parsed when they are used for the first time, because few of them are ever shown. */
export function itemsOf(snapshot: Snapshot): Items {
  const known = parsedItems.get(snapshot);
  if (known !== undefined) return known;
  const items: Items = JSON.parse(snapshot.itemsJson);
  parsedItems.set(snapshot, items);
  return items;
}

/** Polls an endpoint once: fetches its document, on this thread, and has it decoded. */
export async function poll(job: PollJob, client: Client, decoder: Decoder): Promise<PollResult> {
  const release = await client.reserveMemory(job.limits.maxBodyBytes);
  const started = performance.now();
  const fetched = await fetchFirstKnownPath(job, client);
  release();
  const fetchSeconds = { fetch: (performance.now() - started) / 1000 };
  if (!fetched.ok) return { outcome: fetched, phaseSeconds: fetchSeconds };
  const { path, foundAt, body, height } = fetched;
  const decoded = await decoder.decode({ name: path, processing: job.processing, height }, body);
  if (!decoded.ok) return { outcome: decoded, phaseSeconds: fetchSeconds };
  const { result } = decoded;
  const phaseSeconds = { ...fetchSeconds, ...result.phaseSeconds };
  return { ...result, phaseSeconds, ...(result.outcome.ok && { foundAt }) };
}

interface FoundDocument extends FetchedDocument {
  readonly foundAt: DocumentPath;
  /** With that of the base URL. */
  readonly path: string;
}

/** Requests the paths in turn until the node responds to one with another status than those of an unknown path. */
async function fetchFirstKnownPath(
  { baseUrl, paths, query, limits, httpClient }: PollJob,
  client: Client,
): Promise<FoundDocument | Failure> {
  const started = performance.now();
  const messages: string[] = [];
  for (const foundAt of paths) {
    const url = new URL(baseUrl + foundAt.path + query);
    const elapsedMs = performance.now() - started;
    // oxlint-disable-next-line no-await-in-loop -- a path is requested only if the node does not know the one before
    const fetched = await client.fetch(url, { ...limits, elapsedMs }, httpClient);
    if (fetched.ok) return { ...fetched, foundAt, path: url.pathname };
    if (!isUnknownPath(fetched.statusCode)) return { ok: false, error: fetched.error };
    messages.push(fetched.error.message);
  }
  return failure('status', messages.join('; '));
}

/** Executes polls (executor.ts). */
export interface PollExecutor {
  readonly poll: (job: PollJob) => Promise<PollResult>;
  readonly fetchNames: (job: NamesJob) => Promise<NamesResult>;
  readonly close: () => Promise<void>;
}
