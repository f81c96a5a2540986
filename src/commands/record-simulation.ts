import { setImmediate as nextTurn } from 'node:timers/promises';
import { DEFAULT_TARGET_NAME } from '../config/config.js';
import { defaultCrosschainSettings } from '../config/endpoint-config.js';
import { makeDirectory, openDirectory, type RecordingDirectory } from '../recorder/directory.js';
import { FORMAT_VERSION, type RecordingHeader } from '../recorder/recording-file.js';
import { createModel, type Model } from '../simulator/model.js';
import { executeQuery, HEIGHT_HEADER, pathOf } from '../simulator/query-service.js';
import type { CommandContext, ExitCode } from './context.js';
import type { SimulateFlags } from './flags.js';

/** The documents of a chain node. */
const RECORDED = ['module_state', 'rate_limiter_input'] as const;

/** `simulate --record`: records a simulated chain as fast as it can be simulated. */
export async function recordSimulation(
  options: Omit<SimulateFlags, 'dialect'> & { readonly record: string },
  context: CommandContext,
): Promise<ExitCode> {
  const {
    seed,
    scenario,
    blockTime: blockTimeMs,
    record: directory,
    duration: durationMs,
    interval: intervalMs,
  } = options;
  const startTime = options.startTime ?? Math.floor((Date.now() - durationMs) / 1000);
  const model = createModel({ seed, scenario, blockTimeMs, startTime });
  await makeDirectory(directory);
  const recording = await openDirectory(directory, Infinity, { sync: false });
  const waited = context.waitForStopSignal().then(() => 'stopped' as const);
  for (let elapsedMs = 0; elapsedMs <= durationMs; elapsedMs += intervalMs) {
    if (elapsedMs > 0) model.advanceTime(intervalMs);
    const timeMs = startTime * 1000 + elapsedMs;
    // oxlint-disable no-await-in-loop -- polls are recorded in sequence, as fast as the disk allows
    for (const document of RECORDED) await writePoll(recording, model, document, timeMs);
    context.showProgress(`recorded until ${new Date(timeMs).toISOString().slice(0, 16)}`);
    if ((await Promise.race([waited, nextTurn('next' as const)])) === 'stopped') break;
    // oxlint-enable no-await-in-loop
  }
  context.showProgress(undefined);
  context.print(`recorded the scenario ${scenario} in ${directory}\n`);
  return 0;
}

async function writePoll(
  recording: RecordingDirectory,
  model: Model,
  document: (typeof RECORDED)[number],
  timeMs: number,
): Promise<void> {
  const parameters = new URLSearchParams({ window: defaultCrosschainSettings.window });
  const { status, headers, body } = executeQuery(model, { endpoint: document, parameters });
  const height = headers[HEIGHT_HEADER];
  const header: RecordingHeader = {
    version: FORMAT_VERSION,
    target: DEFAULT_TARGET_NAME,
    document,
    time: new Date(timeMs).toISOString(),
    ...(height !== undefined && { height }),
    path: pathOf(document),
    ...(status === 200
      ? { outcome: 'ok' as const }
      : { outcome: 'status' as const, message: `${pathOf(document)}: HTTP ${status}` }),
  };
  await recording.write(header, status === 200 ? body : new Uint8Array());
}
