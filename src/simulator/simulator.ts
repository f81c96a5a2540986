import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerQuery, type Endpoint, findRoute } from './answer.js';
import { deliver, type Exchange } from './delivery.js';
import type { Fault } from './faults.js';
import { parsePath } from './field-path.js';
import { createModel, type Model } from './model.js';
import type { ScenarioName } from './scenarios.js';

export interface SimulatorOptions {
  readonly host: string;
  readonly port: number;
  readonly seed: number;
  readonly scenario: ScenarioName;
  readonly blockTimeMs: number;
  /** Unix seconds of the first block served; the present when left out. */
  readonly startTime?: number;
  /** Whether blocks come by themselves (the default) or only by `advance`. */
  readonly tick?: boolean;
}

/** A node that serves the Chain Query Service over a model, and fails on request. */
export interface Simulator {
  readonly url: string;
  readonly model: Model;
  /** How often each endpoint has been asked, faults included. */
  readonly requests: Readonly<Record<Endpoint, number>>;
  advance(blocks: number): void;
  setScenario(scenario: ScenarioName): void;
  /** What befalls every later request to the endpoint; `undefined` ends it. */
  fault(endpoint: Endpoint, fault: Fault | undefined): void;
  /** Cuts every connection, hanging ones too. */
  close(): Promise<void>;
}

export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const model = createModel({ startTime: Math.floor(Date.now() / 1000), ...options });
  const faults = new Map<Endpoint, Fault>();
  const requests: Record<Endpoint, number> = { module_state: 0, rate_limiter_input: 0 };
  const server = createServer((request, response) => handle({ request, response }, model, faults, requests));
  const { port } = await listen(server, options);
  const ticking = options.tick === false ? undefined : setInterval(() => model.advance(1), options.blockTimeMs);
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    model,
    requests,
    advance: (blocks) => model.advance(blocks),
    setScenario: (scenario) => model.setScenario(scenario),
    fault: (endpoint, fault) => setFault(faults, endpoint, fault),
    close: () => {
      clearInterval(ticking);
      return close(server);
    },
  };
}

function handle(
  exchange: Exchange,
  model: Model,
  faults: ReadonlyMap<Endpoint, Fault>,
  requests: Record<Endpoint, number>,
): void {
  const { method = '', url = '' } = exchange.request;
  const route = findRoute(method, url);
  if (!('endpoint' in route)) return deliver(exchange, route, undefined);
  requests[route.endpoint] += 1;
  deliver(exchange, answerQuery(model, route), faults.get(route.endpoint));
}

/** A path that is none is a mistake of the caller, so it is told at once. */
function setFault(faults: Map<Endpoint, Fault>, endpoint: Endpoint, fault: Fault | undefined): void {
  if (fault === undefined) {
    faults.delete(endpoint);
    return;
  }
  if (fault.kind === 'drop' || fault.kind === 'set') parsePath(fault.path);
  faults.set(endpoint, fault);
}

async function listen(server: Server, { host, port }: SimulatorOptions): Promise<AddressInfo> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const reason =
      cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
        ? 'it is in use; --listen=:0 takes any free port'
        : String(cause);
    throw new Error(`the simulator cannot listen on ${host}:${port}: ${reason}`, { cause });
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error(`${host} is no network address`);
  return address;
}

function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeAllConnections();
  return closed;
}
