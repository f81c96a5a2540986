import { atEnd } from './at-end.js';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../src/simulator/simulator.js';

/**
 * Starts a simulator on a free port, until the end of the tests. By default it is healthy and makes no blocks by itself. A
 * fault ends with the test.
 */
export async function startTestSimulator(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
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
  return {
    ...simulator,
    fault: (endpoint, fault) => {
      simulator.fault(endpoint, fault);
      atEnd(() => simulator.fault(endpoint, undefined));
    },
  };
}
