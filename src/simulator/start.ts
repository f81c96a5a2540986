import type { SimulatorSettings } from '../cli/flags.js';
import { suggestName } from '../config/kit/closest-match.js';
import { formatDuration } from '../config/kit/units.js';
import { endpointPaths } from './answer.js';
import { warmUpMs } from './model.js';
import { isScenarioName, scenarioNames } from './scenarios.js';
import { startSimulator, type Simulator } from './simulator.js';

const LOOPBACK = '127.0.0.1';

/** A scenario that does not exist; the command line cannot know, as it does not load the simulator. */
export function scenarioProblem({ scenario }: SimulatorSettings): string | undefined {
  if (isScenarioName(scenario)) return undefined;
  return `--scenario: ${JSON.stringify(scenario)} is no scenario — ${suggestName(scenario, scenarioNames)}`;
}

/** Says something to whoever started the program. */
export type Say = (line: string) => void;

/** A machine lives through about so much of a chain in a second. */
const LONG_WARM_UP_MS = 8 * 3_600_000;

/** Serves the Chain Query Service over a simulated chain and says where; and before, `progress`, why that takes long. */
export async function simulate(settings: SimulatorSettings, say: Say, progress: Say): Promise<Simulator> {
  const { listen, seed, scenario, blockTimeMs, startTimeSeconds } = settings;
  if (!isScenarioName(scenario)) throw new RangeError(`${scenario} is no scenario`);
  const blockTime = formatDuration(blockTimeMs);
  const warmUp = warmUpMs(blockTimeMs);
  if (warmUp > LONG_WARM_UP_MS) {
    progress(`living through ${formatDuration(warmUp)} of the chain first, at ${blockTime} a block …`);
  }
  const simulator = await startSimulator({
    host: listen.host ?? LOOPBACK,
    port: listen.port,
    seed,
    scenario,
    blockTimeMs,
    ...(startTimeSeconds !== undefined && { startTime: startTimeSeconds }),
  });
  say(`simulated chain: scenario ${scenario}, seed ${seed}, a block every ${blockTime}`);
  for (const path of endpointPaths) say(`  ${simulator.url}${path}`);
  return simulator;
}
