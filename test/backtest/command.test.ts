import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runExporter } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool } from '../support/tools.js';

/* Forty minutes of a chain whose oracle stands still, recorded every 5 minutes. */

const START = Date.parse('2026-11-23T08:00:00Z') / 1000;
const folder = createTempFolder();
const recording = join(folder.path, 'recording');

const rules = (name: string, ...alerts: readonly string[]): string =>
  folder.write(name, `groups: [{name: test, rules: [${alerts.join(', ')}]}]`);

const STALLED = `{alert: Stalled, expr: "bridge_pending_events > 0", for: 10m, labels: {severity: critical}}`;
const DOWN = `{alert: Down, expr: "bridge_exporter_up == 0", labels: {severity: critical}}`;

beforeAll(async () => {
  const simulated = ['--scenario=stalled-oracle', `--start-time=${START}`, '--block-time=30s'];
  await runExporter(['simulate', ...simulated, '--record', recording, '--duration=40m', '--interval=5m']);
});

const backtest = async (...flags: string[]) => runExporter(['backtest', '--recording', recording, ...flags]);

describe.skipIf(!hasTool('promtool'))('backtest', () => {
  it('prints a table of the alerts, and one of when they fired', async () => {
    const { code, stdout, stderr } = await backtest(`--rules=${rules('a.yml', STALLED, DOWN)}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`2026-11-23T08:00:00Z to 2026-11-23T08:50:00Z, 50 min: 1 alert would have fired

alert    severity  times  a week  firing  longest
Stalled  critical  1              41 min  41 min

from                  for                 alert    severity  labels
2026-11-23T08:10:00Z  41 min, to the end  Stalled  critical  target="default"
`);
  });

  it('prints what other rules change against the shipped ones', async () => {
    const { code, stdout } = await backtest(`--rules=${rules('b.yml', STALLED)}`, '--compare', '--format=json');
    expect(code).toBe(0);
    const { comparison } = JSON.parse(stdout) as { comparison: Record<string, { alert: string }[]> };
    expect(comparison['gone']?.map(({ alert }) => alert)).toContain('BridgeOracleStalled');
    expect(comparison['added']).toMatchObject([
      { alert: 'Stalled', labels: { target: 'default' }, from: '2026-11-23T08:10:00Z', until: null, seconds: 2460 },
    ]);
  });

  it('reports a time without recorded polls', async () => {
    expect(await backtest('--from=2026-11-25')).toEqual({
      code: 1,
      stdout: '',
      stderr: `bridge-exporter: ${recording}: no recorded poll in this time\n`,
    });
  });

  it('reports rules that cannot be read, and flags that have no effect', async () => {
    const missing = await backtest('--rules=/does/not/exist.yml');
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain('/does/not/exist.yml');
    expect(await backtest('--compare')).toMatchObject({ code: 2 });
  });
});

describe('backtest without promtool', () => {
  it('says how to get it, before it reads the recording', async () => {
    const result = await runExporter(['backtest', '--recording', '/does/not/exist'], { PATH: folder.path });
    expect(result).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'bridge-exporter: promtool is not in the PATH: it evaluates the rules. It is part of Prometheus: apt-get install prometheus, or https://prometheus.io/download/\n',
    });
  });
});
