import { describe, expect, it } from 'vitest';
import type { Moment } from '../../src/clock.js';
import type { Config } from '../../src/config/config.js';
import { demoConfig } from '../../src/commands/demo.js';
import { summarize, type Summary } from '../../src/commands/once.js';
import { createJobs } from '../../src/engine/jobs.js';
import { createModel, type Model } from '../../src/simulator/model.js';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import { recordedStates } from '../support/endpoint-states.js';
import { failedFetch, pollOf } from '../support/polls.js';
import { readPoll } from '../support/steps.js';

const START_SECONDS = 1_790_000_000;
const HEALTHY_MINUTES = 10;

const chains = new Map<string, Model>();

/** A chain on which the scenario has lasted for some minutes. */
function chainAfter(scenario: ScenarioName, minutes: number): Model {
  const key = `${scenario} ${minutes}`;
  const known = chains.get(key);
  if (known !== undefined) return known;
  const model = createModel({ seed: 7, scenario: 'healthy', startTime: START_SECONDS, blockTimeMs: 20_000 });
  model.advanceTime(HEALTHY_MINUTES * 60_000);
  model.setScenario(scenario);
  model.advanceTime(minutes * 60_000);
  chains.set(key, model);
  return model;
}

/** What `once` says of it: no poll came before. */
function summaryOf(
  scenario: ScenarioName,
  minutes: number,
  { tokens, blockTimeMs }: { readonly tokens?: Config['tokens']; readonly blockTimeMs?: number } = {},
): Summary {
  const model = chainAfter(scenario, minutes);
  const now: Moment = { at: START_SECONDS + (HEALTHY_MINUTES + minutes) * 60, clockOffset: 0 };
  const demo = demoConfig('http://127.0.0.1:1', model);
  const targets = demo.targets.map(({ bridge, ...target }) => ({
    ...target,
    bridge: bridge && { ...bridge, block_time: blockTimeMs ?? bridge.block_time },
  }));
  const config = { ...demo, targets, tokens: tokens ?? demo.tokens };
  const contexts = createJobs(config)
    .map(({ context }) => ({ ...context, isSinglePoll: true }))
    .filter(({ document }) => document !== 'external_contract');
  const limits = { maxBodyBytes: config.poll.max_body_size, staleAfterMs: config.poll.stale_after };
  const endpoints = recordedStates(contexts, limits, now);
  for (const context of contexts) {
    const body = context.document === 'module_state' ? model.moduleState() : model.rateLimiterInput({ window: 500n });
    endpoints.record(context, pollOf(context, body, { height: model.height, at: now }), now);
  }
  return summarize(endpoints.states(), now, 'warning');
}

const NOT_JUDGED = 'demo: not judged by this poll: ';

describe('the summary of one poll', () => {
  it.each<[string, ScenarioName, number, readonly string[]]>([
    [
      'what the times of the documents prove, without what follows from that',
      'stuck',
      65,
      [
        'critical: your validator hub1zumf…nnzs0s has not voted: event 97656 (deposit of 392138876.115079702647904705 meme) is not observed, for 64 min',
        'warning: your validator hub1zumf…nnzs0s votes for no event, for 64 min',
        'warning: on half of the chains or more, a transaction is older than the limit of its chain, over the limit for 37 min',
      ],
    ],
    [
      'that nothing was executed since the last event',
      'no-relayer',
      250,
      ['critical: signed batches of two tokens or more wait, and none is executed, for 4 h 7 min'],
    ],
    [
      'by the age of its oldest transaction that a chain does not finish it',
      'stuck-chain',
      55,
      ['warning: a transaction on chain bsc (56) is older than the limit of 30 min, over the limit for 27 min'],
    ],
    [
      'by the oldest unsigned validator set that an own validator has not signed for an hour',
      'silent-signer',
      90,
      ['warning: your validator hub1zumf…nnzs0s has not signed validator set 8214371, for 78 min'],
    ],
  ])('proves %s', (_title, scenario, minutes, sentences) => {
    const { lines, failure } = summaryOf(scenario, minutes);
    expect(failure).toBeDefined();
    // Without what cannot be judged, because the node is asked nothing else.
    const judged = lines
      .filter((line) => !/^demo: (?:not judged by|\w+ in ) ?/.test(line))
      .map((line) => line.split(';')[0]);
    expect(judged).toEqual(sentences.map((sentence) => `demo: ${sentence}`));
  });

  it('proves that batches have timed out with a configured block time, because the parameter of the chain can be far too long', () => {
    const { lines } = summaryOf('batch-timeout', 50, { blockTimeMs: 20_000 });
    expect(lines[0]).toContain(
      'demo: critical: transfers are locked in batch 26080 of meme, which has timed out, for 35 min; 3 batches in all',
    );
    const unproven = summaryOf('batch-timeout', 50).lines;
    expect(unproven.join('\n')).not.toContain('timed out');
    expect(unproven.find((line) => line.startsWith(NOT_JUDGED))).toMatch(
      /BridgeBatchOverdue.*BridgeBatchTimeoutNear|BridgeBatchTimeoutNear.*BridgeBatchOverdue/,
    );
  });

  it('does not repeat that a poll has failed', () => {
    const now: Moment = { at: START_SECONDS, clockOffset: 0 };
    const config = demoConfig(
      'http://127.0.0.1:1',
      createModel({ seed: 7, scenario: 'healthy', startTime: START_SECONDS }),
    );
    const contexts = createJobs(config)
      .slice(0, 1)
      .map((job) => job.context);
    const endpoints = recordedStates(contexts, { maxBodyBytes: 1, staleAfterMs: 300_000 }, now);
    for (const context of contexts) {
      endpoints.record(context, readPoll(failedFetch('connect', 'refused'), context), now);
    }
    expect(contexts).toHaveLength(1);
    expect(summarize(endpoints.states(), now)).toEqual({ lines: [], failure: undefined });
  });

  it('begins with "no problem" for a healthy bridge, and ends with what it cannot judge without other queries', () => {
    expect(summaryOf('healthy', 20)).toEqual({
      lines: [
        'demo: no problem that one poll can prove',
        expect.stringMatching(new RegExp(`^${NOT_JUDGED}BridgeNodeBehind, .*CrosschainOutboundDisabled`)),
      ],
      failure: undefined,
    });
  });
});
