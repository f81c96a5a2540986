import { expect, it } from 'vitest';
import { hasTool } from '../support/tools.js';
import { evaluateAlerts, runAlerts, type Setup } from './promtool.js';
import type { Recording } from './recording.js';

/*
 * The names of validators in alerts: they come from bridge_orchestrator_info, which can be missing, change, or differ between replicas
 * of Prometheus. An alert fires in every case.
 */
const MINUTES = 240;
const ALERT = 'BridgeOrchestratorMissingVotes';

type Series = readonly (readonly [key: string, value: (minute: number) => number | undefined])[];

function recordingOf(series: Series): Recording {
  const minutes = Array.from({ length: MINUTES }, (_, minute) => minute);
  return {
    sampleSeconds: 60,
    samples: MINUTES,
    series: new Map(series.map(([key, value]) => [key, minutes.map(value)])),
  };
}

const member = (orchestrator: string): string =>
  `target="main",orchestrator="${orchestrator}",external_address="0x${orchestrator}"`;
const info = (orchestrator: string, name: string, watched = false): string =>
  `bridge_orchestrator_info{${member(orchestrator)},validator="v",name="${name}",watched="${watched}"}`;

const power = (orchestrator: string, ratio: number): Series[number] => [
  `bridge_orchestrator_power_ratio{${member(orchestrator)}}`,
  () => ratio,
];

/** Two validators whose votes are missing all the time. */
const incident: Series = [
  [`bridge_orchestrator_missing_votes{${member('a')}}`, () => 1],
  [`bridge_orchestrator_missing_votes{${member('b')}}`, () => 1],
  power('a', 0.01),
  power('b', 0.2),
  ['bridge_last_observed_nonce{target="main"}', () => 7],
];

/** Each alert with the labels of its validator, and how many times it fired. */
function firingsOf(series: Series, setup?: Setup): string[] {
  return runAlerts(recordingOf([...incident, ...series]), {}, setup)
    .filter(({ alert }) => alert === ALERT)
    .map(({ labels, count }) => `${labels['orchestrator']} ${labels['name']} ${labels['watched']} ${count}`)
    .toSorted();
}

const textsOf = (series: Series): string =>
  evaluateAlerts(recordingOf([...incident, ...series]), [{ alert: ALERT, minute: 200 }]).texts;

/** One alert for all validators of others. */
const OTHERS = 'undefined undefined false 1';

const hasPromtool = hasTool('promtool');

it.skipIf(!hasPromtool)('a watched validator has an alert with its name, and all others have one together', () => {
  const series: Series = [
    [info('a', 'Alpha', true), () => 1],
    [info('b', 'Beta'), () => 1],
  ];
  expect(firingsOf(series)).toEqual(['a Alpha true 1', OTHERS]);
  const texts = textsOf(series);
  expect(texts).toContain('summary="main: your validator Alpha does not vote."');
  expect(texts).toContain('summary="main: validators with 20% of the power do not vote."');
  expect(texts).toContain('dashboard_url="/d/bridge-signers?var-target=main"');
});

it.skipIf(!hasPromtool)('the validators of others have no alert below 15 % of the power', () => {
  const series: Series = [
    [info('a', 'Alpha'), () => 1],
    [info('b', 'Beta', true), () => 1],
  ];
  expect(firingsOf(series)).toEqual(['b Beta true 1']);
});

it.skipIf(!hasPromtool)('validators without bridge_orchestrator_info and without a name are those of others', () => {
  const series: Series = [[info('b', ''), () => 1]];
  expect(firingsOf(series)).toEqual([OTHERS]);
  expect(textsOf(series)).toContain('validators with 21% of the power do not vote.');
});

it.skipIf(!hasPromtool)('an alert of a validator keeps its name while a restarted exporter has not read it', () => {
  const isRestarting = (minute: number): boolean => minute >= 150 && minute < 153;
  const series: Series = [
    [info('a', 'Alpha', true), (minute) => (isRestarting(minute) ? undefined : 1)],
    [info('a', '', true), (minute) => (isRestarting(minute) ? 1 : undefined)],
    [info('b', 'Beta'), () => 1],
  ];
  expect(firingsOf(series)).toEqual(['a Alpha true 1', OTHERS]);
});

it.skipIf(!hasPromtool)('an alert of a validator fires while replicas of Prometheus have different names', () => {
  const replicas: Setup = { targetLabels: [{ replica: 'r1' }, { replica: 'r2' }] };
  const series: Series = [
    [info('a', 'Alpha', true), () => 1],
    [info('a', 'Alpha Renamed', true), () => 1],
    [info('b', 'Beta'), () => 1],
  ];
  const firings = firingsOf(series, replicas);
  // One alert per replica with one of the names, and one for the others of both replicas together.
  expect(firings).toHaveLength(3);
  expect(firings.filter((firing) => firing === OTHERS)).toHaveLength(1);
  expect(new Set(firings.filter((firing) => firing.startsWith('a Alpha'))).size).toBe(1);
});
