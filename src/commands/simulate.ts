import type { InvocationOf, SimulatorSettings } from '../cli/flags.js';
import { suggestName } from '../settings/closest-match.js';
import { formatDuration } from '../settings/units.js';
import { blockTimeOf, warmUpMs, type Model } from '../simulator/model.js';
import { endpointPaths } from '../simulator/query-service.js';
import { isScenarioName, scenarioNames } from '../simulator/scenarios.js';
import { startSimulator, type Simulator } from '../simulator/simulator.js';
import { type CommandContext, type ExitCode, printProblems, progressPrinter, seeHelp } from './context.js';

/** `simulate`: serves a simulated chain until it is stopped, or records it. */
export async function runSimulate(flags: InvocationOf<'simulate'>, context: CommandContext): Promise<ExitCode> {
  const problem = scenarioProblem(flags.simulator);
  if (problem !== undefined) return printProblems(context, [problem, seeHelp('simulate')]);
  if (flags.record.directory !== undefined) {
    const { recordSimulation } = await import('./record-simulation.js');
    return recordSimulation(flags, flags.record.directory, context);
  }
  const stopped = context.waitForStopSignal();
  const simulator = await startSimulation(flags, context);
  await stopped;
  await simulator.close();
  return 0;
}

/** The command line parser does not check the name, because it does not load the simulator. */
export function scenarioProblem({ scenario }: SimulatorSettings): string | undefined {
  if (isScenarioName(scenario)) return undefined;
  return `--scenario: unknown scenario ${JSON.stringify(scenario)} — ${suggestName(scenario, scenarioNames)}`;
}

const LOOPBACK = '127.0.0.1';

/** A warm-up of this length takes about a second to simulate, and is announced. */
const LONG_WARM_UP_MS = 8 * 3_600_000;

/** Starts the simulator and prints its addresses. Without a model, it creates one. */
export async function startSimulation(
  { simulator: settings, log }: Pick<InvocationOf<'simulate'>, 'simulator' | 'log'>,
  context: CommandContext,
  model?: Model,
): Promise<Simulator> {
  const { listen, seed, scenario, blockTimeMs, startTimeSeconds } = settings;
  if (!isScenarioName(scenario)) throw new RangeError(`unknown scenario ${scenario}`);
  const blockTime = formatDuration(blockTimeOf({ scenario, blockTimeMs }));
  const warmUp = warmUpMs({ scenario, blockTimeMs });
  if (model === undefined && warmUp > LONG_WARM_UP_MS) {
    const progress = progressPrinter(context, log);
    progress(`simulating the first ${formatDuration(warmUp)} of the chain (${blockTime} per block) …`);
  }
  const simulator = await startSimulator({
    host: listen.host ?? LOOPBACK,
    port: listen.port,
    seed,
    scenario,
    blockTimeMs,
    ...(model && { model }),
    ...(startTimeSeconds !== undefined && { startTime: startTimeSeconds }),
  });
  context.print(`simulated chain: scenario ${scenario}, seed ${seed}, a block every ${blockTime}\n`);
  for (const path of endpointPaths) context.print(`  ${simulator.url}${path}\n`);
  return simulator;
}
