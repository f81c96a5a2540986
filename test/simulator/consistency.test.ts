import { describe, expect, it } from 'vitest';
import { createModel } from '../../src/simulator/model.js';
import { scenarioNames } from '../../src/simulator/scenarios.js';
import { currentOutbound, eventNonce, keyOf, powerOf } from './picture.js';

const options = { seed: 4, scenario: 'healthy', startTime: 1_760_000_000, blockTimeMs: 2000 } as const;

describe.each(scenarioNames)('the documents agree with themselves in %s:', (scenario) => {
  const model = createModel({ ...options, scenario });
  model.advance(200);
  const { state } = model.moduleState();
  const input = model.rateLimiterInput();

  it('votes are validators, confirms are of live things by known signers', () => {
    const senders = new Set(state.orchestrator_addresses.map(({ sender }) => keyOf(sender)));
    const votes = state.attestations.flatMap((attestation) => attestation.votes);
    expect(votes.filter((vote) => !vote.startsWith('hubvaloper1') || !senders.has(keyOf(vote)))).toEqual([]);
    const valsets = new Set(state.valsets.map(({ nonce }) => nonce));
    expect(state.valset_confirms.filter(({ nonce }) => !valsets.has(nonce))).toEqual([]);
    const batches = new Set(state.batches.map((batch) => `${batch.batch_nonce} ${batch.token_contract.toLowerCase()}`));
    const orphans = state.batch_confirms.filter(
      (row) => !batches.has(`${row.nonce} ${row.token_contract.toLowerCase()}`),
    );
    expect(orphans).toEqual([]);
    const keys = new Set(
      state.orchestrator_addresses.map((row) => `${row.orchestrator} ${row.eth_address.toLowerCase()}`),
    );
    const signers = [
      ...state.valset_confirms.map((row) => `${row.orchestrator} ${row.eth_address.toLowerCase()}`),
      ...state.batch_confirms.map((row) => `${row.orchestrator} ${row.eth_signer.toLowerCase()}`),
    ];
    expect(signers.filter((signer) => !keys.has(signer))).toEqual([]);
  });

  it('powers are shares of 2^32 - 1 and the nonce of a set is its height', () => {
    const sums = [...state.valsets, state.last_observed_valset].map(powerOf);
    expect(sums.filter((sum) => sum > 2 ** 32 - 1 || sum < 2 ** 32 - 21)).toEqual([]);
    expect(state.valsets.filter(({ nonce, height }) => nonce !== height)).toEqual([]);
    expect(state.last_observed_valset.height).toBe('0');
  });

  it('one observed event is left, the pending ones follow it without a gap', () => {
    const nonces = [...new Set(state.attestations.map(eventNonce))];
    const first = Number(state.last_observed_nonce);
    expect(nonces).toEqual(nonces.map((_, position) => first + position));
    const observed = state.attestations.filter((attestation) => attestation.observed).map(eventNonce);
    expect(observed).toEqual([first]);
  });

  it('no transfer is in two places, and a batch holds one token', () => {
    const batched = state.batches.flatMap(({ transactions }) => transactions);
    const ids = [...state.unbatched_transfers, ...batched].map(({ id }) => Number(id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(Math.max(0, ...ids)).toBeLessThanOrEqual(Number(state.last_outgoing_pool_id));
    const mixed = state.batches.filter(({ token_contract, transactions }) => {
      return transactions.some(
        ({ erc20_token, erc20_fee }) =>
          erc20_token.contract !== token_contract || erc20_fee.contract !== token_contract,
      );
    });
    expect(mixed).toEqual([]);
  });

  it('the totals of the rate limiter follow from its list', () => {
    const everything = model.rateLimiterInput({ window: 2n ** 63n - 1n, limit: 0n });
    expect(Number(input.total_pending)).toBeGreaterThanOrEqual(input.cctxs_pending.length + input.cctxs_missed.length);
    expect(BigInt(everything.past_cctxs_value)).toBeGreaterThanOrEqual(BigInt(input.past_cctxs_value));
    expect(model.rateLimiterInput({ window: 0n }).past_cctxs_value).toBe('0');
    const short = model.rateLimiterInput({ limit: 1n });
    expect(short).toEqual({ ...input, cctxs_pending: input.cctxs_pending.slice(0, 1) });
    const native = input.cctxs_pending.map(currentOutbound).filter(({ coin_type }) => coin_type === 'Native');
    const nativeValue = native.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    expect(BigInt(input.pending_cctxs_value)).toBeGreaterThanOrEqual(nativeValue);
  });

  it('every cctx has the age, state and chain of a pending one', () => {
    const now = 1_760_000_000 + 200 * 2;
    const cctxs = [...input.cctxs_pending, ...input.cctxs_missed];
    const wrong = cctxs.filter((cctx) => {
      const { status, created_timestamp, lastUpdate_timestamp } = cctx.cctx_status;
      const isReverted = status === 'PendingRevert' && cctx.outbound_params.length === 2;
      const isOutgoing = status === 'PendingOutbound' && cctx.outbound_params.length === 1;
      const source = isReverted ? currentOutbound(cctx).receiver_chainId : '7000';
      const isInOrder =
        Number(created_timestamp) <= Number(lastUpdate_timestamp) && Number(lastUpdate_timestamp) <= now;
      return !(isReverted || isOutgoing) || cctx.inbound_params.sender_chain_id !== source || !isInOrder;
    });
    expect(wrong).toEqual([]);
  });
});

it('texts have the form a real node gives them', () => {
  const model = createModel(options);
  const text = JSON.stringify([model.moduleState(), model.rateLimiterInput()]);
  const forms: [RegExp, RegExp][] = [
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
  for (const [found, form] of forms) {
    const texts = Array.from(text.matchAll(found), (match) => match[1] ?? '');
    expect(texts.length).toBeGreaterThan(3);
    expect(texts.filter((value) => !form.test(value))).toEqual([]);
  }
  const values = model.moduleState().state.attestations.map(({ claim }) => claim.value);
  expect(values.map((value) => Buffer.from(value, 'base64').toString('base64'))).toEqual(values);
});

it('addresses are in mixed case in one place and lower case in another', () => {
  const { state } = createModel(options).moduleState();
  const cases = (addresses: readonly string[]) => new Set(addresses.map((text) => text === text.toLowerCase()));
  expect(cases(state.valset_confirms.map(({ eth_address }) => eth_address)).size).toBe(2);
  expect(cases(state.batch_confirms.map(({ token_contract }) => token_contract)).size).toBe(2);
  expect([...cases(state.orchestrator_addresses.map(({ eth_address }) => eth_address))]).toEqual([false]);
});

it('the lowest pending height is that of a lowest nonce', () => {
  const { cctxs_pending, lowest_pending_cctx_height } = createModel(options).rateLimiterInput();
  const heads = new Map<string, { nonce: number; height: number }>();
  for (const cctx of cctxs_pending) {
    const { receiver_chainId, tss_nonce } = currentOutbound(cctx);
    const head = { nonce: Number(tss_nonce), height: Number(cctx.inbound_params.observed_external_height) };
    const known = heads.get(receiver_chainId);
    if (known === undefined || head.nonce < known.nonce) heads.set(receiver_chainId, head);
  }
  expect(Number(lowest_pending_cctx_height)).toBe(Math.min(...Array.from(heads.values(), ({ height }) => height)));
});
