import { describe, expect, it } from 'vitest';
import { createModel, type Model } from '../../src/simulator/model.js';
import type { ModuleState } from '../../src/simulator/module-state.js';
import { scenarioNames } from '../../src/simulator/scenarios.js';
import { pictureOf } from './picture.js';

const options = { seed: 4, scenario: 'healthy', startTime: 1_760_000_000, blockTimeMs: 2000 } as const;

describe('same seed and step, same bytes', () => {
  it.each(scenarioNames)('in scenario %s, however the steps are taken and whoever looks in between', (scenario) => {
    const [together, apart] = [createModel({ ...options, scenario }), createModel({ ...options, scenario })];
    together.advance(125);
    apart.advance(3);
    bytesOf(apart);
    apart.advance(2);
    apart.advance(0);
    for (let block = 0; block < 120; block += 1) apart.advance(1);
    expect(bytesOf(apart)).toBe(bytesOf(together));
  });

  it('and other bytes for another seed, step, start or block time', () => {
    const others = [{ seed: 5 }, { startTime: 1_760_000_001 }, { blockTimeMs: 2001 }, { scenario: 'quiet' } as const];
    const later = createModel(options);
    later.advance(1);
    const bytes = [createModel(options), later, ...others.map((other) => createModel({ ...options, ...other }))].map(
      bytesOf,
    );
    expect(new Set(bytes).size).toBe(6);
  });
});

describe('a healthy chain', () => {
  it('has something everywhere at step 0', () => {
    const model = createModel(options);
    const { state } = model.moduleState();
    const input = model.rateLimiterInput();
    const lists = [...Object.entries(state), ...Object.entries(input)].filter(([, value]) => Array.isArray(value));
    const empty = lists.filter(([, value]) => value.length === 0).map(([field]) => field);
    expect(empty).toEqual(['cctxs_missed']);
    expect(state.external_blacklist).toHaveLength(80);
    expect(model.height).toBe(Number(input.height));
  });

  it.each([500, 2000, 6000])('moves in every minute of blocks of %i ms', (blockTimeMs) => {
    const model = createModel({ ...options, blockTimeMs });
    const figures = (): (string | number)[] => {
      const { state } = model.moduleState();
      const { total_pending, pending_cctxs_value } = model.rateLimiterInput();
      return [state.last_observed_nonce, state.unbatched_transfers.length, total_pending, pending_cctxs_value];
    };
    for (let minute = 0; minute < 30; minute += 1) {
      const seen = [new Set(), new Set(), new Set(), new Set()];
      for (let block = 0; block <= 60_000 / blockTimeMs; block += 1) {
        figures().forEach((figure, position) => seen[position]?.add(figure));
        model.advance(1);
      }
      expect(seen.filter(({ size }) => size < 2)).toEqual([]);
    }
  });

  it.each([100, 2000, 30_000])('stays below a limit of one coin a block with blocks of %i ms', (blockTimeMs) => {
    const model = createModel({ ...options, blockTimeMs });
    model.advance(600);
    const { pastValue, pendingValue } = pictureOf(model);
    const window = Math.max(500, model.height - Number(model.rateLimiterInput().lowest_pending_cctx_height) + 1);
    const use = Number(pastValue + pendingValue) / (window * 1e18);
    expect(use).toBeGreaterThan(0.1);
    expect(use).toBeLessThan(0.8);
  });

  it('makes a new validator set now and then, and drops old ones', () => {
    const model = createModel(options);
    const oldest = () => Math.min(...model.moduleState().state.valsets.map(({ nonce }) => Number(nonce)));
    const first = oldest();
    model.advance(12_000);
    expect(model.moduleState().state.valsets.length).toBeGreaterThan(5);
    expect(oldest()).toBeGreaterThan(first);
  });
});

it('nothing pending has no lowest height', () => {
  const model = createModel({ ...options, scenario: 'quiet' });
  const idle = () => model.rateLimiterInput().total_pending === '0';
  for (let block = 0; block < 5000 && !idle(); block += 1) model.advance(1);
  const { lowest_pending_cctx_height, pending_cctxs_value } = model.rateLimiterInput();
  expect([lowest_pending_cctx_height, pending_cctxs_value]).toEqual(['0', '0']);
});

it('a batch is good for 12 hours of external blocks after where the hub believes the external chain to be', () => {
  const model = createModel(options);
  const fresh = freshBatches(model);
  expect(fresh.length).toBeGreaterThan(10);
  expect(fresh.filter(({ headroom }) => headroom < 3590 || headroom > 3600)).toEqual([]);
});

it.each([
  [{ seed: -1 }, 'seed is -1; it must be a whole number of at least 0'],
  [{ seed: 0.5 }, 'seed is 0.5; it must be a whole number of at least 0'],
  [{ blockTimeMs: 0 }, 'blockTimeMs is 0; it must be a whole number of at least 1'],
  [{ startTime: Number.NaN }, 'startTime is NaN; it must be a whole number of at least 1200'],
  [{ startTime: 1199 }, 'startTime is 1199; it must be a whole number of at least 1200'],
])('%o is refused', (wrong, message) => {
  expect(() => createModel({ ...options, ...wrong })).toThrow(message);
});

function bytesOf(model: Model): string {
  return JSON.stringify([model.moduleState(), model.rateLimiterInput()]);
}

/** Batches in the block they are made, over half an hour. */
function freshBatches(model: Model): { readonly headroom: number }[] {
  return Array.from({ length: 900 }, () => {
    model.advance(1);
    const { state } = model.moduleState();
    return state.batches
      .filter(({ block }) => block === String(model.height))
      .map((batch) => headroomOf(state, batch.batch_timeout, model.height));
  }).flat();
}

function headroomOf(state: ModuleState, timeout: string, height: number): { readonly headroom: number } {
  const observed = state.attestations.find((attestation) => attestation.observed);
  const elapsedMs = (height - Number(observed?.height)) * 2000;
  return { headroom: Number(timeout) - Number(state.last_observed_external_height) - Math.floor(elapsedMs / 12_000) };
}
