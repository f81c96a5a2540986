import type { InvocationOf, LogSettings, SimulatorSettings } from '../cli/flags.js';
import type { Result } from '../result.js';
import { formatDuration, HOUR_MS } from '../settings/units.js';
import { blockTimeOf, warmUpMs, type Model } from '../simulator/model.js';
import { endpointPaths } from '../simulator/query-service.js';
import { isScenarioName, scenarioNames, type ScenarioName } from '../simulator/scenarios.js';
import { startSimulator, type Simulator } from '../simulator/simulator.js';
import { type CommandContext, type ExitCode, printProblems, progressPrinter, seeHelp } from './context.js';

/** `simulate`: serves a simulated chain until it is stopped, or records it. */
export async function runSimulate(flags: InvocationOf<'simulate'>, context: CommandContext): Promise<ExitCode> {
  const settings = checkScenario(flags.simulator);
  if (!settings.ok) return printProblems(context, [...settings.problems, seeHelp('simulate')]);
  const { directory } = flags.record;
  if (directory !== undefined) {
    const { recordSimulation } = await import('./record-simulation.js');
    return recordSimulation(settings.checked, { ...flags.record, directory }, context);
  }
  const simulator = await startSimulation(settings.checked, flags.log, context);
  await context.waitForStopSignal();
  await simulator.close();
  return 0;
}

/** The settings of a simulator with a scenario that exists. */
export interface CheckedSettings extends SimulatorSettings {
  readonly scenario: ScenarioName;
}

/** The command line parser does not check the name, because it does not load the simulator. */
export function checkScenario(settings: SimulatorSettings): Result<{ readonly checked: CheckedSettings }> {
  const { scenario } = settings;
  if (isScenarioName(scenario)) return { ok: true, checked: { ...settings, scenario } };
  const expected = `expected one of ${scenarioNames.join(', ')}`;
  return { ok: false, problems: [`--scenario: unknown scenario ${JSON.stringify(scenario)} — ${expected}`] };
}

const LOOPBACK = '127.0.0.1';

/** A warm-up of this length takes about a second to simulate, and is announced. */
const LONG_WARM_UP_MS = 8 * HOUR_MS;

/** Starts the simulator and prints its addresses. Without a model, it creates one. */
export async function startSimulation(
  { listen, seed, scenario, blockTimeMs, startTimeSeconds }: CheckedSettings,
  log: LogSettings,
  context: CommandContext,
  model?: Model,
): Promise<Simulator> {
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
