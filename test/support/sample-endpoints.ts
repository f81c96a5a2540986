import type { TargetLabels } from '../../src/config/config.js';
import type { Moment } from '../../src/clock.js';
import { recordedStates, type RecordedStates } from './endpoint-states.js';
import { targetOptions } from '../../src/engine/jobs.js';
import { pollOf } from './polls.js';
import { demoConfig } from '../../src/commands/demo.js';
import { createModel, type Model } from '../../src/simulator/model.js';
import type { StepContext } from '../../src/document-types.js';

/** A deterministic chain, 40 blocks after the start. */
export function sampleModel(): Model {
  const model = createModel({ seed: 7, scenario: 'healthy', startTime: 1_790_000_000, blockTimeMs: 2000 });
  model.advance(40);
  return model;
}

export const NOW: Moment = { at: 1_790_000_100.25, clockOffset: 0 };

const DURATIONS = { fetch: 0.05, decode: 0.004, derive: 0.002 };

/** The snapshots after one successful poll of both endpoints of the demo's target. */
export function sampleSnapshots(model: Model = sampleModel(), labels?: TargetLabels): RecordedStates {
  const config = demoConfig('http://127.0.0.1:1317', model);
  const [target] = config.targets;
  if (target?.bridge === undefined || target.crosschain === undefined) throw new Error('the demo has both endpoints');
  const base = targetOptions(config, { ...target, ...(labels && { labels }) });
  const bodies: [StepContext, unknown, path: string][] = [
    [{ ...base, document: 'module_state', settings: target.bridge }, model.moduleState(), '/bridge/v1/module_state'],
    [
      { ...base, document: 'rate_limiter_input', settings: target.crosschain },
      model.rateLimiterInput({ window: 500n }),
      '/chain/crosschain/rateLimiterInput',
    ],
  ];
  const endpoints = bodies.map(([source]) => source);
  const snapshots = recordedStates(endpoints, {
    maxBodyBytes: config.poll.max_body_size,
    staleAfterMs: config.poll.stale_after,
  });
  for (const [source, body, path] of bodies) {
    const result = pollOf(source, body, { height: model.height, at: NOW, source: 'sample' });
    const polled = { ...result, phaseSeconds: DURATIONS, servedPath: { dialect: 'neutral', path } };
    snapshots.record(source, polled, NOW);
  }
  return snapshots;
}
