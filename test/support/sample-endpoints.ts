import { readBody, type PollResult, type DocumentSource } from '../../src/poll/collect.js';
import { demoConfig } from '../../src/simulator/demo.js';
import { createModel, type Model } from '../../src/simulator/model.js';
import type { Instant } from '../../src/poll/clock.js';
import { endpointKeyOf, documentSourceBase } from '../../src/poll/jobs.js';
import { createSnapshots, type Snapshots } from '../../src/poll/snapshots.js';
import { trustedDigits } from '../../src/json/numeral.js';

/** A chain that is the same whenever it is made: 40 blocks after a lived-in start. */
export function sampleModel(): Model {
  const model = createModel({ seed: 7, scenario: 'healthy', startTime: 1_790_000_000, blockTimeMs: 2000 });
  model.advance(40);
  return model;
}

export const NOW: Instant = { epochSeconds: 1_790_000_100.25, monotonicMs: 100_000 };

const SECONDS = { fetch: 0.05, decode: 0.004, derive: 0.002 };

/** Both endpoints of a target of the demo, answered once by the model. */
export function sampleSnapshots(model: Model = sampleModel()): Snapshots {
  const config = demoConfig({ url: 'http://127.0.0.1:1317', tokens: model.tokens });
  const [target] = config.targets;
  if (target?.bridge === undefined || target.crosschain === undefined) throw new Error('the demo has both endpoints');
  const base = documentSourceBase(config, target);
  const bodies: [DocumentSource, unknown][] = [
    [{ ...base, document: 'module_state', settings: target.bridge }, model.moduleState()],
    [
      { ...base, document: 'rate_limiter_input', settings: target.crosschain },
      model.rateLimiterInput({ window: 500n }),
    ],
  ];
  const keys = bodies.map(([reading]) => endpointKeyOf(reading));
  const snapshots = createSnapshots(keys, config.poll);
  for (const [reading, body] of bodies) {
    const outcome = readBody(reading, 'sample', Buffer.from(JSON.stringify(body)), trustedDigits(String(model.height)));
    snapshots.record(endpointKeyOf(reading), atFixedPace(outcome), NOW);
  }
  return snapshots;
}

function atFixedPace(outcome: PollResult): PollResult {
  return { ...outcome, seconds: SECONDS };
}
