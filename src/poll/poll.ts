import { performance } from 'node:perf_hooks';
import type { DocumentPath } from '../chain/dialects.js';
import type { TargetLabels } from '../config/config.js';
import type { NodeConnection } from '../config/endpoint-config.js';
import { sourceOf, type EndpointUrl } from '../config/urls.js';
import type {
  ContractNodes,
  DocumentName,
  DocumentRequest,
  FlowOf,
  LabelSettings,
  ObservationsOf,
  SettingsOf,
  SideInputOf,
} from '../documents.js';
import type { ContractExchange } from '../external/contract-document.js';
import type { BufferedBody } from '../http/body.js';
import { createClient, type Client, type FetchLimits } from '../http/client.js';
import { failure, statusRemedies, type Failure, type PollError } from '../http/failure-reasons.js';
import { isJsonRpc, portHint } from '../http/port-hints.js';
import type { Numeral } from '../json/numeral.js';
import type { FieldProblems } from '../json/shapes.js';
import type { ContractFacts } from '../metrics/contract/facts.js';
import type { FamilyLines } from '../metrics/render-families.js';
import type { Items } from '../pending/items.js';
import { clock, type Instant } from '../clock.js';
import type { NodeQuery, QueryRequest } from '../sources/node-query.js';
import type { QueryResult } from '../sources/query-state.js';
import { errorText } from '../text/error-text.js';
import { inlineDecoder, type Decoded, type Decoder } from './decode.js';
import { fetchContract } from './contract-exchange.js';
import { fetchFirstKnownPath, withHint } from './document-path.js';
import { sendQuery } from './fetch-pages.js';
import { withValidatorNames } from './jobs.js';
import { createRpcClient, type RpcClient } from './rpc-client.js';
import { fetchNames, type NamesResult } from './validator-names.js';

/** How a body is decoded: which document it is, and the settings of its families. Plain data, sent to the worker thread. */
export type DecodeOptions<Name extends DocumentName = DocumentName> = {
  [Each in Name]: TargetOptions & {
    readonly document: Each;
    readonly settings: SettingsOf[Each];
    /** The observations of the last accepted document of the endpoint. */
    readonly previous?: ObservationsOf[Each];
    /** What the earlier documents of the endpoint have counted. */
    readonly flow?: FlowOf[Each];
    readonly sideInput?: SideInputOf[Each];
  };
}[Name];

/** The options that all documents of a target share. */
export interface TargetOptions {
  readonly target: string;
  readonly targetLabels?: TargetLabels;
  readonly labels: LabelSettings;
  readonly maxSeries: number;
  readonly staleAfterMs: number;
  /** Whether no page shows the items, which take a quarter of the time. */
  readonly omitsItems?: boolean;
}

/** One endpoint to poll. */
export interface PollJob extends NodeConnection, Omit<DocumentRequest, 'connection' | 'settings'> {
  readonly limits: FetchLimits;
  readonly decodeOptions: DecodeOptions;
  /** What the module state says about the contract; only of a contract, and absent before the first module state. */
  readonly facts?: ContractFacts;
  /** Whether the result has the body, for the recorder. */
  readonly keepsBody?: boolean;
  /** Whether a contract is asked for all its values, also for those that are requested less often. */
  readonly readsAll?: boolean;
}

/** The body of a poll after it was decoded, with what is recorded beside it. */
export interface KeptBody extends BufferedBody {
  /** As in the response header. */
  readonly height: string | undefined;
  /** The path of the document; absent for a contract. */
  readonly path?: string;
  /** The calls of which the body has the results; of a contract only. */
  readonly exchange?: ContractExchange;
  /** Of a module state: the external height that was read of the contract. */
  readonly externalHeight?: Numeral;
  /** When it was received. */
  readonly at: Instant;
}

/** The result of one poll: what was decoded, which is plain data of the worker thread, and where it was fetched. */
export interface PollResult extends Decoded<Snapshot> {
  /** Where the document was found; only after a success, and not for a recorded body. */
  readonly foundAt?: DocumentPath;
  /** Host and path of the document that was fetched; not for a recorded body. */
  readonly source?: string;
  /** Only if the job keeps it, and unless the thread that decoded it has ended. The caller releases it. */
  readonly body?: KeptBody;
}

/** What a successful poll exports. */
export type Snapshot<Name extends DocumentName = DocumentName> = {
  [Each in Name]: SnapshotContent & {
    readonly document: Each;
    /** Those of the document, for the next poll. */
    readonly observations: ObservationsOf[Each];
    readonly flow: FlowOf[Each];
  };
}[Name];

interface SnapshotContent {
  readonly ok: true;
  readonly families: readonly FamilyLines[];
  /** The items for `/pending`, a bounded number, as JSON: one string is cheap to send between threads. Empty if they are omitted. */
  readonly itemsJson: string;
  readonly height: Numeral | undefined;
  readonly problems: FieldProblems;
  /** The lines of counters and histograms, which are exported also while the chain series are withdrawn. */
  readonly cumulative: readonly FamilyLines[];
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

/** Only for `once`: the names for a document that was fetched; `undefined` if there are none in time. The daemon has them in the job. */
type AwaitNames = () => Promise<ReadonlyMap<string, string> | undefined>;

/** Polls endpoints once, and never rejects. */
export interface PollExecutor {
  readonly poll: (job: PollJob, names?: AwaitNames) => Promise<PollResult>;
  /** Reads the names of the validators from the staking module of the node. */
  readonly fetchNames: (job: PollJob) => Promise<NamesResult>;
  /** Sends one request of a query besides the document. */
  readonly sendQuery: (job: PollJob, query: NodeQuery, request: QueryRequest) => Promise<QueryResult>;
  readonly close: () => Promise<void>;
}

/** Creates an executor that fetches on the calling thread, and decodes there too unless it gets another decoder. */
export function createPollExecutor(userAgent: string, decoder: Decoder = inlineDecoder): PollExecutor {
  const client = createClient(userAgent);
  const rpc = createRpcClient(client);
  return {
    poll: async (job, names) =>
      job.contract === undefined ? poll(job, client, decoder, names) : pollContract(job, job.contract, client, rpc),
    fetchNames: async (job) => fetchNames(job, client, decoder),
    sendQuery: async (job, query, request) => sendQuery(job, query, request, client, decoder),
    close: async () => {
      client.close();
      await decoder.close();
    },
  };
}

async function poll(job: PollJob, client: Client, decoder: Decoder, names?: AwaitNames): Promise<PollResult> {
  const release = await client.reserveMemory(job.limits.maxBodyBytes);
  const started = performance.now();
  const fetched = await fetchFirstKnownPath(job, client);
  release();
  const fetchPhase = { fetch: (performance.now() - started) / 1000 };
  if (!fetched.ok) return { outcome: fetched, phaseSeconds: fetchPhase };
  const { foundAt, body, height, clean } = fetched;
  const at = clock();
  const byOperator = await names?.();
  const { decodeOptions: options } = byOperator === undefined ? job : withValidatorNames(job, byOperator);
  const source = sourceOf(job.url, foundAt.path);
  // The decoder takes the bytes.
  const start = body.bytes.subarray(0, ERROR_BYTES).toString();
  const externalHeight = options.document === 'module_state' ? options.sideInput?.externalHeight : undefined;
  const details = { height, path: foundAt.path, at, ...(externalHeight !== undefined && { externalHeight }) };
  const keeper = job.keepsBody ? keepBody(body, details) : undefined;
  const decoded = {
    ...(await decoder.decode({ source, options, height, at }, keeper?.returned ?? body)),
    ...keeper?.kept(),
  };
  const phaseSeconds = { ...fetchPhase, ...decoded.phaseSeconds };
  if (decoded.outcome.ok) return { ...decoded, phaseSeconds, source, foundAt };
  const { error } = decoded.outcome;
  const isDocument = error.reason !== 'schema' && error.reason !== 'not_json';
  const outcome = isDocument ? decoded.outcome : otherDocument(error, job.url, start, clean);
  return { ...decoded, outcome, phaseSeconds, source };
}

/** A body that is not the document is short, if it is an error with status 200. */
const ERROR_BYTES = 4096;

/** The failure of a response that is not the document, with what the server says instead. */
function otherDocument(error: PollError, url: EndpointUrl, start: string, clean: (text: string) => string): Failure {
  const text = errorText(start);
  const hint = portHint(url, isJsonRpc(start) ? 'json-rpc' : undefined);
  if (text === undefined) return withHint(error, hint);
  const remedy = error.reason === 'schema' ? { remedy: statusRemedies.errorDocument } : {};
  return withHint({ ...error, ...remedy, message: `${error.message}: ${clean(text)}` }, hint);
}

/** `returned` is for the decoder, which releases it. Afterwards, `kept` has the body unless its memory was lost. */
function keepBody(body: BufferedBody, details: Omit<KeptBody, keyof BufferedBody>) {
  const { length } = body.bytes;
  let kept: { readonly body?: KeptBody } = {};
  const release = (memory: ArrayBuffer = body.bytes.buffer): void => {
    // The buffer of a transferred body has no bytes left.
    if (memory.byteLength < Math.max(1, length)) body.release(memory);
    else kept = { body: { ...details, bytes: Buffer.from(memory, 0, length), release: () => body.release(memory) } };
  };
  return { returned: { bytes: body.bytes, release }, kept: () => kept };
}

/** Polls a contract. Its answers are small, so they are read on the calling thread, and wait for no other document. */
async function pollContract(
  { url, limits, decodeOptions: options, facts, keepsBody = false, readsAll = false }: PollJob,
  nodes: ContractNodes,
  client: Client,
  rpc: RpcClient,
): Promise<PollResult> {
  if (options.document !== 'external_contract') throw new Error(`${options.document} is no contract`);
  const source = sourceOf(url, '');
  const started = performance.now();
  const fetched: Awaited<ReturnType<typeof fetchContract>> =
    facts === undefined
      ? failure('schema', `${source}: the module state does not say where the contract is`)
      : await fetchContract(nodes, limits, facts, { previous: options.previous, readsAll }, { client, rpc });
  const fetchPhase = { fetch: (performance.now() - started) / 1000 };
  if (!fetched.ok) return { outcome: fetched, phaseSeconds: fetchPhase, source };
  const { body, exchange } = fetched;
  const at = clock();
  const keeper = keepsBody ? keepBody(body, { height: undefined, exchange, at }) : undefined;
  const task = { source, options: { ...options, sideInput: { exchange } }, height: undefined, at };
  const decoded = { ...(await inlineDecoder.decode(task, keeper?.returned ?? body)), ...keeper?.kept() };
  return { ...decoded, phaseSeconds: { ...fetchPhase, ...decoded.phaseSeconds }, source };
}
