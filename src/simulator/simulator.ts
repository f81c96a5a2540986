import { getSystemErrorMap } from 'node:util';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzip } from 'node:zlib';
import { neutralPath, responseIn, type DialectName } from './served-dialects.js';
import { RPC_PATH } from './json-rpc.js';
import { createModel, type Model } from './model.js';
import { type Endpoint, endpoints, executeQuery, parseRequest, type QueryResponse } from './query-service.js';
import type { ScenarioName } from './scenarios.js';

/*
 * The simulator: a chain node for the demo and the tests. model.ts simulates the chain, query-service.ts turns its
 * state into responses, and this file sends them, unless a test replaces how. The folder is written from the spec
 * (contributing/coverage.md) and shares no code with the shapes in src/chain, so that each checks the other.
 */

export interface SimulatorOptions {
  readonly host: string;
  readonly port: number;
  readonly seed: number;
  readonly scenario: ScenarioName;
  /** By default that of the scenario. */
  readonly blockTimeMs?: number | undefined;
  /** Unix seconds of the first block that is served; the current time by default. */
  readonly startTime?: number;
  /** The chain to serve; by default a new one. */
  readonly model?: Model;
  /** The chain whose paths and names the node has; by default the neutral ones. */
  readonly dialect?: DialectName | undefined;
  /** Whether a timer makes the blocks (the default), or only `advance`. */
  readonly tick?: boolean;
  /** Answers `POST /-/fault/NAME`; by default the path is unknown. */
  readonly setFault?: (name: string) => QueryResponse;
}

const FAULT_PATH = '/-/fault/';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Faults of the node in place of a response. An unfinished response ends when the connection is closed. */
export type Fault = (exchange: Exchange, content: QueryResponse) => void;

/** A chain node: an HTTP server that serves both documents from a model, and fails on demand. */
export interface Simulator {
  readonly url: string;
  readonly model: Model;
  /** Number of requests to each endpoint, including requests that failed by a fault. */
  readonly requests: Readonly<Record<Endpoint, number>>;
  /** Applies the fault to every following request to the endpoint; `undefined` removes it. */
  fault(endpoint: Endpoint, fault: Fault | undefined): void;
  /** Serves another chain from now on; `undefined`: its own again. */
  serve(model: Model | undefined): void;
  /** For how long the timer has made blocks. */
  readonly elapsedMs: number;
  /** Closes all connections, also during a response. */
  close(): Promise<void>;
}

export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const model = options.model ?? createModel({ startTime: Math.floor(Date.now() / 1000), ...options });
  const faults = new Map<Endpoint, Fault>();
  // One key for each endpoint.
  const requests = Object.fromEntries(endpoints.map((endpoint) => [endpoint, 0])) as Record<Endpoint, number>;
  let served = model;
  let elapsedMs = 0;
  const server = createServer((request, response) => {
    const { method, url = '' } = request;
    const exchange = { request, response };
    if (options.setFault !== undefined && method === 'POST' && url.startsWith(FAULT_PATH)) {
      send(exchange, options.setFault(url.slice(FAULT_PATH.length)));
    } else handle(exchange, served, faults, requests, options.dialect);
  });
  const { port } = await listen(server, options);
  const tick = (): void => {
    model.advanceTime(model.blockTimeMs);
    elapsedMs += model.blockTimeMs;
  };
  const blockTimer = options.tick === false ? undefined : setInterval(tick, model.blockTimeMs);
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    model,
    requests,
    fault: (endpoint, fault) => {
      if (fault === undefined) faults.delete(endpoint);
      else faults.set(endpoint, fault);
    },
    serve: (other = model) => {
      served = other;
    },
    get elapsedMs() {
      return elapsedMs;
    },
    close: () => {
      clearInterval(blockTimer);
      return close(server);
    },
  };
}

function handle(
  exchange: Exchange,
  model: Model,
  faults: ReadonlyMap<Endpoint, Fault>,
  requests: Record<Endpoint, number>,
  dialect: DialectName | undefined,
): void {
  const { method = '', url = '', headers } = exchange.request;
  if (method === 'POST' && url === RPC_PATH) return void answerRpc(exchange, model, faults, requests);
  // A path that the chain does not have is unknown.
  const query = parseRequest(method, dialect === undefined ? url : (neutralPath(dialect, url) ?? ''));
  if (!('endpoint' in query)) return send(exchange, query);
  requests[query.endpoint] += 1;
  const height = Number(headers['x-cosmos-block-height'] ?? Number.NaN);
  const atHeight = Number.isSafeInteger(height) ? { ...query, height } : query;
  const response = executeQuery(model, atHeight);
  const sent = dialect === undefined ? response : responseIn(dialect, response);
  (faults.get(query.endpoint) ?? send)(exchange, sent);
}

/** A call is small. */
const MAX_RPC_BYTES = 64 * 1024;

/** The external chain. An invalid body closes the connection. */
async function answerRpc(
  exchange: Exchange,
  model: Model,
  faults: ReadonlyMap<Endpoint, Fault>,
  requests: Record<Endpoint, number>,
): Promise<void> {
  requests.external_contract += 1;
  try {
    const rpc = await readText(exchange.request, MAX_RPC_BYTES);
    const query = { endpoint: 'external_contract', parameters: new URLSearchParams(), rpc } as const;
    (faults.get('external_contract') ?? send)(exchange, executeQuery(model, query));
  } catch {
    exchange.request.destroy();
  }
}

async function readText(request: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > maxBytes) throw new RangeError(`the body is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Sends a response, compressed if the client accepts that. */
export function send({ request, response }: Exchange, { status, headers, body }: QueryResponse): void {
  const isEncoded = 'Content-Encoding' in headers;
  if (isEncoded || body.length === 0 || !acceptsGzip(request.headers['accept-encoding'])) {
    response.writeHead(status, { ...headers, 'Content-Length': body.length }).end(body);
    return;
  }
  gzip(body, (error, compressed) => {
    if (error) throw error;
    const encoding = { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding', 'Content-Length': compressed.length };
    response.writeHead(status, { ...headers, ...encoding }).end(compressed);
  });
}

/** Matches `gzip` and `x;q=0.5, gzip;q=0.8`, but not `gzip;q=0`. */
function acceptsGzip(acceptEncoding: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(acceptEncoding));
}

async function listen(server: Server, { host, port }: SimulatorOptions): Promise<AddressInfo> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const errno = cause instanceof Error && 'errno' in cause ? Number(cause.errno) : 0;
    const [code, text = String(cause)] = getSystemErrorMap().get(errno) ?? [];
    const reason = code === 'EADDRINUSE' ? 'the address is in use; --listen=:0 selects a free port' : text;
    throw new Error(`the simulator cannot listen on ${host}:${port}: ${reason}`, { cause });
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error(`${host} is not a network address`);
  return address;
}

function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeAllConnections();
  return closed;
}
