import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { targetVariables } from '../../src/config/environment.js';
import { environmentName, flagsOf } from '../../src/cli/flags.js';
import { run } from '../support/processes.js';
import { check, hasTool } from '../support/tools.js';
import { read } from './files.js';

const hasAnalyze = hasTool('systemd-analyze');
const folder = mkdtempSync(join(tmpdir(), 'systemd-'));
const unit = read('deploy/systemd/bridge-exporter.service');
const environment = read('deploy/systemd/bridge-exporter.env');

afterAll(() => rmSync(folder, { recursive: true }));

/** Of 0 to 10. Each version of systemd weighs a little differently: this one is what the docs tell of 252. */
const EXPOSURE_252 = 1.1;
const EXPOSURE = 1.5;

function analyze(args: readonly string[], text: string) {
  const file = join(folder, 'bridge-exporter.service');
  writeFileSync(file, text);
  return check('systemd-analyze', [...args, '--no-pager', file], '');
}

const setting = (name: string): string | undefined => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1];

describe.skipIf(!hasAnalyze)('the unit', () => {
  it('is one that systemd understands', () => {
    // Node.js need not be there where the tests run, and systemd looks.
    const started = unit.replace('/usr/bin/node', process.execPath);
    expect(analyze(['verify'], started)).toEqual({ status: 0, output: '' });
    expect(analyze(['verify'], started.replace('ProtectHome=', 'ProtektHome=')).output).toMatch(/ProtektHome/);
  });

  it('is as little exposed as the docs say', () => {
    const { status } = analyze(['security', '--offline=true', `--threshold=${EXPOSURE * 10}`], unit);
    expect(status).toBe(0);
    const isSystemd252 = check('systemd-analyze', ['--version'], '').output.startsWith('systemd 252');
    if (isSystemd252) expect(exposure(unit)).toBe(EXPOSURE_252);
    expect(read('docs/deployment.md')).toContain(`an exposure of ${EXPOSURE_252} (systemd 252)`);
  });

  it.each(['RestrictAddressFamilies', 'SystemCallFilter', 'PrivateUsers', 'PrivateMounts', 'DynamicUser'])(
    'would be more exposed without %s',
    (name) => {
      const without = unit.replaceAll(new RegExp(`^${name}=.*$`, 'gm'), '');
      expect(without).not.toBe(unit);
      expect(exposure(without)).toBeGreaterThan(exposure(unit));
    },
  );
});

function exposure(text: string): number {
  const { output } = analyze(['security', '--offline=true'], text);
  return Number(/exposure level .*: (\d+\.\d)/.exec(output)?.[1]);
}

describe('what the unit relies on', () => {
  it('is that a wrong configuration ends with the code after which it does not try again', async () => {
    const { code } = await run([], { BRIDGE_URL: 'node.example.org' });
    expect(setting('RestartPreventExitStatus')).toBe(String(code));
  });

  it('is that glibc gives memory back, as in the image', () => {
    const inImage = /^ENV (MALLOC_\w+=\S+)$/m.exec(read('Dockerfile'))?.[1];
    expect(inImage).toBeDefined();
    expect(setting('Environment')).toBe(inImage);
  });

  it('is an environment file, whose variables are there', () => {
    const known = new Set<string>([
      ...Object.keys(targetVariables),
      ...flagsOf('daemon').map(({ name }) => environmentName(name) ?? name),
    ]);
    const variables = Array.from(environment.matchAll(/^#?([A-Z_]+)=/gm), ([, name = '']) => name);
    expect(variables).toContain('CONFIG_FILE');
    expect(variables.filter((name) => !known.has(name))).toEqual([]);
    expect(setting('EnvironmentFile')).toBe(/^# (\S+\.env): /.exec(environment)?.[1]);
  });
});
