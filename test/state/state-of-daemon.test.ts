import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createCanary, createHeaderCanary, revealedSecrets } from '../e2e/canaries.js';
import { formatPlainData } from '../../src/engine/state-file.js';
import { formatLines, parseFile } from '../../src/engine/state-file.js';
import { valueIn } from '../support/exposition-text.js';
import { scrape } from '../support/http.js';
import { MAIN, startDaemon, startProcess } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { waitFor, waitUntil } from '../support/wait-for.js';

/* The state file of the program. */

const simulator = await startTestSimulator({ scenario: 'stuck' });
/** The state file of a daemon that has found its problems a minute ago: they begin when they were there for 20 s. */
let stateOfBefore: string;

beforeAll(async () => {
  const folder = createTempFolder();
  const file = join(folder.path, 'state.json');
  const daemon = await startDaemon([`--config.file=${withProblems(folder)}`, `--state.file=${file}`]);
  await waitUntil(async () => (await fetch(`${daemon.url}/-/ready`)).status === 200);
  await daemon.stop();
  const read = parseFile(readFileSync(file, 'utf8'));
  if (!read.ok) throw new Error(read.problem);
  const { now, endpoints } = read;
  const lines = endpoints.map((endpoint) =>
    formatPlainData(endpoint).replaceAll(
      /"(firstFoundAt|startAt)":([\d.]+)/g,
      (_, key: string, at: string) => `"${key}":${Number(at) - 60}`,
    ),
  );
  stateOfBefore = formatLines(lines, now);
});

const VALIDATOR_CANARY = 'Validator canary';
const CHAIN_CANARY = 'chain canary';
const SYMBOL_CANARY = 'SYMCANARY';

describe('the state file of a daemon', () => {
  it('is there after the end, and has no secret, URL, error message or name', async () => {
    const folder = createTempFolder();
    const file = join(folder.path, 'state.json');
    const secrets = { password: createCanary(), header: createHeaderCanary(), path: 'key-0123456789abcdef' };
    const [member] = simulator.model.moduleState().state.orchestrator_addresses;
    const config = folder.write(
      'bridge.yml',
      `poll: {interval: 500ms, timeout: 2s, stale_after: 5s}
targets:
  - name: a
    bridge:
      url: "${simulator.url}"
      basic_auth: {username: user-canary, password: ${JSON.stringify(secrets.password)}}
      http_headers: {X-Api-Key: {values: [${JSON.stringify(secrets.header)}]}}
      watch: ["${member?.orchestrator}"]
    crosschain: {url: "${simulator.url}"}
  - {name: b, bridge: {url: "http://127.0.0.1:1/${secrets.path}"}}
tokens: [{contract: "0x0000000000000000000000000000000000000001", symbol: ${SYMBOL_CANARY}}]
chains: {"1": ${CHAIN_CANARY}, "56": ${CHAIN_CANARY} b}
validators: [{address: "${member?.orchestrator}", name: ${VALIDATOR_CANARY}}]
`,
    );
    const daemon = await startDaemon([`--config.file=${config}`, `--state.file=${file}`]);
    await waitFor(
      async () => scrape(daemon),
      (text) => (valueIn(text, 'bridge_exporter_polls_total', 'target="a",document="module_state"') ?? 0) > 1,
    );
    await daemon.stop();
    const text = readFileSync(file, 'utf8');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(text).toContain('"target":"a","document":"module_state"');
    expect(text).toContain('"target":"a","document":"rate_limiter_input"');
    // Nothing about a document that was never there.
    expect(text).toMatch(
      /"target":"b","document":"module_state","polledAt":[\d.]+,"problems":\{"remembered":\{"\$map":\[\]\}\}/,
    );
    expect(revealedSecrets(text, secrets)).toEqual([]);
    for (const canary of ['user-canary', 'http', '127.0.0.1', 'ECONN', VALIDATOR_CANARY, CHAIN_CANARY, SYMBOL_CANARY]) {
      expect(text).not.toContain(canary);
    }
    expect(text).not.toMatch(/ethereum|bitcoin|Validator Guild|Northwind/);
  });
});

/** A configuration with which something is wrong in the first poll. */
function withProblems(folder: ReturnType<typeof createTempFolder>): string {
  return folder.write(
    'bridge.yml',
    `poll: {interval: 500ms, timeout: 2s}
targets: [{name: a, bridge: {url: "${simulator.url}", backlog_limit: 1}, crosschain: {url: "${simulator.url}", age_limits: {default: 1m}}}]`,
  );
}

describe('a daemon on a disk without space', () => {
  it('reads the old file, polls, leaves it as it was and nothing beside it, and logs it once', async () => {
    const folder = createTempFolder();
    const file = folder.write('state.json', stateOfBefore);
    const config = withProblems(createTempFolder());
    // Files of this daemon cannot be larger than 1 KiB.
    const limit = `trap '' XFSZ; ulimit -f 2; exec "$0" "$@"`;
    const args = ['-c', limit, process.execPath, MAIN, '--web.listen-address=127.0.0.1:0'];
    const daemon = startProcess('sh', args, { env: { CONFIG_FILE: config, STATE_FILE: file } });
    const url = /serving (https?:\/\/[^/]+)/.exec(await daemon.printed(/serving https?:/))?.[1] ?? '';
    await daemon.printed(/the state file cannot be written: file too large/);
    const polls = (text: string): number =>
      valueIn(text, 'bridge_exporter_polls_total', 'document="module_state"') ?? 0;
    const known = polls(await scrape({ url }));
    const text = await waitFor(
      async () => scrape({ url }),
      (exposition) => polls(exposition) > known + 3,
    );
    expect(valueIn(text, 'bridge_exporter_up', 'document="module_state"')).toBe(1);
    // The first polls of an exporter without a file find no problem.
    const start = valueIn(text, 'bridge_problem_start_timestamp_seconds', 'problem="BridgeBacklogHigh"');
    expect(start).toBeLessThan(Date.now() / 1000 - 60);
    await daemon.stop();
    expect(readFileSync(file, 'utf8')).toBe(stateOfBefore);
    expect(execFileSync('ls', ['-A', folder.path], { encoding: 'utf8' })).toBe('state.json\n');
    expect(daemon.stderr.filter((line) => /cannot be written|memory of 2 endpoints/.test(line))).toHaveLength(2);
  });
});
