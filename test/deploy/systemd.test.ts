import { describe, expect, it } from 'vitest';
import { targetVariables } from '../../src/config/loader.js';
import { commands } from '../../packaging/generate/commands.js';
import { runHere } from '../support/command-context.js';
import { readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';

const hasAnalyze = hasTool('systemd-analyze');
const folder = createTempFolder();
const unit = readProjectFile('deploy/systemd/bridge-exporter.service');
const environment = readProjectFile('deploy/systemd/bridge-exporter.env');

/** Of 10. Versions of systemd differ a little; 252 says 1.1, as documented. */
const MAX_EXPOSURE = 1.5;

function analyze(args: readonly string[], text: string) {
  const file = folder.write('bridge-exporter.service', text);
  return runTool('systemd-analyze', [...args, '--no-pager', file]);
}

const setting = (name: string): string | undefined => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1];

describe.skipIf(!hasAnalyze)('the systemd unit', () => {
  it('is valid', () => {
    // systemd checks that the executable exists.
    const runnable = unit.replace('/usr/bin/node', process.execPath);
    expect(analyze(['verify'], runnable)).toEqual({ status: 0, output: '' });
    expect(analyze(['verify'], runnable.replace('ProtectHome=', 'ProtektHome=')).output).toMatch(/ProtektHome/);
  });

  it('has a low exposure level', () => {
    const { status, output } = analyze(['security', '--offline=true', `--threshold=${MAX_EXPOSURE * 10}`], unit);
    expect(status, output).toBe(0);
  });
});

describe('the settings of the systemd unit', () => {
  it('prevent a restart after the exit code of an invalid configuration', async () => {
    const { code } = await runHere([], { BRIDGE_URL: 'node.example.org' });
    expect(setting('RestartPreventExitStatus')).toBe(String(code));
  });

  it('restart it after a reload that came too early', () => {
    expect(setting('ExecReload')).toContain('-HUP');
    expect(setting('RestartForceExitStatus')).toBe('SIGHUP');
  });

  it('keep the state file in the state directory', () => {
    expect(setting('Environment')).toBe(`STATE_FILE=/var/lib/${setting('StateDirectory')}/state.json`);
    // The lock is a socket.
    expect(setting('RestrictAddressFamilies')).toContain('AF_UNIX');
  });

  it('include an environment file with existing variables, of which the URL of a node is enough', async () => {
    const known = new Set<string>([
      ...Object.keys(targetVariables),
      ...commands.flatMap(({ options }) => options.flatMap(({ envVar }) => envVar ?? [])),
    ]);
    const variables = Array.from(environment.matchAll(/^#?([A-Z_]+)=/gm), ([, name = '']) => name);
    expect(variables).toContain('CONFIG_FILE');
    expect(variables.filter((name) => !known.has(name))).toEqual([]);
    for (const name of ['BRIDGE_URL', 'CROSSCHAIN_URL']) {
      const value = new RegExp(`^#${name}=(.*)$`, 'm').exec(environment)?.[1] ?? '';
      expect((await runHere(['--config.check'], { [name]: value })).code, name).toBe(0);
    }
    expect(setting('EnvironmentFile')).toBe(/^# (\S+\.env): /.exec(environment)?.[1]);
  });
});
