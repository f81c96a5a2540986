import { pathIn, type DialectName } from '../simulator/served-dialects.js';
import { chooseBlockTime, warmUpMs, type Model } from '../simulator/model.js';
import { endpointPath } from '../simulator/query-service.js';
import { startSimulator, type Simulator } from '../simulator/simulator.js';
import { HOUR_MS, formatDuration } from '../units.js';
import { type CommandContext, type ExitCode, progressPrinter } from './context.js';
import type { SimulateFlags, SimulatorFlags } from './flags.js';

/** `simulate`: serves a simulated chain until it is stopped, or records it. */
export async function runSimulate(options: SimulateFlags, context: CommandContext): Promise<ExitCode> {
  const { record } = options;
  if (record !== undefined) {
    const { recordSimulation } = await import('./simulated-polls.js');
    return recordSimulation({ ...options, record }, context);
  }
  const { listen, seed, scenario } = options;
  const dialect = options.dialect === 'neutral' ? undefined : options.dialect;
  const first = await startSimulation(options, context, undefined, dialect);
  const simulators = [first];
  try {
    for (let index = 1; index < options.nodes; index += 1) {
      const address = { host: listen.host ?? LOOPBACK, port: listen.port === 0 ? 0 : listen.port + index };
      // oxlint-disable-next-line no-await-in-loop -- one address after the other
      const node = await startSimulator({ ...address, seed, scenario, dialect, model: first.model, tick: false });
      simulators.push(node);
      context.print(`another node of the chain: ${node.url}\n`);
    }
    await context.waitForStopSignal();
  } finally {
    await Promise.all(simulators.map(async (simulator) => simulator.close()));
  }
  return 0;
}

const LOOPBACK = '127.0.0.1';

/** A warm-up of this length takes about a second to simulate, and is announced. */
const LONG_WARM_UP_MS = 8 * HOUR_MS;

/** Starts the simulator and prints its addresses. Without a model, it creates one. */
export async function startSimulation(
  options: SimulatorFlags,
  context: CommandContext,
  model?: Model,
  dialect?: DialectName,
): Promise<Simulator> {
  const { listen, seed, scenario, blockTime: blockTimeMs, startTime } = options;
  const blockTime = formatDuration(chooseBlockTime({ scenario, blockTimeMs }));
  const warmUp = warmUpMs({ scenario, blockTimeMs });
  if (model === undefined && warmUp > LONG_WARM_UP_MS) {
    const progress = progressPrinter(context, options);
    progress(`simulating the first ${formatDuration(warmUp)} of the chain (${blockTime} per block) …`);
  }
  const simulator = await startSimulator({
    host: listen.host ?? LOOPBACK,
    port: listen.port,
    seed,
    scenario,
    blockTimeMs,
    dialect,
    ...(model && { model }),
    ...(startTime !== undefined && { startTime }),
  });
  context.print(`simulated chain: scenario ${scenario}, seed ${seed}, a block every ${blockTime}\n`);
  for (const endpoint of ['module_state', 'rate_limiter_input', 'validators'] as const) {
    const path =
      dialect === undefined || endpoint === 'validators'
        ? endpointPath(endpoint)
        : pathIn(dialect, endpointPath(endpoint));
    if (path !== undefined) context.print(`  ${simulator.url}${path}\n`);
  }
  return simulator;
}
