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
} from './chain-summary.js';

const START_TIME = 1_790_000_000;
const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const DAYS = 30;
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

const addressesOf = ({ members }: Valset): Set<string> =>
  new Set(members.map(({ external_address }) => external_address));

interface Moment {
  readonly minute: number;
  readonly height: number;
  readonly state: ModuleState;
  readonly input: RateLimiterInput;
}

/** What is true of every moment, and what happens in some. */
class MonthObserver {
  readonly violations = new Set<string>();
  readonly events = new Map<string, number[]>();
  readonly #goneIds = new Set<number>();
  readonly #voters = new Set<string>();
  #before: Moment | undefined;
  #ids = new Set<number>();

  observe(moment: Moment): void {
    this.#checkConsistency(moment);
    this.#findRareEvents(moment);
    if (this.#before !== undefined) this.#compare(this.#before, moment);
    for (const { votes } of moment.state.attestations) for (const vote of votes) this.#voters.add(bech32DataOf(vote));
    this.#before = moment;
  }

  minutesOf(event: string): readonly number[] {
    return this.events.get(event) ?? [];
  }

  /** The members of the newest set that never voted. */
  silentMembers({ orchestrator_addresses, valsets }: ModuleState): number {
    const members = addressesOf(newestOf(valsets));
    const senders = orchestrator_addresses.filter(({ eth_address }) => members.has(eth_address));
    return senders.filter(({ sender }) => !this.#voters.has(bech32DataOf(sender))).length;
  }

  #checkConsistency({ minute, state }: Moment): void {
    const violation = (text: string): Set<string> => this.violations.add(`${text} in minute ${minute}`);
    const observedHeight = Number(state.last_observed_external_height);
    if (state.batches.some(({ batch_timeout }) => Number(batch_timeout) < observedHeight))
      violation('an expired batch');
    const ids = transferIds(state);
    if (ids.some((id) => this.#goneIds.has(id))) violation('a finished transfer that returned');
    const now = new Set(ids);
    for (const id of this.#ids) if (!now.has(id)) this.#goneIds.add(id);
    this.#ids = now;
    for (const text of inconsistenciesOf(state)) violation(text);
  }

  #findRareEvents({ minute, state, input }: Moment): void {
    const found = (event: string): void => void this.events.set(event, [...this.minutesOf(event), minute]);
    const newest = newestOf(state.valsets);
    const older = state.valsets.filter(
      (set) => set !== newest && Number(set.nonce) > Number(state.last_observed_valset.nonce),
    );
    const isAbandoned = (set: Valset): boolean => signedShare(set, state) < THRESHOLD;
    if (older.some(isAbandoned) && signedShare(newest, state) > 0.99) found('an abandoned set');
    if (newest.members.length < 20) found('a validator is jailed');
    const isPhantom = state.attestations.some(
      (row) => !row.observed && row.votes.length === 1 && eventNonceOf(row) > Number(state.last_observed_nonce),
    );
    if (isPhantom) found('a claim of one validator');
    const pending = input.cctxs_pending.map(currentOutbound);
    if (pending.some(({ coin_type }) => coin_type === 'Cmd')) found('the funds move');
    const nowSeconds = START_TIME + minute * 60;
    const isSlow = input.cctxs_pending.some(
      (cctx) =>
        currentOutbound(cctx).receiver_chainId === '8332' &&
        nowSeconds - Number(cctx.cctx_status.created_timestamp) > 45 * 60 &&
        cctx.cctx_status.created_timestamp !== '0',
    );
    if (isSlow) found('a slow cctx on Bitcoin');
    const external = Number(state.last_observed_external_height);
    const isTimedOut = state.batches.some(({ batch_timeout }) => Number(batch_timeout) - external < 700);
    if (isTimedOut) found('a batch near its timeout');
  }

  #compare(before: Moment, { minute, height, state, input }: Moment): void {
    const found = (event: string): void => void this.events.set(event, [...this.minutesOf(event), minute]);
    if (height === before.height) found('no block');
    if (JSON.stringify(state.params) !== JSON.stringify(before.state.params)) found('the parameters change');
    if (state.last_observed_nonce !== before.state.last_observed_nonce) found('an event is observed');
    if (state.last_observed_valset.nonce !== before.state.last_observed_valset.nonce) found('a set is relayed');
    if (input.cctxs_missed.length < before.input.cctxs_missed.length) found('missed cctxs vanish');
    const unbatched = new Set(before.state.unbatched_transfers.map(({ id }) => id));
    if (state.unbatched_transfers.some(({ id }) => !unbatched.has(id) && this.#wasBatched(before, id))) {
      found('transfers return');
    }
  }

  #wasBatched({ state }: Moment, id: string): boolean {
    return state.batches.some(({ transactions }) => transactions.some((transfer) => transfer.id === id));
  }
}

function newestOf(valsets: readonly Valset[]): Valset {
  const [newest] = valsets.toSorted((left, right) => Number(right.nonce) - Number(left.nonce));
  if (newest === undefined) throw new Error('there is no valset');
  return newest;
}

const STEP_MINUTES = 5;

describe('a month of a main network', () => {
  const model = createModel({ seed: 7, scenario: 'mainnet', startTime: START_TIME });
  const observer = new MonthObserver();
  const start = { height: model.height, state: model.moduleState().state, input: model.rateLimiterInput() };
  const minutesOf = (event: string): number => observer.minutesOf(event).length * STEP_MINUTES;
  let state = start.state;

  beforeAll(() => {
    for (let minute = 0; minute < DAYS * DAY_MINUTES; minute += STEP_MINUTES) {
      state = model.moduleState().state;
      observer.observe({ minute, height: model.height, state, input: model.rateLimiterInput() });
      model.advanceTime(STEP_MINUTES * MINUTE_MS);
    }
    state = model.moduleState().state;
  });

  it('is consistent in every moment', () => {
    expect([...observer.violations]).toEqual([]);
  });

  it('has a block every 630 ms and an external block every 12 s, whatever the parameters say', () => {
    const seconds = DAYS * DAY_MINUTES * 60;
    const blocks = model.height - start.height;
    const halted = (seconds * 1000) / BLOCK_MS - blocks;
    expect((halted * BLOCK_MS) / MINUTE_MS).toBeCloseTo(70, 1);
    const externalBlocks =
      Number(state.last_observed_external_height) - Number(start.state.last_observed_external_height);
    expect(Math.abs(externalBlocks - seconds / EXTERNAL_BLOCK_SECONDS)).toBeLessThan(6 * 300);
    const { average_block_time, average_external_block_time, signed_valsets_window } = state.params;
    expect([average_block_time, average_external_block_time, signed_valsets_window]).toEqual([
      '2000',
      '15000',
      '500000',
    ]);
  });

  it('has about 50 events a day, and nights without one', () => {
    const events = Number(state.last_observed_nonce) - Number(start.state.last_observed_nonce);
    expect(events / DAYS).toBeGreaterThan(40);
    expect(events / DAYS).toBeLessThan(60);
    const minutes = observer.minutesOf('an event is observed');
    const gaps = minutes.slice(1).map((minute, index) => minute - (minutes[index] ?? 0));
    expect(gaps.filter((gap) => gap > 50).length).toBeGreaterThan(DAYS);
    expect(Math.max(...gaps)).toBeLessThan(12 * 60);
  });

  it('has one upgrade of 70 minutes, after which a parameter differs', () => {
    const halted = observer.minutesOf('no block');
    expect(halted.length * STEP_MINUTES).toBeGreaterThan(60);
    expect((halted.at(-1) ?? 0) - (halted[0] ?? 0)).toBeLessThan(70);
    expect(observer.minutesOf('the parameters change').map((minute) => minute - (halted.at(-1) ?? 0))).toEqual([
      STEP_MINUTES,
    ]);
    expect([start.state.params, state.params].map((params) => params.signed_claims_window)).toEqual([
      '25000',
      '500000',
    ]);
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
    expect(minutesOf(event)).toBeGreaterThan(minutes);
  });

  it('has two validators that never vote', () => {
    expect(observer.silentMembers(state)).toBe(2);
  });

  it('has a new threshold key, whose nonces begin at 0, and no cctx of the old one', () => {
    expect(observer.minutesOf('missed cctxs vanish').length).toBe(1);
    const keyOf = ({ cctxs_pending }: RateLimiterInput): Set<string> =>
      new Set(cctxs_pending.map((cctx) => currentOutbound(cctx).tss_pubkey));
    const [before, after] = [keyOf(start.input), keyOf(model.rateLimiterInput())];
    expect([before.size, after.size, new Set([...before, ...after]).size]).toEqual([1, 1, 2]);
    const nonces = model.rateLimiterInput().cctxs_pending.map((cctx) => Number(currentOutbound(cctx).tss_nonce));
    expect(Math.max(...nonces)).toBeLessThan(20_000);
  });
});
