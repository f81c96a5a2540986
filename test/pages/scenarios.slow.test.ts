import { expect, it } from 'vitest';
import { verdictsOf } from '../../src/poll/verdicts.js';
import type { Instant } from '../../src/clock.js';
import { demoConfig } from '../../src/commands/demo.js';
import { createPastModel, runTimeLapse } from '../../src/commands/time-lapse.js';
import { endpointStatus } from '../../src/pages/endpoint-view.js';
import { statusPage } from '../../src/pages/status-page.js';
import { targetViews } from '../../src/pages/target-view.js';
import { isoTime } from '../../src/pages/time.js';
import { jobsOf } from '../../src/poll/jobs.js';
import { scenarioNames, type ScenarioName } from '../../src/simulator/scenarios.js';
import { instance, testLinks, textOf } from './sample-snapshots.js';

/*
 * What the status page says first when a demo of each scenario starts, as when the pager rings: what is wrong, who has to act, how urgent
 * it is.
 */

const now: Instant = { epochSeconds: 1_790_000_000, monotonicMs: 0 };

/** The heading, what it has no room for, if anything, and the next step. Blocks are slow, for a fast test. */
async function headingOf(scenario: ScenarioName): Promise<readonly string[]> {
  const model = createPastModel({ seed: 1, scenario, blockTimeMs: 20_000, startTime: now.epochSeconds });
  const config = demoConfig('http://node.example', model);
  const { pastOf } = await runTimeLapse(model, scenario, config, now);
  const pasts = jobsOf(config).flatMap((job) => pastOf(job) ?? []);
  const statuses = pasts.map(({ state }) => endpointStatus(state, { origin: 'http://node.example' }, now));
  const targets = targetViews(
    verdictsOf(
      pasts.map(({ state }) => state),
      now,
    ),
    statuses,
    testLinks(),
  );
  const html = statusPage(
    { generatedAt: isoTime(now.epochSeconds), targets, endpoints: statuses, validatorNames: [], instance },
    { telemetryPath: '/metrics', version: '0.1.0' },
  );
  const lines = textOf(html).split('\n');
  return lines.slice(0, lines.findIndex((line) => /^(Act |For the record|If it lasts |No problem)/.test(line)) + 1);
}

it('the heading of the status page says what is wrong, who has to act and how urgent it is, in every scenario', async () => {
  const headings: string[] = [];
  for (const scenario of scenarioNames) {
    // oxlint-disable-next-line no-await-in-loop -- it does not wait
    headings.push(`${scenario}\n\n${(await headingOf(scenario)).map((line) => `    ${line}\n`).join('')}`);
  }
  await expect(headings.join('\n')).toMatchFileSnapshot('golden/headings.txt');
});
