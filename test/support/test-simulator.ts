import { atEnd } from './at-end.js';
import { endpoints } from '../../src/simulator/query-service.js';
import {
  send,
  startSimulator,
  type Fault,
  type Simulator,
  type SimulatorOptions,
} from '../../src/simulator/simulator.js';

interface TestSimulatorOptions extends SimulatorOptions {
  /** Whether responses are compressed if the client accepts that (the default), which is half of the work of a small poll. */
  readonly compresses: boolean;
}

/** The fault, or the usual response, as for a client that does not accept a compressed one. */
const uncompressed =
  (fault: Fault = send): Fault =>
  (exchange, content) => {
    delete exchange.request.headers['accept-encoding'];
    fault(exchange, content);
  };

/**
 * Starts a simulator on a free port, until the end of the tests. By default it is healthy and makes no blocks by itself. A
 * fault ends with the test.
 */
export async function startTestSimulator({
  compresses = true,
  ...options
}: Partial<TestSimulatorOptions> = {}): Promise<Simulator> {
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    seed: 1,
    scenario: 'healthy',
    blockTimeMs: 2000,
    tick: false,
    ...options,
  });
  atEnd(async () => simulator.close());
  const set: Simulator['fault'] = (endpoint, fault) =>
    simulator.fault(endpoint, compresses ? fault : uncompressed(fault));
  if (!compresses) for (const endpoint of endpoints) set(endpoint, undefined);
  return {
    ...simulator,
    fault: (endpoint, fault) => {
      set(endpoint, fault);
      atEnd(() => set(endpoint, undefined));
    },
  };
}
