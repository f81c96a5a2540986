import { currentRow, type SimulatedCctx } from '../../src/simulator/cctx.js';
import type { MainnetChain } from '../../src/simulator/mainnet-chain.js';
import { minBatchFee, type Token } from '../../src/simulator/token-model.js';
import type { Validator } from '../../src/simulator/validators.js';
import type { LiveBatch } from '../../src/simulator/withdrawals.js';
import { eventNonceOf } from '../simulator/chain-summary.js';

/*
 * What the gauges have to be, from the books of the simulated chain: its transfers, batches, votes and queues, and not its documents.
 */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The values of a family by the labels that tell its series apart; `skipped`: not now. */
interface Expected {
  readonly labels: readonly string[];
  readonly values: ReadonlyMap<string, number> | 'skipped';
  /** How far a value may be off: what it is compared with was read at another time. */
  readonly tolerance?: number;
}

/** Families that are not compared, with the reason. */
const REASONS: readonly (readonly [families: RegExp, reason: string])[] = [
  [
    /_limit|power_threshold_ratio$|token_(info|decimals|min_batch_fee)$|configured_window|^crosschain_rate_limit_amount_per_block$/,
    'a setting',
  ],
  [/_info$/, 'labels of a constant'],
  [
    /^bridge_params_|^bridge_(erc20_to_denoms|external_blacklist)$|valset_reward_amount$/,
    'constants of the simulated chain, which a fault changes',
  ],
  [/block_time_seconds$/, 'measured, not known to the chain'],
  [/deadline_height$/, 'a missing signature plus a parameter'],
  [/^bridge_watched_|^crosschain_(nonce_|outbound_|inbound_|schedule_)/, 'asked once a minute, at another time'],
  [/^bridge_(contract_(token|last_batch|valset_unknown)|token_(supply|backing))/, 'read every five minutes'],
  [/^bridge_(integrity_violations|contract_paused)$/, 'the alerts on it are compared'],
  [
    /^crosschain_(past_cctxs_value|withdraw_amount_per_block|rate_limit_|cctxs_unlisted|cctxs_ignored|lowest_pending_nonce_changed)/,
    'depends on what the exporter has seen, or on the past window',
  ],
  [/^crosschain_tss_info|valset_height$/, 'follows from another one'],
  [/_timestamp_seconds$/, 'the clock of the exporter'],
];

/** The reason why a family is not compared; `undefined` for one that has none. */
export const reasonNotCompared = (name: string): string | undefined =>
  REASONS.find(([families]) => families.test(name))?.[1];

const QUORUM = 0.66;
/** External blocks between two polls of the contract, and a few more. */
const BLOCKS_BETWEEN_POLLS = 25;
const MAX_LISTED = 500;
/** Registrations are never deleted. */
const FORMER_VALIDATORS = 3;
const lower = (text: string): string => text.toLowerCase();

const single = (value: number | undefined, tolerance = 0): Expected => ({
  labels: [],
  values: new Map(value === undefined || !Number.isFinite(value) ? [] : [['', value]]),
  tolerance,
});

function by<T>(
  labels: readonly string[],
  items: Iterable<T>,
  keyOf: (item: T) => string,
  valueOf: (item: T) => number,
): Expected {
  const values = new Map<string, number>();
  for (const item of items) values.set(keyOf(item), (values.get(keyOf(item)) ?? 0) + valueOf(item));
  return { labels, values };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const lowestOf = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : Math.min(...values);
const highestOf = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : Math.max(...values);

export function expectedGauges(chain: MainnetChain): Readonly<Record<string, Expected>> {
  return {
    ...bridgeGauges(chain),
    ...tokenGauges(chain),
    ...contractGauges(chain),
    ...crosschainGauges(chain, Math.floor(chain.latest.timeMs / 1000)),
  };
}

function bridgeGauges(chain: MainnetChain): Readonly<Record<string, Expected>> {
  const { valsets, withdrawals, oracle, validators } = chain.bridge;
  const sets = valsets.newestFirst;
  const { observed } = valsets;
  const { batches } = withdrawals;
  const inContract = new Map(
    observed.members.map(({ external_address, power }) => [lower(external_address), Number(power)]),
  );
  const powerOf = (members: Iterable<number>): number => sum(Array.from(members));
  const signedShare = (confirms: ReadonlyMap<Validator, unknown>): number =>
    sum([...confirms.keys()].map(({ externalAddress }) => inContract.get(lower(externalAddress)) ?? 0)) /
    powerOf(inContract.values());
  const [newest] = sets;
  if (newest === undefined) return {};
  const unrelayed = sets.filter(({ nonce }) => nonce > Number(observed.nonce));
  const shares = unrelayed.map(({ confirms }) => signedShare(confirms));
  const batchShares = batches.map(({ confirms }) => signedShare(confirms));
  const newestPower = powerOf(newest.powers.values());
  const members = [...newest.powers.keys()];
  const perMember = (valueOf: (validator: Validator) => number): Expected =>
    by(['orchestrator'], members, ({ orchestrator }) => orchestrator, valueOf);
  const rows = oracle.attestations.map((row) => ({ ...row, nonce: eventNonceOf(row) }));
  const last = rows.filter(({ nonce }) => nonce === oracle.lastObservedNonce);
  const next = rows.filter(({ nonce }) => nonce === oracle.lastObservedNonce + 1);
  const newestShare = (votes: readonly string[]): number =>
    sum(validators.filter(({ operator }) => votes.includes(operator)).map((own) => newest.powers.get(own) ?? 0)) /
    newestPower;
  const joinedAt = (validator: Validator): number =>
    highestOf(sets.filter(({ powers }) => !powers.has(validator)).map(({ nonce }) => nonce)) ?? 0;
  const ahead = rows.filter(({ nonce }) => nonce > oracle.lastObservedNonce).map(({ nonce }) => nonce);
  const height = chain.external.height;
  const isNearTimeout = batches.some(({ timeout }) => Math.abs(timeout - height) <= BLOCKS_BETWEEN_POLLS);
  const isRelayable = ({ confirms, fees, token, timeout }: LiveBatch): boolean =>
    signedShare(confirms) >= QUORUM && fees >= minBatchFee(token) && timeout > height;
  const byHeight = (value: number | undefined): Expected =>
    isNearTimeout ? { labels: [], values: 'skipped' } : single(value);
  const ids = [
    ...withdrawals.unbatched.map(({ id }) => Number(id)),
    ...batches.flatMap(({ transfers }) => transfers.map(({ id }) => id)),
  ];
  const address = (validator: Validator): string => lower(validator.externalAddress);
  const sharesInContract = new Map(
    Array.from(inContract, ([own, power]) => [own, power / powerOf(inContract.values())]),
  );
  const newestShares = new Map(members.map((own) => [address(own), (newest.powers.get(own) ?? 0) / newestPower]));
  const everyAddress = new Set([...sharesInContract.keys(), ...newestShares.keys()]);
  return {
    bridge_height: single(chain.height),
    bridge_last_observed_nonce: single(oracle.lastObservedNonce),
    bridge_last_observed_external_height: single(oracle.lastObservedExternalHeight),
    bridge_last_outgoing_batch_id: single(withdrawals.lastBatchId),
    bridge_last_outgoing_pool_id: single(withdrawals.lastPoolId),
    bridge_valsets: single(sets.length),
    bridge_valset_confirms: single(sum(sets.map(({ confirms }) => confirms.size))),
    bridge_batches: single(batches.length),
    bridge_batch_confirms: single(sum(batches.map(({ confirms }) => confirms.size))),
    bridge_batch_transactions: single(sum(batches.map(({ transfers }) => transfers.length))),
    bridge_unbatched_transfers: single(withdrawals.unbatchedCount),
    bridge_orchestrator_addresses: single(validators.length + FORMER_VALIDATORS),
    bridge_attestations: {
      labels: ['observed'],
      values: new Map(
        ['true', 'false'].map((own) => [own, rows.filter(({ observed: flag }) => String(flag) === own).length]),
      ),
    },
    bridge_last_observed_valset_nonce: single(Number(observed.nonce)),
    bridge_last_observed_valset_members: single(inContract.size),
    bridge_last_observed_valset_power: single(powerOf(inContract.values())),
    bridge_newest_valset_nonce: single(newest.nonce),
    bridge_newest_valset_members: single(newest.powers.size),
    bridge_newest_valset_power: single(newestPower),
    bridge_unrelayed_valsets: single(unrelayed.length),
    bridge_unrelayed_valset_min_signed_power_ratio: single(lowestOf(shares)),
    bridge_unrelayed_valsets_below_threshold: single(shares.filter((share) => share < QUORUM).length),
    bridge_newest_valset_signed_power_ratio: single(
      unrelayed.includes(newest) ? signedShare(newest.confirms) : undefined,
    ),
    bridge_batch_min_signed_power_ratio: single(lowestOf(batchShares)),
    bridge_batches_below_threshold: single(batchShares.filter((share) => share < QUORUM).length),
    bridge_orchestrator_power_ratio: perMember((own) => (newest.powers.get(own) ?? 0) / newestPower),
    bridge_orchestrator_missing_valset_confirms: perMember(
      (own) =>
        sets.filter(({ nonce, powers, confirms }) => nonce > joinedAt(own) && powers.has(own) && !confirms.has(own))
          .length,
    ),
    bridge_orchestrator_missing_batch_confirms: perMember(
      (own) => batches.filter(({ confirms }) => !confirms.has(own)).length,
    ),
    bridge_orchestrator_missing_vote: last.some(({ observed: flag }) => flag)
      ? perMember(({ operator }) => Number(!last.some(({ votes }) => votes.includes(operator))))
      : perMember(() => 0),
    bridge_orchestrator_dissenting_vote: perMember(({ operator }) =>
      Number(last.some(({ observed: flag, votes }) => !flag && votes.includes(operator))),
    ),
    bridge_batch_oldest_height: single(lowestOf(batches.map((batch) => batch.height))),
    bridge_oldest_unsigned_batch_height: single(
      lowestOf(batches.filter(({ confirms }) => signedShare(confirms) < QUORUM).map((batch) => batch.height)),
    ),
    bridge_relayable_batches: byHeight(batches.filter(isRelayable).length),
    bridge_oldest_relayable_batch_height: byHeight(lowestOf(batches.filter(isRelayable).map((batch) => batch.height))),
    bridge_batch_next_timeout_height: byHeight(
      lowestOf(batches.map(({ timeout }) => timeout).filter((own) => own > height)),
    ),
    bridge_batches_expired: single(batches.filter(({ timeout }) => timeout < oracle.lastObservedExternalHeight).length),
    bridge_batches_overdue: byHeight(
      batches.filter(({ timeout }) => timeout <= height && timeout >= oracle.lastObservedExternalHeight).length,
    ),
    bridge_external_height_projected: single(height, BLOCKS_BETWEEN_POLLS),
    bridge_oldest_pending_transfer_id: single(lowestOf(ids)),
    bridge_newest_attested_nonce: single(highestOf(rows.map(({ nonce }) => nonce))),
    bridge_pending_events: single(Math.max(0, ...rows.map(({ nonce }) => nonce - oracle.lastObservedNonce))),
    bridge_conflicting_claims: single(new Set(ahead.filter((nonce, index) => ahead.indexOf(nonce) !== index)).size),
    bridge_next_event_voted_power_ratio: single(highestOf(next.map(({ votes }) => newestShare(votes)))),
    bridge_valset_power_drift_ratio: single(
      sum([...everyAddress].map((own) => Math.abs((newestShares.get(own) ?? 0) - (sharesInContract.get(own) ?? 0)))),
    ),
    bridge_anomalies: by(
      ['kind'],
      [
        'orphan_valset_confirms',
        'orphan_batch_confirms',
        'members_without_orchestrator',
        'unknown_voters',
        'duplicate_orchestrators',
      ],
      (kind) => kind,
      () => 0,
    ),
  };
}

interface Waiting {
  readonly token: string;
  readonly id: number;
  readonly amount: number;
  readonly fee: number;
}

function tokenGauges(chain: MainnetChain): Readonly<Record<string, Expected>> {
  const { withdrawals, tokens } = chain.bridge;
  const unbatched: readonly Waiting[] = withdrawals.unbatched.map(({ id, erc20_token, erc20_fee }) => ({
    token: lower(erc20_token.contract),
    id: Number(id),
    amount: Number(erc20_token.amount),
    fee: Number(erc20_fee.amount),
  }));
  const batched = withdrawals.batches.flatMap(({ token, transfers }) =>
    transfers.map(({ id, amount, fee }): Waiting => ({
      token: lower(token.contract),
      id,
      amount: Number(amount),
      fee: Number(fee),
    })),
  );
  const isNamed = ({ origin }: Token): boolean => origin !== 'external';
  const shown = new Set([
    ...tokens.filter(isNamed).map(({ contract }) => lower(contract)),
    ...[...unbatched, ...batched].map(({ token }) => token),
  ]);
  const perToken = (rows: readonly Waiting[], valueOf: (row: Waiting) => number): Expected =>
    by(
      ['token_contract'],
      shown,
      (token) => token,
      (token) => sum(rows.filter((row) => row.token === token).map(valueOf)),
    );
  const perQueue = (valueOf: (rows: readonly Waiting[]) => number): Expected => {
    const queued = [...shown].filter((token) => unbatched.some((row) => row.token === token));
    return by(
      ['token_contract'],
      queued,
      (token) => token,
      (token) => valueOf(unbatched.filter((row) => row.token === token)),
    );
  };
  return {
    bridge_token_unbatched_transfers: perToken(unbatched, () => 1),
    bridge_token_unbatched_amount: perToken(unbatched, ({ amount }) => amount),
    bridge_token_unbatched_fees_amount: perToken(unbatched, ({ fee }) => fee),
    bridge_token_batched_transfers: perToken(batched, () => 1),
    bridge_token_batched_amount: perToken(batched, ({ amount }) => amount),
    bridge_token_batched_fees_amount: perToken(batched, ({ fee }) => fee),
    bridge_token_oldest_unbatched_transfer_id: perQueue((rows) => Math.min(...rows.map(({ id }) => id))),
    bridge_token_top_batch_fees_amount: perQueue((rows) =>
      sum(
        rows
          .map(({ fee }) => fee)
          .toSorted((a, b) => b - a)
          .slice(0, 100),
      ),
    ),
  };
}

function contractGauges(chain: MainnetChain): Readonly<Record<string, Expected>> {
  const { height } = chain.external;
  const contract = chain.bridge.contract.stateAt(height);
  if (contract === undefined) return {};
  return {
    bridge_external_height: single(height),
    bridge_external_timestamp_seconds: single(chain.external.seconds),
    bridge_contract_last_event_nonce: single(contract.eventNonce),
    bridge_contract_last_valset_nonce: single(contract.valsetNonce),
    bridge_contract_unobserved_events: single(contract.eventNonce - chain.bridge.oracle.lastObservedNonce),
  };
}

function crosschainGauges(chain: MainnetChain, nowSeconds: number): Readonly<Record<string, Expected>> {
  const { chains } = chain.crosschain;
  const pending = chains.flatMap(({ queue }) => queue.pending);
  const missed = chains.flatMap(({ queue }) => queue.listedMissed(chain.height - 499));
  const listed = [
    ...missed.map((cctx) => ({ cctx, list: 'missed' })),
    ...pending.map((cctx) => ({ cctx, list: 'pending' })),
  ];
  const heads = chains.flatMap(({ queue }) => queue.pending.slice(0, 1)).map(({ inboundHeight }) => inboundHeight);
  const totals = {
    crosschain_height: single(chain.height),
    crosschain_total_pending: single(missed.length + pending.length),
    crosschain_cctxs_missed: single(missed.length),
    crosschain_cctxs_pending: single(Math.min(pending.length, MAX_LISTED)),
    crosschain_cctxs_hidden: single(Math.max(0, pending.length - MAX_LISTED)),
    crosschain_pending_cctxs_value: single(Number(pending.reduce((total, { value }) => total + value, 0n))),
    crosschain_lowest_pending_cctx_height: single(lowestOf(heads) ?? 0),
    crosschain_anomalies: by(
      ['kind'],
      ['duplicate_cctxs', 'cctxs_without_outbound', 'lowest_above_height'],
      (kind) => kind,
      (kind) => Number(kind === 'lowest_above_height' && (lowestOf(heads) ?? 0) > chain.height),
    ),
  };
  const breakdown = ['list', 'chain_id'];
  type Listed = (typeof listed)[number];
  const keyOf = ({ cctx, list }: Listed): string => `${list} ${cctx.chain.id}`;
  const created = new Map<string, number>();
  for (const own of listed)
    created.set(keyOf(own), Math.min(created.get(keyOf(own)) ?? Infinity, createdOf(own.cctx, nowSeconds)));
  const nonces = (rows: readonly SimulatedCctx[], choose: (...values: number[]) => number): Expected => {
    const values = new Map<string, number>();
    for (const {
      chain: { id },
      nonce,
    } of rows)
      values.set(id, choose(values.get(id) ?? nonce, nonce));
    return { labels: ['chain_id'], values };
  };
  const all = {
    crosschain_cctxs: by(breakdown, listed, keyOf, () => 1),
    crosschain_cctxs_without_hash: by(breakdown, listed, keyOf, ({ cctx }) =>
      Number(rowOf(cctx, nowSeconds).hash === ''),
    ),
    crosschain_oldest_cctx_created_timestamp_seconds: { labels: breakdown, values: created },
    crosschain_lowest_pending_nonce: nonces(pending, Math.min),
    crosschain_highest_pending_nonce: nonces(pending, Math.max),
    crosschain_lowest_missed_nonce: nonces(missed, Math.min),
    crosschain_largest_pending_native_amount: single(
      highestOf(
        pending
          .map((cctx) => rowOf(cctx, nowSeconds))
          .filter(({ coin_type }) => coin_type === 'Native')
          .map(({ amount }) => Number(amount)),
      ),
    ),
  };
  if (pending.length <= MAX_LISTED) return { ...totals, ...all };
  // The chain knows more than the node lists.
  const skipped = Object.keys(all).map((name): [string, Expected] => [name, { labels: [], values: 'skipped' }]);
  return { ...totals, ...Object.fromEntries(skipped) };
}

const rowOf = (cctx: SimulatedCctx, nowSeconds: number) => {
  const [last] = currentRow(cctx, nowSeconds).outbound_params.slice(-1);
  return last ?? { hash: '', coin_type: '', amount: '' };
};

/** Commands of administrators have the time of their last update only. */
function createdOf(cctx: SimulatedCctx, nowSeconds: number): number {
  const { created_timestamp, lastUpdate_timestamp } = currentRow(cctx, nowSeconds).cctx_status;
  return Number(created_timestamp) > 0 ? Number(created_timestamp) : Number(lastUpdate_timestamp);
}

/** Where the gauges differ from the books, or are neither in the books nor left out for a reason. */
export function differences(
  samples: readonly Sample[],
  expected: Readonly<Record<string, Expected>>,
): readonly string[] {
  const byName = new Map<string, Sample[]>();
  for (const sample of samples) byName.set(sample.name, [...(byName.get(sample.name) ?? []), sample]);
  const unknown = Array.from(byName.keys()).filter(
    (name) => !Object.hasOwn(expected, name) && reasonNotCompared(name) === undefined,
  );
  return [
    ...unknown.map((name) => `${name} is not in the books`),
    ...Object.entries(expected).flatMap(([name, own]) => differencesOf(name, byName.get(name) ?? [], own)),
  ];
}

function differencesOf(
  name: string,
  samples: readonly Sample[],
  { labels, values, tolerance = 0 }: Expected,
): readonly string[] {
  if (values === 'skipped') return [];
  const found = new Map<string, number>();
  for (const { labels: own, value } of samples) {
    const key = labels.map((label) => own[label] ?? '').join(' ');
    found.set(key, (found.get(key) ?? 0) + value);
  }
  const keys = new Set([...found.keys(), ...values.keys()]);
  return [...keys].flatMap((key) => {
    const [value, right] = [found.get(key), values.get(key)];
    if (value === undefined || right === undefined)
      return [`${name} ${key} is ${value ?? 'absent'} instead of ${right ?? 'absent'}`];
    // Sums of doubles are off by a little.
    return Math.abs(value - right) <= tolerance + 1e-9 * Math.abs(right)
      ? []
      : [`${name} ${key} is ${value} instead of ${right}`];
  });
}
