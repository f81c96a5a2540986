import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { scenarios } from '../../src/simulator/scenarios.js';
import { runHere } from '../support/command-context.js';
import { MAIN, runExporter, startDaemon, startProcess } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';
import { edited, hang, withStatus } from '../support/faults.js';
import { startTestSimulator } from '../support/test-simulator.js';

/*
 * The exact output of the commands. Most run in this process; what depends on a process runs the built program.
 */
const folder = createTempFolder();
const simulator = await startTestSimulator();

describe('the log with --log.format=pretty', () => {
  it('has one line per event with time, level, subject and message', async () => {
    const config = folder.write(
      'pretty.yml',
      `targets: [{name: mainnet, bridge: {url: "http://127.0.0.1:1"}}]
poll: {interval: 10m, stale_after: 1h}`,
    );
    const daemon = await startDaemon([`--config.file=${config}`, '--log.format=pretty']);
    await daemon.logged(/poll failed/);
    folder.write('pretty.yml', 'targets: [{name: mainnet, brigde: {}}]');
    daemon.child.kill('SIGHUP');
    await daemon.logged(/expected bridge, crosschain or both/);
    const { body } = await request(daemon.url);
    expect(await body.text()).toContain('The last reload of the configuration failed');
    await daemon.stop();
    expect(daemon.log.map((line) => line.replace(/^\d\d:\d\d:\d\d /, 'HH:MM:SS '))).toEqual([
      `HH:MM:SS WARN: ${config}:2:8: poll.interval: interval and timeout together exceed 10m, so BridgeEndpointNotPolled fires between two polls`,
      expect.stringMatching(
        /^HH:MM:SS INFO: serving http:\/\/127\.0\.0\.1:\d+\/metrics version=\d+\.\d+\.\d+(?:-\S+)? targets=1$/,
      ),
      'HH:MM:SS WARN: mainnet module_state: poll failed: 127.0.0.1:1/peggy/v1/module_state: request failed: connect ECONNREFUSED 127.0.0.1:1 reason=connect remedy=Check that the node and its proxy are up and accept connections from this machine.',
      'HH:MM:SS ERROR: the new configuration is invalid, the previous one stays active: correct it and reload',
      `  ${config}:1:27: targets[0].brigde: is not a supported key — expected one of name, labels, bridge, crosschain`,
      `  ${config}:1:11: targets[0]: expected bridge, crosschain or both`,
      'HH:MM:SS INFO: stopped by SIGTERM',
    ]);
  });
});

describe('once', () => {
  it('begins with the cause when the node is down: validator names that cannot be read either are its consequence', async () => {
    const failing = withStatus(500);
    simulator.fault('module_state', failing);
    simulator.fault('validators', failing);
    const { stderr } = await runHere(['once'], { BRIDGE_URL: simulator.url });
    expect(stderr).toMatch(
      /^default module_state: status: 127\.0\.0\.1:\d+\/.*: responded with status 500: simulated failure\n/,
    );
    expect(stderr).not.toContain('validator names');
  });

  it('does not wait for validator names much longer than for the document', async () => {
    simulator.fault('validators', hang);
    const started = performance.now();
    const { code, stdout, stderr } = await runHere(['once'], { BRIDGE_URL: simulator.url });
    // poll.timeout is 20 s.
    expect(performance.now() - started).toBeLessThan(15_000);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: '',
    });
    expect(stdout).toContain('bridge_height{target="default"}');
  });

  it('verifies certificates whatever NODE_TLS_REJECT_UNAUTHORIZED is, with one warning', async () => {
    const env = { BRIDGE_URL: 'https://127.0.0.1:1', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const { stderr } = await runHere(['once'], env);
    expect(stderr.split('\n')).toEqual([
      'warning: NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect: tls_config with insecure_skip_verify accepts any certificate of a node',
      expect.stringContaining('ECONNREFUSED'),
      expect.stringContaining('Check that the node'),
      'exit 1: 1 of 1 document failed',
      '',
    ]);
  });
});

describe('the summary of once', () => {
  const EVENT = /^default: critical: event \d+ .* is not observed/m;

  it('says what is wrong, worst first, and --fail-on makes it exit code 3', async () => {
    const node = await startTestSimulator({ scenario: 'stuck', blockTimeMs: 20_000 });
    node.model.advanceTime(65 * 60_000);
    const env = { BRIDGE_URL: node.url };
    const [plain, summary, failing] = await Promise.all([
      runHere(['once'], env),
      runHere(['once', '--summary'], env),
      runHere(['once', '--fail-on=warning'], env),
    ]);
    expect(plain.code).toBe(0);
    expect(plain.stderr).not.toMatch(EVENT);
    expect(summary.code).toBe(0);
    expect(summary.stderr.split('\n')[0]).toMatch(EVENT);
    expect(failing.code).toBe(3);
    expect(failing.stderr).toMatch(/^exit 3: --fail-on=warning: default: critical: event /m);
  });

  it('has a line for a target without a problem', async () => {
    const env = { CROSSCHAIN_URL: simulator.url, TARGET_NAME: 'mine' };
    simulator.fault(
      'rate_limiter_input',
      edited((document: object) => ({ ...document, cctxs_missed: [] })),
    );
    const { code, stderr } = await runHere(['once', '--summary', '--fail-on=warning'], env);
    expect(code).toBe(0);
    expect(stderr).toBe(
      'mine: no problem that one poll can prove\nmine: not judged by this poll: CrosschainCctxsUnlisted\n',
    );
  });

  it.each([
    ['outbound-disabled', 'warning: the hub has switched off transactions to other chains'],
    [
      'syncing',
      'warning: the node of rate_limiter_input is behind the chain, for 2 h 55 min; its newest block is 3 h old',
    ],
  ] as const)('says what the node itself answers: %s', async (scenario, line) => {
    const node = await startTestSimulator({ scenario });
    const env = { CROSSCHAIN_URL: node.url, TARGET_NAME: 'mine' };
    const { stderr } = await runHere(['once', '--summary'], env);
    expect(stderr.startsWith(`mine: ${line}`), stderr).toBe(true);
  });
});

describe('replay', () => {
  it('explains its exit code', async () => {
    const good = folder.write('good.json', '{"state":{"last_observed_nonce":"7","batches":[{}]}}');
    const bad = folder.write('bad.json', '{}');
    const { code, stdout, stderr } = await runHere(['replay', '--bridge', good, '--crosschain', bad]);
    expect(code).toBe(1);
    expect(stdout).toContain('bridge_last_observed_nonce{target="default"} 7\n');
    expect(stderr)
      .toBe(`default rate_limiter_input: schema: ${bad}: not a rate_limiter_input document: none of its fields is present
  Check that it is the unchanged body of a response, and of the document that the flag names.
exit 1: 1 of 2 documents failed
`);
  });
});

describe('a validator in watch', () => {
  it('is reported when it is not in the newest validator set', async () => {
    const { state } = simulator.model.moduleState();
    const members = new Set(state.valsets.at(-1)?.members.map(({ external_address }) => external_address));
    const validator = state.orchestrator_addresses.find(({ eth_address }) => members.has(eth_address));
    const typo = `0x${'ab'.repeat(20)}`;
    const env = { BRIDGE_URL: simulator.url, BRIDGE_WATCH: `${validator?.eth_address},${typo}` };
    const failing = await runHere(['once', '--fail-on=warning'], env);
    expect(failing.code).toBe(3);
    expect(failing.stderr).toMatch(
      /^exit 3: --fail-on=warning: default: warning: your validator 0xababab\S+ matches no registration: correct the address in watch/m,
    );
  });
});

describe('replay of standard input', () => {
  it('prints the metrics of one document, and of the other from a file', async () => {
    const file = folder.write('input.json', '{"height":"8"}');
    const state = '{"state":{"last_observed_nonce":"7"}}';
    const { code, stdout, stderr } = await runExporter(['replay', '--bridge', '-', '--crosschain', file], {}, state);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('bridge_last_observed_nonce{target="default"} 7\n');
    expect(stdout).toContain('crosschain_height{target="default"} 8\n');
    expect(await runHere(['replay', '--crosschain=-'], {}, '{"height":"9"}')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('crosschain_height{target="default"} 9\n') as string,
    });
  });

  it.each<[string, string, string]>([
    ['nothing', '', 'not_json: standard input: empty body'],
    ['a large body', ' '.repeat(5000), 'too_large: standard input: body is larger than 1KiB'],
  ])('fails with exit code 1 for %s', async (_title, input, failure) => {
    const yaml = 'poll: {max_body_size: 1KiB}\ntargets: [{name: a, bridge: {url: "http://127.0.0.1:1"}}]';
    const config = folder.write('small.yml', yaml);
    const { code, stderr } = await runHere(['replay', '--bridge', '-', '--config.file', config], {}, input);
    expect(code).toBe(1);
    expect(stderr.split('\n')[0]).toBe(`a module_state: ${failure}`);
  });
});

describe('the simulator commands', () => {
  it('demo begins with the problem about its scenario, prints the addresses and stops on SIGINT', async () => {
    const args = [
      'demo',
      '--listen=:0',
      '--web.listen-address=127.0.0.1:0',
      '--log.level=warn',
      '--scenario=conflicting-claims',
    ];
    const { stdout, printed, stop } = startProcess(process.execPath, [MAIN, ...args]);
    await printed(/Ctrl\+C/);
    const [node, exporter] = [...stdout.join('\n').matchAll(/http:\/\/127\.0\.0\.1:\d+(?=\/(?:bridge|metrics))/g)].map(
      ([url]) => url,
    );
    const { statusCode, body } = await request(`${exporter}/`);
    expect(statusCode).toBe(200);
    expect(await body.text()).toMatch(/<title>■ critical: demo: validators disagree about /);
    expect((await stop('SIGINT')).code).toBe(0);
    // Whether a duration is an upper bound depends on the second in which the demo starts.
    const output = stdout.map((line) => line.replace(/^( {2}demo: \w+: \D+?)(?:up to )?\d.*/, '$1…'));
    expect(`${output.join('\n')}\n`).toBe(`simulated chain: scenario conflicting-claims, seed 1, a block every 2s
  ${node}/bridge/v1/module_state
  ${node}/chain/crosschain/rateLimiterInput
  ${node}/cosmos/staking/v1beta1/validators

scenario conflicting-claims, for 11 min already: ${scenarios['conflicting-claims'].description}
  demo: critical: validators disagree about event …

exporter
  status page    ${exporter}/
  pending items  ${exporter}/pending
  metrics        ${exporter}/metrics

Ctrl+C stops both; --scenario=stuck shows another incident, --help lists the others.

`);
  });

  it.each([
    [['replay', '--recording=/nonexistent'], '/nonexistent: no such file or directory — expected a directory that '],
    [['replay', '--recording=/dev/null'], '/dev/null: not a directory — expected a directory that '],
    [['backtest', '--recording=/dev/null'], '/dev/null: not a directory — expected a directory that '],
    [['replay', '--bridge=/nonexistent'], '/nonexistent: cannot be read: no such file or directory'],
    [['--config.file=/nonexistent'], '/nonexistent: cannot be read: no such file or directory'],
    [['once', '--config.file=/tmp'], '/tmp: is a directory — expected a file'],
    [['healthcheck', '--web.config.file=/nonexistent'], '/nonexistent: cannot be read: no such file or directory'],
    [['healthcheck', '--web.listen-address=127.0.0.1:1'], 'http://127.0.0.1:1/-/healthy: connection refused'],
    [['simulate', '--listen=203.0.113.1:0'], 'the simulator cannot listen on 203.0.113.1:0: address not available'],
  ])('%j says what is wrong in words, without codes and system calls', async (args, message) => {
    const { code, stderr } = await runHere(args);
    expect(code).toBeGreaterThan(0);
    const [line = ''] = stderr.trimEnd().split('\n').slice(-1);
    expect(line.slice(0, 'bridge-exporter: '.length + message.length)).toBe(`bridge-exporter: ${message}`);
    expect(line).not.toMatch(/\bE[A-Z]{4,}|\b(?:scandir|mkdir|open|connect|listen) '/);
  });
});
