import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulator } from '../../src/simulator/simulator.js';
import { MAIN, runExporter, startDaemon, startProcess } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';

/*
 * The exact output of the built program.
 */
const folder = createTempFolder();
let simulator: Simulator;

beforeAll(async () => {
  simulator = await startTestSimulator();
});

afterAll(async () => simulator.close());

describe('the log with --log.format=pretty', () => {
  it('has one line per event with time, level, subject and message', async () => {
    const config = folder.write('pretty.yml', `targets: [{name: mainnet, bridge: {url: "http://127.0.0.1:1"}}]`);
    const daemon = await startDaemon([`--config.file=${config}`, '--log.format=pretty']);
    await daemon.logged(/poll failed/);
    folder.write('pretty.yml', 'targets: [{name: mainnet, brigde: {}}]');
    daemon.child.kill('SIGHUP');
    await daemon.logged(/has no endpoint/);
    const { body } = await request(daemon.url);
    expect(await body.text()).toContain('The last reload of the configuration failed');
    await daemon.stop();
    expect(daemon.log.map((line) => line.replace(/^\d\d:\d\d:\d\d /, 'HH:MM:SS '))).toEqual([
      expect.stringMatching(
        /^HH:MM:SS INFO: serving http:\/\/127\.0\.0\.1:\d+\/metrics version=\d+\.\d+\.\d+ targets=1$/,
      ),
      'HH:MM:SS WARN: mainnet module_state: poll failed: /bridge/v1/module_state: request failed: connect ECONNREFUSED 127.0.0.1:1 reason=connect',
      'HH:MM:SS ERROR: the new configuration is invalid, the previous one stays active',
      `  ${config}:1: targets[0].brigde: unknown key — did you mean bridge?`,
      `  ${config}:1: targets[0]: has no endpoint — expected bridge, crosschain, or both`,
      'HH:MM:SS INFO: stopped by SIGTERM',
    ]);
  });
});

describe('once', () => {
  it('explains exit code 1', async () => {
    const env = { BRIDGE_URL: simulator.url, CROSSCHAIN_URL: 'http://127.0.0.1:1', TARGET_NAME: 'mine' };
    const { code, stderr } = await runExporter(['once'], env);
    expect(code).toBe(1);
    // On a busy machine, a poll can take so long that it is announced.
    expect(stderr.replace(/^polling 2 endpoints .*\n/, ''))
      .toBe(`mine rate_limiter_input: connect: /chain/crosschain/rateLimiterInput: request failed: connect ECONNREFUSED 127.0.0.1:1
  Check that the node and its proxy are up and accept connections from this machine.
exit 1: 1 of 2 polls failed
`);
  });

  it('reports its progress, unless the log is silent', async () => {
    simulator.fault('module_state', { kind: 'hang' });
    const config = folder.write(
      'hang.yml',
      `poll: {timeout: 2s}\ntargets: [{name: mine, bridge: {url: "${simulator.url}"}, crosschain: {url: "${simulator.url}"}}]`,
    );
    const progress = 'polling 2 endpoints with a timeout of 2s …\n';
    const failed = `mine module_state: timeout: /bridge/v1/module_state: timed out after 2000 ms (poll.timeout)
  Check the load of the node; raise poll.timeout if its document takes that long.
exit 1: 1 of 2 polls failed
`;
    const [usual, silent] = await Promise.all([
      runExporter(['once', `--config.file=${config}`]),
      runExporter(['once', `--config.file=${config}`, '--log.level=silent']),
    ]);
    simulator.fault('module_state', undefined);
    expect(usual).toMatchObject({ code: 1, stderr: progress + failed });
    expect(silent).toMatchObject({ code: 1, stderr: failed });
  });
});

describe('replay', () => {
  it('reports that it reads a large body, unless the log is silent', async () => {
    const body = JSON.stringify(simulator.model.moduleState());
    const large = folder.write('large.json', body + ' '.repeat(33 * 2 ** 20 - body.length));
    const usual = await runExporter(['replay', '--bridge', large]);
    expect(usual).toMatchObject({ code: 0, stderr: `reading ${large} (33.0 MiB) …\n` });
    expect(usual.stdout).toContain('bridge_last_observed_nonce{target="default"} ');
    expect(await runExporter(['replay', '--bridge', large, '--log.level=silent'])).toMatchObject({
      code: 0,
      stderr: '',
    });
  });

  it('explains its exit code', async () => {
    const good = folder.write('good.json', '{"state":{"last_observed_nonce":"7"}}');
    const bad = folder.write('bad.json', '{}');
    const { code, stdout, stderr } = await runExporter(['replay', '--bridge', good, '--crosschain', bad]);
    expect(code).toBe(1);
    expect(stdout).toContain('bridge_last_observed_nonce{target="default"} 7\n');
    expect(stderr)
      .toBe(`default rate_limiter_input: schema: ${bad}: not a rate_limiter_input document: none of its fields is present
  Check URL and dialect: the response is a different document.
exit 1: 1 of 2 recorded bodies failed
`);
  });
});

describe('the simulator commands', () => {
  it('demo prints the addresses and stops on SIGINT', async () => {
    const args = ['demo', '--listen=:0', '--web.listen-address=127.0.0.1:0', '--log.level=warn', '--scenario=stuck'];
    const { stdout, printed, stop } = startProcess(process.execPath, [MAIN, ...args]);
    await printed(/Ctrl\+C/);
    const [node, exporter] = [...stdout.join('\n').matchAll(/http:\/\/127\.0\.0\.1:\d+(?=\/(?:bridge|metrics))/g)].map(
      ([url]) => url,
    );
    expect((await request(`${exporter}/`)).statusCode).toBe(200);
    expect((await stop('SIGINT')).code).toBe(0);
    expect(`${stdout.join('\n')}\n`).toBe(`simulated chain: scenario stuck, seed 1, a block every 2s
  ${node}/bridge/v1/module_state
  ${node}/chain/crosschain/rateLimiterInput
  ${node}/cosmos/staking/v1beta1/validators

exporter
  status page    ${exporter}/
  pending items  ${exporter}/pending
  metrics        ${exporter}/metrics

Ctrl+C stops both; --scenario=stuck shows an incident, --help lists the others.

`);
  });

  it.each([
    ['simulate', []],
    ['demo', ['--web.listen-address=127.0.0.1:0']],
  ])('%s suggests the closest scenario, and the flag for a free port', async (command, flags) => {
    expect(await runExporter([command, '--scenario=stukc'])).toMatchObject({
      code: 2,
      stderr: `bridge-exporter: --scenario: unknown scenario "stukc" — did you mean stuck?\nbridge-exporter: see bridge-exporter ${command} --help\n`,
    });
    const { host } = new URL(simulator.url);
    expect(await runExporter([command, `--listen=${host}`, ...flags])).toMatchObject({
      code: 1,
      stderr: `bridge-exporter: the simulator cannot listen on ${host}: the address is in use; --listen=:0 selects a free port\n`,
    });
  });
});
