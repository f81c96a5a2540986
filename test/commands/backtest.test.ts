import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { recordSimulation } from '../../src/commands/simulated-polls.js';
import { wallSeconds } from '../../src/clock.js';
import { listVerdicts } from '../../src/engine/verdicts.js';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import { MINUTE_MS } from '../../src/units.js';
import { answerOf, startRecordedChain, useSimulatedTime } from '../recorder/every-poll.js';
import { createTestContext, runHere } from '../support/command-context.js';
import { createTempFolder } from '../support/temp-folder.js';

interface Report {
  readonly from: string;
  readonly to: string;
  readonly alerts: readonly { readonly alert: string; readonly times: number; readonly inhibited: number }[];
  readonly firings: readonly {
    readonly alert: string;
    readonly severity: string;
    readonly from: string;
    readonly seconds: number;
    readonly hiddenBy: string | null;
    readonly firesAtEnd: boolean;
  }[];
  readonly notJudged: readonly string[];
}

const START = '2026-11-23T08:00Z';
const folder = createTempFolder();
const stalled = join(folder.path, 'stalled-oracle');
const healthy = join(folder.path, 'healthy');

/** A chain that is polled every 5 minutes. */
async function record(scenario: ScenarioName, directory: string, minutes: number): Promise<void> {
  const simulated = { scenario, seed: 1, blockTime: 30_000, startTime: Date.parse(START) / 1000 };
  const recorded = { record: directory, duration: minutes * MINUTE_MS, interval: 5 * MINUTE_MS };
  const listen = { port: 0 };
  const context = { ...createTestContext(), waitForStopSignal: async () => new Promise<never>(() => undefined) };
  await recordSimulation({ ...simulated, ...recorded, listen, 'log.level': 'info', 'log.format': 'json' }, context);
}

beforeAll(async () => {
  await record('stalled-oracle', stalled, 90);
  await record('healthy', healthy, 30);
});

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
    expect(long.firings.filter(isOfOracle).map(({ from }) => from)).toEqual(['2026-11-23T08:05Z', '2026-11-23T09:10Z']);
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

  it.each([
    [['backtest'], 2, "error: required option '--recording <directory>' not specified\n"],
    [
      ['backtest', '--recording', healthy, '--format=xml'],
      2,
      "error: option '--format <format>' argument 'xml' is invalid. Allowed choices are table, json.\n",
    ],
    [['backtest', '--recording', healthy, '--target=a'], 2, "error: unknown option '--target'"],
    [
      ['backtest', '--recording', healthy, '--from=2027-01-01'],
      1,
      `bridge-exporter: ${healthy}: no recorded poll in the range\n`,
    ],
    [
      ['backtest', '--recording', `${healthy}/no`],
      1,
      `bridge-exporter: ${healthy}/no: no such file or directory — expected a directory`,
    ],
  ])('%j exits with %i', async (args, code, message) => {
    const result = await runHere(args);
    expect(result).toMatchObject({ code, stdout: '' });
    expect(result.stderr).toContain(message);
  });
});

describe('backtest of what a daemon has recorded', () => {
  useSimulatedTime();

  it('has the alerts of the daemon within a minute', async () => {
    const { model, daemon, directory } = await startRecordedChain('healthy', 300_000);
    const firing = new Map<string, number>();
    for (let poll = 0; poll < 24; poll += 1) {
      if (poll === 3) model.setScenario('stalled-oracle');
      // oxlint-disable-next-line no-await-in-loop -- polls follow each other
      await daemon.poll(answerOf(model));
      const states = daemon.loop.states();
      const { now } = daemon;
      for (const { verdicts } of listVerdicts(states, now())) {
        for (const { state, alert, severity } of verdicts) {
          const key = `${severity} ${alert}`;
          if (state === 'firing' && !firing.has(key)) firing.set(key, wallSeconds(now().at, now()));
        }
      }
      daemon.advance(MINUTE_MS);
      model.advanceTime(MINUTE_MS);
    }
    await daemon.close();
    vi.useRealTimers();
    expect(firing.has('critical BridgeOracleStalled')).toBe(true);
    const { firings } = await reportOf('--recording', directory);
    for (const [key, seconds] of firing) {
      const own = firings.find(({ severity, alert }) => `${severity} ${alert}` === key);
      expect(Math.abs(Date.parse(own?.from ?? '') / 1000 - seconds), key).toBeLessThanOrEqual(60);
    }
    expect(firings.filter(({ hiddenBy }) => hiddenBy === null).map(({ alert }) => alert)).toEqual([
      'BridgeOracleStalled',
    ]);
  });
});
