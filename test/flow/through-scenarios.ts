import { createModel, type Model } from '../../src/simulator/model.js';
import { Random } from '../../src/simulator/random.js';
import { scenarioNames, type ScenarioName } from '../../src/simulator/scenarios.js';

/* A simulated chain that is in all scenarios in turn, and when it is polled. */

export const START_SECONDS = 1_790_000_000;

export interface WeekOptions {
  readonly start: ScenarioName;
  /** How long each incident lasts. */
  readonly incidentHours: number;
  readonly pollSeconds: number;
  readonly failedShare: number;
}

export function modelOf({ start }: WeekOptions): Model {
  const blockTimeMs = start === 'mainnet' ? undefined : 10_000;
  return createModel({ seed: 5, scenario: start, startTime: START_SECONDS, blockTimeMs });
}

/** The seconds from the start until each poll that does not fail, until which the chain has advanced. */
export function* throughScenarios(
  model: Model,
  { incidentHours, pollSeconds, failedShare }: WeekOptions,
): Generator<number> {
  const random = new Random(5, 'failed polls');
  let seconds = 0;
  for (const scenario of scenarioNames.filter((name) => name !== 'mainnet')) {
    model.setScenario(scenario);
    for (let step = 0; step < (incidentHours * 3600) / pollSeconds; step += 1) {
      model.advanceTime(pollSeconds * 1000);
      seconds += pollSeconds;
      if (!random.chance(failedShare)) yield seconds;
    }
  }
}
