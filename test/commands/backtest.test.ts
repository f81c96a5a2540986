import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { recordChain } from '../recorder/recorded-chain.js';
import { runHere } from '../support/command-context.js';
import { createTempFolder } from '../support/temp-folder.js';

interface Report {
  readonly alerts: readonly { readonly alert: string; readonly times: number }[];
  readonly firings: readonly { readonly alert: string; readonly from: string }[];
}

const START = '2026-11-23T08:00Z';
const folder = createTempFolder();
const stalled = join(folder.path, 'stalled-oracle');
const healthy = join(folder.path, 'healthy');

const chain = {
  scenario: 'healthy',
  startTime: Date.parse(START) / 1000,
  pollSeconds: 300,
  blockTimeMs: 30_000,
} as const;

beforeAll(async () => {
  await recordChain({ ...chain, directory: stalled, scenario: 'stalled-oracle', minutes: 90 });
  await recordChain({ ...chain, directory: healthy, minutes: 30 });
}, 180_000);

async function reportOf(...args: readonly string[]): Promise<Report> {
  const { stdout, stderr } = await runHere(['backtest', '--format=json', ...args]);
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Report;
}

const isOfOracle = ({ alert }: { readonly alert: string }): boolean => alert === 'BridgeOracleStalled';

describe('backtest', () => {
  // docs/backtesting.md has a whole table, which test/docs/backtesting.slow.test.ts compares.
  it('prints that nothing would have fired on a healthy chain', async () => {
    const { code, stdout } = await runHere(['backtest', '--recording', healthy]);
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      expect.stringMatching(/^from 2026-11-23T08:00Z to /),
      '',
      'no alert would have fired',
    ]);
  });

  it('prints a part of a recording as JSON, judged with what was before it', async () => {
    const { alerts, firings, ...others } = await reportOf(
      '--recording',
      stalled,
      '--from=2026-11-23T08:40',
      '--to=2026-11-23T09:10',
    );
    expect(others).toMatchObject({ from: '2026-11-23T08:40Z', to: '2026-11-23T09:10Z' });
    expect(alerts[0]).toEqual({
      alert: 'BridgeOracleStalled',
      severity: 'critical',
      times: 1,
      hidden: 0,
      timesPerWeek: 336,
      seconds: 31 * 60,
    });
    expect(firings.find(isOfOracle)).toEqual({
      alert: 'BridgeOracleStalled',
      severity: 'critical',
      target: 'default',
      document: 'module_state',
      subject: {},
      from: '2026-11-23T08:40Z',
      seconds: 31 * 60,
      firesAtEnd: true,
      hiddenBy: null,
      text: expect.stringMatching(/^default: critical: event \d+ .* is not observed, for /) as string,
    });
  });

  it('bridges a gap in the recording like the rules, and counts twice what fires again after a longer one', async () => {
    const withGap = async (name: string, untilMinute: number): Promise<Report> => {
      const directory = join(folder.path, name);
      cpSync(stalled, directory, { recursive: true });
      rmSync(join(directory, 'default/rate_limiter_input'), { recursive: true });
      const day = join(directory, 'default/module_state/2026-11-23');
      for (const file of readdirSync(day)) {
        const minute = Number(file.slice(0, 2)) * 60 + Number(file.slice(2, 4)) - 8 * 60;
        if (minute > 30 && minute < untilMinute) rmSync(join(day, file));
      }
      return reportOf('--recording', directory);
    };
    const short = await withGap('short-gap', 50);
    expect(short.firings.filter(isOfOracle)).toHaveLength(1);
    const long = await withGap('long-gap', 70);
    expect(long.firings.filter(isOfOracle).map(({ from }) => from)).toEqual(['2026-11-23T08:00Z', '2026-11-23T09:10Z']);
    expect(long.alerts.find(isOfOracle)).toMatchObject({ times: 2 });
  });

  it('names a file that cannot be read, and exits with 1', async () => {
    const directory = join(folder.path, 'damaged');
    cpSync(healthy, directory, { recursive: true });
    const file = join(directory, 'default/module_state/2026-11-23/083000.000Z.json.gz');
    writeFileSync(file, 'no gzip');
    const { code, stdout, stderr } = await runHere(['backtest', '--recording', directory]);
    expect(code).toBe(1);
    expect(stdout).toContain('no alert would have fired');
    expect(stderr).toContain(`bridge-exporter: ${file}: `);
  });

  it('names polls of a wrong clock, leaves them out, and exits with 1', async () => {
    const directory = join(folder.path, 'wrong-clock');
    cpSync(stalled, directory, { recursive: true });
    const day = join(directory, 'default/module_state/2026-11-23');
    const content = gunzipSync(readFileSync(join(day, '081000.000Z.json.gz'))).toString('latin1');
    const wrong = join(directory, 'default/module_state/1970-01-01');
    mkdirSync(wrong);
    for (const minute of ['00', '05']) {
      const text = content.replace('2026-11-23T08:10:00.000Z', `1970-01-01T00:${minute}:00.000Z`);
      writeFileSync(join(wrong, `00${minute}00.000Z.json.gz`), gzipSync(Buffer.from(text, 'latin1')));
    }
    const { code, stdout, stderr } = await runHere(['backtest', '--format=json', '--recording', directory]);
    expect(code).toBe(1);
    expect(stderr).toBe(
      'bridge-exporter: 2 recorded polls from 1970-01-01T00:00:00.000Z on (default/module_state/1970-01-01/000000.000Z.json.gz) left out: their time is months from all other polls, probably by a wrong clock; --from and --to select them\n',
    );
    expect(JSON.parse(stdout)).toEqual(await reportOf('--recording', stalled));
  });

  it('exits with 1 when no poll is in the range', async () => {
    const { code, stdout, stderr } = await runHere(['backtest', '--recording', healthy, '--from=2027-01-01']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`bridge-exporter: ${healthy}: no recorded poll in the range\n`);
  });
});
