import { startSimulator, type Simulator, type SimulatorOptions } from '../../src/simulator/simulator.js';

/** Starts a simulator on a free port. By default it is healthy and makes no blocks by itself. */
export async function startTestSimulator(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  return startSimulator({
    host: '127.0.0.1',
    port: 0,
    seed: 1,
    scenario: 'healthy',
    blockTimeMs: 2000,
    tick: false,
    ...options,
  });
}
