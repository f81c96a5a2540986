import type { SimulatorSettings } from '../config/flags.js';
import { endpointPaths } from './answer.js';
import { isScenarioName, scenarioNames } from './scenarios.js';
import { startSimulator, type Simulator } from './simulator.js';

const LOOPBACK = '127.0.0.1';

/** A scenario that does not exist; the command line cannot know, as it does not load the simulator. */
export function scenarioProblem({ scenario }: SimulatorSettings): string | undefined {
  return isScenarioName(scenario)
    ? undefined
    : `--scenario: ${JSON.stringify(scenario)} is no scenario — expected one of ${scenarioNames.join(', ')}`;
}

/** Serves the Chain Query Service over a simulated chain and says where. */
export async function simulate(settings: SimulatorSettings, say: (line: string) => void): Promise<Simulator> {
  const { listen, seed, scenario, blockTimeMs, startTimeSeconds } = settings;
  if (!isScenarioName(scenario)) throw new RangeError(`${scenario} is no scenario`);
  const simulator = await startSimulator({
    host: listen.host ?? LOOPBACK,
    port: listen.port,
    seed,
    scenario,
    blockTimeMs,
    ...(startTimeSeconds !== undefined && { startTime: startTimeSeconds }),
  });
  say(`simulated chain (scenario ${scenario}, seed ${seed})`);
  for (const path of endpointPaths) say(`  ${simulator.url}${path}`);
  return simulator;
}
