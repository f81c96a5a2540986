import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createBacktest } from '../../src/backtest/backtest.js';
import { compareFirings } from '../../src/backtest/comparison.js';
import type { Firing } from '../../src/backtest/firings.js';
import { readRuleFile, readsMetric } from '../../src/backtest/rule-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool } from '../support/tools.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse('2026-11-23T00:00:00Z');
const hasPromtool = hasTool('promtool');
const folder = createTempFolder();

const RULES = `groups:
  - name: recording
    rules:
      - {record: "target:height:max1h", expr: "max_over_time(bridge_height[1h])"}
  - name: alerts
    rules:
      - {alert: Low, expr: "bridge_height < 10", for: 5m, labels: {severity: critical}, annotations: {summary: "{{ with query \\"bridge_up\\" }}{{ end }}"}}
      - {alert: Dropped, expr: "bridge_height < on (target) target:height:max1h", keep_firing_for: 10m, labels: {severity: warning}}
      - {alert: Late, expr: "time() - bridge_block_timestamp_seconds > 600", labels: {severity: info}}
      - {alert: Gone, expr: "absent(bridge_height)", for: 3m, labels: {severity: critical}}
`;

const rulesFile = (name: string, text = RULES) => {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return readRuleFile(path, text);
};

/** The exposition at a minute: the height is low from 100 to 160 and from 300 to 303, and there is none from 400 to 430. */
function scrapeAt(minute: number): string | undefined {
  if (minute >= 400 && minute < 430) return undefined;
  const isLow = (minute >= 100 && minute < 160) || (minute >= 300 && minute < 303);
  const blockTime = START / 1000 + 60 * (minute >= 500 && minute < 530 ? 500 : minute) + 0.25;
  return `# TYPE bridge_height gauge
bridge_height{target="a \\"b\\"\\\\"} ${isLow ? 1 : 20}
bridge_block_timestamp_seconds{target="a"} ${blockTime}
bridge_unread{target="a"} ${minute}
`;
}

async function firingsWith(windowMs: number): Promise<readonly Firing[]> {
  const ruleSet = { name: 'rules', files: [rulesFile('rules.yml')] };
  const backtest = createBacktest([ruleSet], { stepMs: MINUTE, windowMs });
  for (let minute = 0; minute < 600; minute += 1) {
    const scrape = scrapeAt(minute);
    // oxlint-disable-next-line no-await-in-loop -- scrapes follow each other
    if (scrape !== undefined) await backtest.add(scrape, START + minute * MINUTE);
  }
  const { firings, range } = await backtest.finish();
  expect(range).toEqual({ fromMs: START, toMs: START + 599 * MINUTE });
  return firings[0] ?? [];
}

const minuteOf = (ms: number): number => (ms - START) / MINUTE;

describe.skipIf(!hasPromtool)('a backtest', () => {
  const target = 'a "b"\\';

  it('finds when alerts would have begun and ended to fire', async () => {
    const firings = await firingsWith(48 * HOUR);
    const rows = firings.map(({ alert, severity, labels, fromMs, untilMs }) => [
      alert,
      severity,
      labels,
      minuteOf(fromMs),
      minuteOf(untilMs),
    ]);
    expect(rows).toEqual([
      ['Dropped', 'warning', { target }, 100, 169],
      ['Low', 'critical', { target }, 105, 159],
      // Shorter than its `for`.
      ['Dropped', 'warning', { target }, 300, 312],
      ['Gone', 'critical', {}, 403, 429],
      // 600 s after the last block, by the clock of the time.
      ['Late', 'info', { target: 'a' }, 511, 529],
    ]);
  });

  it('finds the same in short windows as in one', async () => {
    expect(await firingsWith(2 * HOUR)).toEqual(await firingsWith(48 * HOUR));
  });

  it('reports rules that promtool rejects', async () => {
    const broken = rulesFile('broken.yml', RULES.replace('bridge_height < 10', 'bridge_height <'));
    const backtest = createBacktest([{ name: 'broken', files: [broken] }], { stepMs: MINUTE, windowMs: HOUR });
    await backtest.add(scrapeAt(0) ?? '', START);
    await expect(backtest.finish()).rejects.toThrow(/promtool rejects the rules: [^]*parse error/);
  });
});

describe('a rules file', () => {
  it('reads the metrics that its expressions and annotations name, also by a pattern', () => {
    const file = rulesFile('rules.yml');
    expect(
      ['bridge_height', 'bridge_block_timestamp_seconds', 'bridge_up', 'bridge_unread'].filter((name) =>
        readsMetric(file, name),
      ),
    ).toEqual(['bridge_height', 'bridge_block_timestamp_seconds', 'bridge_up']);
    const byPattern = readRuleFile(
      'x',
      'groups: [{name: a, rules: [{alert: A, expr: \'{__name__=~"bridge_(a|b)"} > 0\'}]}]',
    );
    expect(['bridge_a', 'bridge_ab'].map((name) => readsMetric(byPattern, name))).toEqual([true, false]);
  });

  it('is named in an error', () => {
    expect(() => readRuleFile('rules.yml', 'groups: [')).toThrow(/^rules\.yml: Flow sequence .* at line 1, column 10$/);
    expect(() => readRuleFile('rules.yml', 'a: 1')).toThrow('rules.yml: is not a rules file: it has no list of groups');
  });

  it('looks back as far as its ranges, offsets and durations together', () => {
    expect(rulesFile('rules.yml').lookbackMs).toBe(HOUR + 15 * MINUTE);
  });

  it('is rejected without groups', () => {
    expect(() => readRuleFile('rules.yml', 'rules: []')).toThrow(
      'rules.yml: is not a rules file: it has no list of groups',
    );
  });
});

describe('a comparison of rules', () => {
  const firing = (alert: string, from: number, until: number): Firing => ({
    alert,
    severity: 'warning',
    labels: { target: 'a' },
    fromMs: from,
    untilMs: until,
  });

  it('has the firings that disappear, those that are new, and those with other times', () => {
    const before = [firing('Same', 0, 9), firing('Gone', 0, 9), firing('Moved', 0, 9), firing('Split', 0, 3)];
    const after = [firing('Same', 0, 9), firing('Moved', 5, 9), firing('Split', 7, 9), firing('New', 0, 1)];
    expect(compareFirings(before, after)).toEqual({
      gone: [firing('Gone', 0, 9), firing('Split', 0, 3)],
      added: [firing('Split', 7, 9), firing('New', 0, 1)],
      moved: [{ before: firing('Moved', 0, 9), after: firing('Moved', 5, 9) }],
    });
  });
});
