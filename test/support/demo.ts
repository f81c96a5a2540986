import type { ScenarioName } from '../../src/simulator/scenarios.js';
import { MAIN, startProcess } from './processes.js';

/** Starts the demo of a scenario on free ports. Returns the address of its exporter. */
export async function startDemo(scenario: ScenarioName) {
  const flags = [`--scenario=${scenario}`, '--listen=:0', '--web.listen-address=127.0.0.1:0', '--log.level=error'];
  const { printed, stop } = startProcess(process.execPath, [MAIN, 'demo', ...flags]);
  const [url = ''] = /http:[^/]*\/\/[^/]+/.exec(await printed(/status page/)) ?? [];
  return { url, stop };
}
