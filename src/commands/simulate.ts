import { pathIn, type DialectName } from '../simulator/served-dialects.js';
import { createModel, type Model } from '../simulator/model.js';
import { nodeFaults, setNodeFault } from '../simulator/node-faults.js';
import { endpointPath, type QueryResponse } from '../simulator/query-service.js';
import { startSimulator, type Simulator } from '../simulator/simulator.js';
import { DAY_MS, formatDuration } from '../units.js';
import type { CommandContext, ExitCode } from './context.js';
import type { SimulateFlags, SimulatorFlags } from './flags.js';

/** `simulate`: serves a simulated chain until it is stopped. */
export async function runSimulate(options: SimulateFlags, context: CommandContext): Promise<ExitCode> {
  const waitForStopSignal = context.handleStopSignals();
  const { listen, seed, scenario, blockTime: blockTimeMs, startTime = Math.floor(Date.now() / 1000) } = options;
  const dialect = options.dialect === 'neutral' ? undefined : options.dialect;
  const nodes: Simulator[] = [];
  const sinceStartMs = Date.now() - startTime * 1000;
  const pastMs = sinceStartMs >= 1000 && sinceStartMs <= MAX_PAST_MS ? sinceStartMs : 0;
  const createChain = (): Model => {
    const chain = createModel({ seed, scenario, blockTimeMs, startTime });
    chain.advanceTime(pastMs);
    return chain;
  };
  const createCopy = (): Model => {
    const copy = createChain();
    copy.advanceTime(nodes[0]?.elapsedMs ?? 0);
    return copy;
  };
  const createSetFault =
    (index: number) =>
    (name: string): QueryResponse => {
      const node = nodes[index];
      if (node === undefined) throw new Error(`node ${index} is not started`);
      return setNodeFault(node, name, createCopy);
    };
  const model = createChain();
  const { host = LOOPBACK, port } = listen;
  try {
    for (let index = 0; index < options.nodes; index += 1) {
      const address = { host, port: port === 0 ? 0 : port + index };
      const ownOptions = { tick: index === 0, setFault: createSetFault(index) };
      // oxlint-disable-next-line no-await-in-loop -- one address after the other
      const node = await startSimulator({ ...address, ...ownOptions, seed, scenario, dialect, model });
      nodes.push(node);
      if (index === 0) printChain(node, options, context, dialect);
      else context.print(`another node of the chain: ${node.url}\n`);
    }
    if (options.nodes > 1)
      context.print(`let a node fail: curl -X POST ${nodes[0]?.url}/-/fault/NAME, of ${nodeFaults.join(', ')}\n`);
    await waitForStopSignal();
  } finally {
    await Promise.all(nodes.map(async (node) => node.close()));
  }
  return 0;
}

export const LOOPBACK = '127.0.0.1';

/** A chain that begins earlier is not simulated up to now, which would take long: its times stay in the past. */
const MAX_PAST_MS = DAY_MS;

/** Prints what is simulated, and the addresses of a node. */
export function printChain(
  { url, model }: Simulator,
  { scenario, seed }: SimulatorFlags,
  { print }: CommandContext,
  dialect?: DialectName,
): void {
  print(`simulated chain: scenario ${scenario}, seed ${seed}, a block every ${formatDuration(model.blockTimeMs)}\n`);
  for (const endpoint of ['module_state', 'rate_limiter_input', 'validators'] as const) {
    const isTranslated = dialect !== undefined && endpoint !== 'validators';
    const path = isTranslated ? pathIn(dialect, endpointPath(endpoint)) : endpointPath(endpoint);
    if (path !== undefined) print(`  ${url}${path}\n`);
  }
}
