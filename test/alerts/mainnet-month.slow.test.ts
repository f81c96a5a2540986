import { describe, expect, it } from 'vitest';
import type { Objective } from '../../src/config/endpoint-config.js';
import { hasTool } from '../support/tools.js';
import { metricsInRules, runAlerts, type Firing } from './promtool.js';
import { record } from './recording.js';
import { contradictions, observeVerdicts } from './verdict-comparison.js';

/*
 * A month of the scenario mainnet: dust, poor batches, absent votes, slow and missed cctxs, a validator that is jailed and returns, an
 * abandoned validator set and a rotation of the threshold key are no reason to wake anybody.
 */

const DAYS = 30;
const WINDOW_DAYS = 3;
/** Enough for most alerts; those on the height require three polls within ten minutes, see the days in detail. */
const SAMPLE_SECONDS = 600;
const DETAIL_SAMPLE_SECONDS = 60;

/** Days whose events are shorter than the samples of the month. */
const DAYS_IN_DETAIL = [
  { title: 'the first day', afterDays: 0, minutes: 6 * 60 },
  { title: 'a phantom claim at night', afterDays: 3, minutes: 16 * 60 },
  { title: 'the upgrade, and an abandoned validator set after it', afterDays: 18, minutes: 30 * 60 },
];

/** A fifth of the withdrawals waits for others that pay the batch, some of them for hours. */
const OBJECTIVE: Objective = { withdrawal: 4 * 3_600_000, ratio: '0.8' };

const UPGRADE_ALERTS = new Set(['BridgeHeightStalled', 'CrosschainHeightStalled', 'BridgeSnapshotStale']);

/** The alerts that someone has to look at, as one line each. */
function disturbances(firings: readonly Firing[], beginsAtMinute: number): string[] {
  return firings
    .filter(({ severity }) => severity === 'critical' || severity === 'warning')
    .map(({ alert, severity, labels, from, until, count }) => {
      const { name = '', chain_id = '', token_contract = '' } = labels;
      const subject = [name, chain_id, token_contract].filter(Boolean).join(' ');
      const day = (minute: number): string => ((beginsAtMinute + minute) / 1440).toFixed(2);
      return `${alert}/${severity} ${subject} day ${day(from)} to ${day(until)}, ${count} times`;
    });
}

const isAboutPhantomClaim = ({ alert, severity }: Firing): boolean =>
  alert === 'BridgeOracleStalled' && severity === 'warning';

function firingsOf(afterDays: number, minutes: number, sampleSeconds: number): Firing[] {
  const verdicts = observeVerdicts();
  const options = {
    scenario: 'mainnet',
    afterDays,
    sampleSeconds,
    keep: metricsInRules,
    objective: OBJECTIVE,
  } as const;
  const recording = record([{ minutes }], { ...options, observe: verdicts.observe });
  const firings = runAlerts(recording);
  // With fewer samples, Prometheus sees less than the exporter, which remembers since when.
  if (sampleSeconds === DETAIL_SAMPLE_SECONDS) expect(contradictions(verdicts, firings)).toEqual([]);
  return firings;
}

describe.skipIf(!hasTool('promtool'))('the alerts in a month of the scenario mainnet', () => {
  const windows = Array.from({ length: DAYS / WINDOW_DAYS }, (_, index) => index * WINDOW_DAYS);

  it.each(windows)('do not disturb anybody from day %i on, but for a phantom claim', (afterDays) => {
    const firings = firingsOf(afterDays, WINDOW_DAYS * 24 * 60, SAMPLE_SECONDS);
    const expected = firings.filter((firing) => isAboutPhantomClaim(firing) || UPGRADE_ALERTS.has(firing.alert));
    expect(disturbances(firings, afterDays * 1440)).toEqual(disturbances(expected, afterDays * 1440));
    expect(firings.some(({ alert }) => alert === 'BridgeWatchdog')).toBe(true);
  });

  it.each(DAYS_IN_DETAIL)('are right in detail: $title', ({ afterDays, minutes }) => {
    const firings = firingsOf(afterDays, minutes, DETAIL_SAMPLE_SECONDS);
    const isUpgrade = afterDays === 18;
    const expected = firings.filter((firing) =>
      isUpgrade ? UPGRADE_ALERTS.has(firing.alert) : isAboutPhantomClaim(firing),
    );
    expect(disturbances(firings, afterDays * 1440)).toEqual(disturbances(expected, afterDays * 1440));
    const names = new Set(expected.map(({ alert }) => alert));
    if (isUpgrade)
      expect([...names]).toEqual(expect.arrayContaining(['BridgeHeightStalled', 'CrosschainHeightStalled']));
    else expect([...names]).toEqual(afterDays === 0 ? [] : ['BridgeOracleStalled']);
  });
});
