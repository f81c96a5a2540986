import { beforeAll, describe, expect, it } from 'vitest';
import { createModel } from '../../src/simulator/model.js';
import type { ModuleState, RateLimiterInput, Valset } from '../../src/simulator/responses.js';
import {
  bech32DataOf,
  currentOutbound,
  eventNonceOf,
  inconsistenciesOf,
  powerOf,
  transferIds,
} from './document-rows.js';

const START_TIME = 1_790_000_000;
const MINUTE_MS = 60_000;
const MINUTES = 30 * 24 * 60;
const STEP_MINUTES = 5;
const BLOCK_MS = 630;
const EXTERNAL_BLOCK_SECONDS = 12;
const THRESHOLD = 0.66;

/** Share of the power of the observed set that has signed this set. */
function signedShare({ nonce }: Valset, { last_observed_valset, valset_confirms }: ModuleState): number {
  const signers = new Set(
    valset_confirms.filter((confirm) => confirm.nonce === nonce).map(({ eth_address }) => eth_address.toLowerCase()),
  );
  const members = last_observed_valset.members.filter(({ external_address }) =>
    signers.has(external_address.toLowerCase()),
  );
  return powerOf({ ...last_observed_valset, members }) / powerOf(last_observed_valset);
}

interface Moment {
  readonly minute: number;
  readonly height: number;
  readonly state: ModuleState;
  readonly input: RateLimiterInput;
}

/** What is there at some moments only, or happens between two of them. */
function eventsOf(before: Moment, { minute, height, state, input }: Moment): readonly string[] {
  const lastNonce = Number(state.last_observed_nonce);
  const [newest, ...older] = state.valsets.toSorted((left, right) => Number(right.nonce) - Number(left.nonce));
  if (newest === undefined) throw new Error('there is no valset');
  const isAbandoned = (set: Valset): boolean =>
    Number(set.nonce) > Number(state.last_observed_valset.nonce) && signedShare(set, state) < THRESHOLD;
  const isSlow = ({ created_timestamp }: { readonly created_timestamp: string }): boolean =>
    created_timestamp !== '0' && START_TIME + minute * 60 - Number(created_timestamp) > 45 * 60;
  const unbatched = new Set(before.state.unbatched_transfers.map(({ id }) => id));
  const batched = new Set(before.state.batches.flatMap(({ transactions }) => transactions.map(({ id }) => id)));
  const events: Readonly<Record<string, boolean>> = {
    'an abandoned set': older.some(isAbandoned) && signedShare(newest, state) > 0.99,
    'a validator is jailed': newest.members.length < 20,
    'a claim of one validator': state.attestations.some(
      (row) => !row.observed && row.votes.length === 1 && eventNonceOf(row) > lastNonce,
    ),
    'the funds move': input.cctxs_pending.some((cctx) => currentOutbound(cctx).coin_type === 'Cmd'),
    'a slow cctx on Bitcoin': input.cctxs_pending.some(
      (cctx) => currentOutbound(cctx).receiver_chainId === '8332' && isSlow(cctx.cctx_status),
    ),
    'a batch near its timeout': state.batches.some(
      ({ batch_timeout }) => Number(batch_timeout) - Number(state.last_observed_external_height) < 700,
    ),
    'no block': height === before.height,
    'the parameters change': JSON.stringify(state.params) !== JSON.stringify(before.state.params),
    'an event is observed': state.last_observed_nonce !== before.state.last_observed_nonce,
    'a set is relayed': state.last_observed_valset.nonce !== before.state.last_observed_valset.nonce,
    'missed cctxs vanish': input.cctxs_missed.length < before.input.cctxs_missed.length,
    'transfers return': state.unbatched_transfers.some(({ id }) => !unbatched.has(id) && batched.has(id)),
  };
  return Object.keys(events).filter((event) => events[event]);
}

/** What is never true of a module state; `gone` has the transfers that have finished. */
function violationsOf(state: ModuleState, gone: ReadonlySet<number>): readonly string[] {
  const observedHeight = Number(state.last_observed_external_height);
  return [
    ...(state.batches.some(({ batch_timeout }) => Number(batch_timeout) < observedHeight) ? ['an expired batch'] : []),
    ...(transferIds(state).some((id) => gone.has(id)) ? ['a finished transfer that returned'] : []),
    ...inconsistenciesOf(state),
  ];
}

describe('a month of a main network', () => {
  const model = createModel({ seed: 7, scenario: 'mainnet', startTime: START_TIME });
  const momentAt = (minute: number): Moment => ({
    minute,
    height: model.height,
    state: model.moduleState().state,
    input: model.rateLimiterInput(),
  });
  const start = momentAt(0);
  let end = start;
  const violations: string[] = [];
  const voters = new Set<string>();
  const minutesOf = new Map<string, number[]>();
  const minutesIn = (event: string): readonly number[] => minutesOf.get(event) ?? [];

  beforeAll(() => {
    const gone = new Set<number>();
    for (let minute = 0; minute <= MINUTES; minute += STEP_MINUTES) {
      if (minute > 0) model.advanceTime(STEP_MINUTES * MINUTE_MS);
      const before = end;
      end = momentAt(minute);
      violations.push(...violationsOf(end.state, gone).map((text) => `${text} in minute ${minute}`));
      const now = new Set(transferIds(end.state));
      for (const id of transferIds(before.state)) if (!now.has(id)) gone.add(id);
      for (const vote of end.state.attestations.flatMap(({ votes }) => votes)) voters.add(bech32DataOf(vote));
      if (minute === 0) continue;
      for (const event of eventsOf(before, end)) minutesOf.set(event, [...minutesIn(event), minute]);
    }
  });

  it('is consistent in every moment', () => {
    expect(violations).toEqual([]);
  });

  it('has a block every 630 ms and an external block every 12 s, whatever the parameters say', () => {
    const halted = (MINUTES * MINUTE_MS) / BLOCK_MS - (end.height - start.height);
    expect((halted * BLOCK_MS) / MINUTE_MS).toBeCloseTo(70, 1);
    const [first, last] = [start, end].map(({ state }) => Number(state.last_observed_external_height));
    const externalBlocks = (last ?? 0) - (first ?? 0);
    expect(Math.abs(externalBlocks - (MINUTES * 60) / EXTERNAL_BLOCK_SECONDS)).toBeLessThan(6 * 300);
    const { average_block_time, average_external_block_time, signed_valsets_window } = end.state.params;
    expect([average_block_time, average_external_block_time, signed_valsets_window]).toEqual([
      '2000',
      '15000',
      '500000',
    ]);
  });

  it('has about 50 events a day, and nights without one', () => {
    const events = Number(end.state.last_observed_nonce) - Number(start.state.last_observed_nonce);
    expect(events / 30).toBeGreaterThan(40);
    expect(events / 30).toBeLessThan(60);
    const minutes = minutesIn('an event is observed');
    const gaps = minutes.slice(1).map((minute, index) => minute - (minutes[index] ?? 0));
    expect(gaps.filter((gap) => gap > 50).length).toBeGreaterThan(30);
    expect(Math.max(...gaps)).toBeLessThan(12 * 60);
  });

  it('has one upgrade of 70 minutes, after which a parameter differs', () => {
    const halted = minutesIn('no block');
    expect(halted.length * STEP_MINUTES).toBeGreaterThan(60);
    expect((halted.at(-1) ?? 0) - (halted[0] ?? 0)).toBeLessThan(70);
    expect(minutesIn('the parameters change')).toEqual([(halted.at(-1) ?? 0) + STEP_MINUTES]);
    expect([start, end].map(({ state }) => state.params.signed_claims_window)).toEqual(['25000', '500000']);
  });

  it.each([
    ['a claim of one validator', 15],
    ['a validator is jailed', 20 * 60],
    ['an abandoned set', 6 * 60],
    ['a set is relayed', 25],
    ['a batch near its timeout', 60],
    ['transfers return', 25],
    ['a slow cctx on Bitcoin', 60],
    ['the funds move', 4],
  ])('has this for long enough to be seen: %s', (event, minutes) => {
    expect(minutesIn(event).length * STEP_MINUTES).toBeGreaterThan(minutes);
  });

  it('has two validators that never vote', () => {
    const members = new Set(end.state.valsets.at(-1)?.members.map(({ external_address }) => external_address));
    const own = end.state.orchestrator_addresses.filter(({ eth_address }) => members.has(eth_address));
    expect(own.filter(({ sender }) => !voters.has(bech32DataOf(sender)))).toHaveLength(2);
  });

  it('has a new threshold key, whose nonces begin at 0, and no cctx of the old one', () => {
    expect(minutesIn('missed cctxs vanish').length).toBe(1);
    const keys = [start, end].map(
      ({ input }) => new Set(input.cctxs_pending.map((cctx) => currentOutbound(cctx).tss_pubkey)),
    );
    expect(keys.map(({ size }) => size)).toEqual([1, 1]);
    expect(keys[0]).not.toEqual(keys[1]);
    const nonces = end.input.cctxs_pending.map((cctx) => Number(currentOutbound(cctx).tss_nonce));
    expect(Math.max(...nonces)).toBeLessThan(20_000);
  });
});
