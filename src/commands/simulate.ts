import { pathIn } from '../simulator/served-dialects.js';
import { chooseBlockTime, createModel, warmUpMs, type Model } from '../simulator/model.js';
import { nodeFaults, setNodeFault } from '../simulator/node-faults.js';
import { endpointPath } from '../simulator/query-service.js';
import { startSimulator, type Simulator, type SimulatorOptions } from '../simulator/simulator.js';
import { DAY_MS, HOUR_MS, formatDuration } from '../units.js';
import type { CommandContext, ExitCode } from './context.js';
import type { SimulateFlags, SimulatorFlags } from './flags.js';

/** `simulate`: serves a simulated chain until it is stopped. */
export async function runSimulate(options: SimulateFlags, context: CommandContext): Promise<ExitCode> {
  const { listen, seed, scenario, blockTime: blockTimeMs, startTime = Math.floor(Date.now() / 1000) } = options;
  const dialect = options.dialect === 'neutral' ? undefined : options.dialect;
  const simulators: Simulator[] = [];
  const sinceStartMs = Date.now() - startTime * 1000;
  const pastMs = sinceStartMs >= 1000 && sinceStartMs <= MAX_PAST_MS ? sinceStartMs : 0;
  const createChain = (): Model => {
    const model = createModel({ seed, scenario, blockTimeMs, startTime });
    model.advanceTime(pastMs);
    return model;
  };
  const createCopy = (): Model => {
    const copy = createChain();
    copy.advanceTime(simulators[0]?.elapsedMs ?? 0);
    return copy;
  };
  const createSetFault = (index: number) => (name: string) => {
    const node = simulators[index];
    if (node === undefined) throw new Error(`node ${index} is not started`);
    return setNodeFault(node, name, createCopy);
  };
  const first = await startSimulation({ ...options, startTime }, context, {
    ...(pastMs > 0 && { model: createChain() }),
    dialect,
    setFault: createSetFault(0),
  });
  simulators.push(first);
  try {
    for (let index = 1; index < options.nodes; index += 1) {
      const address = { host: listen.host ?? LOOPBACK, port: listen.port === 0 ? 0 : listen.port + index };
      // oxlint-disable-next-line no-await-in-loop -- one address after the other
      const node = await startSimulator({
        ...address,
        seed,
        scenario,
        dialect,
        model: first.model,
        tick: false,
        setFault: createSetFault(index),
      });
      simulators.push(node);
      context.print(`another node of the chain: ${node.url}\n`);
    }
    if (options.nodes > 1)
      context.print(`let a node fail: curl -X POST ${first.url}/-/fault/NAME, of ${nodeFaults.join(', ')}\n`);
    await context.waitForStopSignal();
  } finally {
    await Promise.all(simulators.map(async (simulator) => simulator.close()));
  }
  return 0;
}

const LOOPBACK = '127.0.0.1';

/** A chain that begins earlier is not simulated up to now, which would take long: its times stay in the past. */
const MAX_PAST_MS = DAY_MS;

/** A warm-up of this length takes about a second to simulate, and is announced. */
const LONG_WARM_UP_MS = 8 * HOUR_MS;

/** Starts the simulator and prints its addresses. Without a model, it creates one. */
export async function startSimulation(
  options: SimulatorFlags & Pick<SimulateFlags, 'startTime'>,
  context: CommandContext,
  { model, dialect, setFault }: Pick<SimulatorOptions, 'model' | 'dialect' | 'setFault'> = {},
): Promise<Simulator> {
  const { listen, seed, scenario, blockTime: blockTimeMs, startTime } = options;
  const blockTime = formatDuration(chooseBlockTime({ scenario, blockTimeMs }));
  const warmUp = warmUpMs({ scenario, blockTimeMs });
  if (model === undefined && warmUp > LONG_WARM_UP_MS) {
    context.printError(`simulating the first ${formatDuration(warmUp)} of the chain (${blockTime} per block) …`);
  }
  const simulator = await startSimulator({
    host: listen.host ?? LOOPBACK,
    port: listen.port,
    seed,
    scenario,
    blockTimeMs,
    dialect,
    ...(setFault && { setFault }),
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
