import type { SimulatorSettings } from '../cli/flags.js';
import { suggestName } from '../config/kit/closest-match.js';
import { formatDuration } from '../config/kit/units.js';
import { warmUpMs } from './model.js';
import { endpointPaths } from './query-service.js';
import { isScenarioName, scenarioNames, scenarios } from './scenarios.js';
import { startSimulator, type Simulator } from './simulator.js';

const LOOPBACK = '127.0.0.1';

/** Name and description of each scenario, for `--help`. */
export const scenarioRows = scenarioNames.map((name) => [name, scenarios[name].description] as const);

/**
 * The error message for an unknown scenario. The command line parser does not load the simulator, so it cannot check
 * the name.
 */
export function scenarioProblem({ scenario }: SimulatorSettings): string | undefined {
  if (isScenarioName(scenario)) return undefined;
  return `--scenario: unknown scenario ${JSON.stringify(scenario)} — ${suggestName(scenario, scenarioNames)}`;
}

/** Prints a line to standard output or standard error. */
export type PrintLine = (line: string) => void;

/** A warm-up of this length takes about a second to simulate. */
const LONG_WARM_UP_MS = 8 * 3_600_000;

/**
 * The command `simulate`: starts the simulator and prints its addresses. `progress` reports a long warm-up beforehand.
 */
export async function simulate(settings: SimulatorSettings, print: PrintLine, progress: PrintLine): Promise<Simulator> {
  const { listen, seed, scenario, blockTimeMs, startTimeSeconds } = settings;
  if (!isScenarioName(scenario)) throw new RangeError(`unknown scenario ${scenario}`);
  const blockTime = formatDuration(blockTimeMs);
  const warmUp = warmUpMs(blockTimeMs);
  if (warmUp > LONG_WARM_UP_MS) {
    progress(`simulating the first ${formatDuration(warmUp)} of the chain (${blockTime} per block) …`);
  }
  const simulator = await startSimulator({
    host: listen.host ?? LOOPBACK,
    port: listen.port,
    seed,
    scenario,
    blockTimeMs,
    ...(startTimeSeconds !== undefined && { startTime: startTimeSeconds }),
  });
  print(`simulated chain: scenario ${scenario}, seed ${seed}, a block every ${blockTime}`);
  for (const path of endpointPaths) print(`  ${simulator.url}${path}`);
  return simulator;
}
