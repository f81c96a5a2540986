import { describe, expect, it } from 'vitest';
import { createModel, type Model } from '../../src/simulator/model.js';
import { scenarioNames } from '../../src/simulator/scenarios.js';
import { currentOutbound, estimatedExternalHeight, inconsistenciesOf } from './document-rows.js';

const START_TIME = 1_760_000_000;
const options = { seed: 4, scenario: 'healthy', startTime: START_TIME, blockTimeMs: 2000 } as const;
/** It is not advanced. */
const atStart = createModel(options);

describe('the model', () => {
  it.each(['healthy', 'stuck', 'missed-cctxs'] as const)(
    'returns the same bytes for the same seed and step in the scenario %s',
    (scenario) => {
      const inOneStep = createModel({ ...options, scenario });
      const inManySteps = createModel({ ...options, scenario });
      inOneStep.advance(125);
      inManySteps.advance(3);
      bytesOf(inManySteps);
      inManySteps.advance(2);
      inManySteps.advance(0);
      for (let block = 0; block < 120; block += 1) inManySteps.advance(1);
      expect(bytesOf(inManySteps)).toBe(bytesOf(inOneStep));
    },
  );

  it('returns different bytes for another seed, step, scenario, start time or block time', () => {
    const changes = [{ seed: 5 }, { startTime: 1_760_000_001 }, { blockTimeMs: 2001 }, { scenario: 'quiet' } as const];
    const later = createModel(options);
    later.advance(1);
    const models = [atStart, later, ...changes.map((change) => createModel({ ...options, ...change }))];
    expect(new Set(models.map(bytesOf)).size).toBe(6);
  });

  it.each([
    [{ seed: -1 }, 'seed is -1; it must be an integer of at least 0'],
    [{ blockTimeMs: 0.5 }, 'blockTimeMs is 0.5; it must be an integer of at least 1'],
    [{ startTime: 1199 }, 'startTime is 1199; it must be an integer of at least 1200'],
  ])('rejects the option %o', (invalid, message) => {
    expect(() => createModel({ ...options, ...invalid })).toThrow(message);
  });

  it('reports the lowest pending height as 0 when no cctx is pending', () => {
    const model = createModel({ ...options, scenario: 'quiet' });
    const isIdle = () => model.rateLimiterInput().total_pending === '0';
    for (let block = 0; block < 5000 && !isIdle(); block += 1) model.advance(1);
    const { lowest_pending_cctx_height, pending_cctxs_value } = model.rateLimiterInput();
    expect([lowest_pending_cctx_height, pending_cctxs_value]).toEqual(['0', '0']);
  });

  it('reports as the lowest pending height the height of one of the lowest nonces', () => {
    const { cctxs_pending, lowest_pending_cctx_height } = atStart.rateLimiterInput();
    const firsts = new Map<string, { nonce: number; height: number }>();
    for (const cctx of cctxs_pending) {
      const { receiver_chainId, tss_nonce } = currentOutbound(cctx);
      const cctxHeight = Number(cctx.inbound_params.observed_external_height);
      const first = firsts.get(receiver_chainId);
      if (first === undefined || Number(tss_nonce) < first.nonce) {
        firsts.set(receiver_chainId, { nonce: Number(tss_nonce), height: cctxHeight });
      }
    }
    expect(Number(lowest_pending_cctx_height)).toBe(Math.min(...Array.from(firsts.values(), ({ height }) => height)));
  });

  it('sets the timeout of a batch to 12 hours of external blocks after the estimated external height', () => {
    const blocksToTimeout = newBatchesBlocksToTimeout(createModel(options));
    expect(blocksToTimeout.length).toBeGreaterThan(10);
    expect(blocksToTimeout.filter((blocks) => blocks < 3590 || blocks > 3600)).toEqual([]);
  });

  it('formats strings like a real node', () => {
    const text = JSON.stringify([atStart.moduleState(), atStart.rateLimiterInput()]);
    const formats: [RegExp, RegExp][] = [
      [
        /"(?:nonce|height|power|amount|id|block|\w+_(?:nonce|height|timestamp|window|timeout|fees|value|time|id))":"(.*?)"/g,
        /^\d+$|^hub-bridgeid$/,
      ],
      [/"slash_fraction_\w+":"(.*?)"/g, /^0\.\d{18}$/],
      [/"signature":"(.*?)"/g, /^[0-9a-f]{128}0[01]$/],
      [/"((?:hub|hubvaloper)1\w+)"/g, /^(hub|hubvaloper)1[02-9ac-hj-np-z]{38}$/],
      [/"(?:contract|eth_\w+|external_address|dest_address|token_contract|erc20)":"(.*?)"/g, /^0x[0-9a-fA-F]{40}$/],
      [/"index":"(.*?)"/g, /^0x[0-9a-f]{64}$/],
    ];
    for (const [field, format] of formats) {
      const values = Array.from(text.matchAll(field), (match) => match[1] ?? '');
      expect(values.length).toBeGreaterThan(3);
      expect(values.filter((value) => !format.test(value))).toEqual([]);
    }
  });
});

describe('a healthy chain', () => {
  it('has rows in every list but cctxs_missed from the first block', () => {
    const { state } = atStart.moduleState();
    const input = atStart.rateLimiterInput();
    const fields: [string, unknown][] = [...Object.entries(state), ...Object.entries(input)];
    const empty = fields.filter(([, value]) => Array.isArray(value) && value.length === 0).map(([field]) => field);
    expect(empty).toEqual(['cctxs_missed']);
    expect(state.external_blacklist).toHaveLength(80);
    expect(atStart.height).toBe(Number(input.height));
  });

  it('creates new validator sets and removes old ones', () => {
    const model = createModel(options);
    const oldestNonce = () => Math.min(...model.moduleState().state.valsets.map(({ nonce }) => Number(nonce)));
    const before = oldestNonce();
    model.advance(12_000);
    expect(model.moduleState().state.valsets.length).toBeGreaterThan(5);
    expect(oldestNonce()).toBeGreaterThan(before);
  });
});

describe.each(scenarioNames)('the responses in the scenario %s', (scenario) => {
  const model = createModel({ ...options, scenario });
  model.advance(200);
  const { state } = model.moduleState();
  const input = model.rateLimiterInput();

  it('have only rows that fit together, and the last observed event', () => {
    expect(inconsistenciesOf(state)).toEqual([]);
    expect(state.attestations.filter(({ observed }) => observed)).toHaveLength(1);
  });

  it('contain totals that match the list of cctxs', () => {
    const everything = model.rateLimiterInput({ window: 2n ** 63n - 1n, limit: 0n });
    expect(Number(input.total_pending)).toBeGreaterThanOrEqual(input.cctxs_pending.length + input.cctxs_missed.length);
    expect(BigInt(everything.past_cctxs_value)).toBeGreaterThanOrEqual(BigInt(input.past_cctxs_value));
    expect(model.rateLimiterInput({ window: 0n }).past_cctxs_value).toBe('0');
    const limited = model.rateLimiterInput({ limit: 1n });
    expect(limited).toEqual({ ...input, cctxs_pending: input.cctxs_pending.slice(0, 1) });
    const native = input.cctxs_pending.map(currentOutbound).filter(({ coin_type }) => coin_type === 'Native');
    const nativeValue = native.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    expect(BigInt(input.pending_cctxs_value)).toBeGreaterThanOrEqual(nativeValue);
  });
});

function bytesOf(model: Model): string {
  return JSON.stringify([model.moduleState(), model.rateLimiterInput()]);
}

/** For every batch built within half an hour, the external blocks from the estimated external height to its timeout. */
function newBatchesBlocksToTimeout(model: Model): number[] {
  return Array.from({ length: 900 }, () => {
    model.advance(1);
    const { state } = model.moduleState();
    return state.batches
      .filter(({ block }) => block === String(model.height))
      .map((batch) => Number(batch.batch_timeout) - estimatedExternalHeight(state, model.height));
  }).flat();
}
