import { expect, it } from 'vitest';
import { scenarios, type ScenarioName } from '../../src/simulator/scenarios.js';
import { record } from './recording.js';

/* A summary and an action are labels of a series, and a text on a phone: they do not move while a problem lasts. */

const HEALTHY_MINUTES = 12;
/** The window of the rule, after an hour in which the problem builds up. */
const MINUTES = 120;
const names = Object.keys(scenarios) as ScenarioName[];

it.each(names)('have at most two pairs of summary and action for a problem in an hour of %s', (scenario) => {
  const texts = new Map<string, Map<string, number>>();
  // A chain cannot change to a main network.
  const phase = scenario === 'mainnet' ? {} : { scenario };
  record([{ minutes: HEALTHY_MINUTES }, { minutes: MINUTES, ...phase }], {
    ...(scenario === 'mainnet' && { scenario }),
    sampleSeconds: 120,
    valsets: 3,
    observe: (targets, minute) => {
      for (const { id, alert, severity, startSeconds, summary, action } of targets.flatMap(
        ({ problems }) => problems,
      )) {
        // A problem that begins anew is another one.
        const key = `${alert} ${severity} ${id} since ${startSeconds}`;
        const own = texts.get(key) ?? new Map<string, number>();
        texts.set(key, own);
        const pair = `${summary} → ${action}`;
        if (!own.has(pair)) own.set(pair, minute);
      }
    },
  });
  const moving = Array.from(texts).flatMap(([key, pairs]) => {
    const minutes = Array.from(pairs.values());
    const isMoving = minutes.some((first, index) => (minutes[index + 2] ?? Infinity) - first < 60);
    return isMoving ? [`${key}: ${Array.from(pairs, ([pair, minute]) => `${minute}: ${pair}`).join(' | ')}`] : [];
  });
  expect(moving).toEqual([]);
});
