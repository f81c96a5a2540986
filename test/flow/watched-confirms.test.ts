import { describe, expect, it } from 'vitest';
import {
  account,
  attestation,
  batch,
  batchConfirm,
  operator,
  orchestrator,
  state,
  valset,
  valsetConfirm,
} from '../metrics/bridge/state.js';
import type { JsonObject } from '../support/json.js';
import { bridgePolls } from './bridge-polls.js';

const VALIDATORS = ['aaa', 'ccc', 'ddd'] as const;
const BASE = {
  params: { bridge_external_address: '0xc' },
  last_observed_nonce: '10',
  last_outgoing_batch_id: '1',
  orchestrator_addresses: VALIDATORS.map((name) => orchestrator(name, `0x${name}`)),
};
const WATCH = ['aaa', 'ccc'].map(account);

const live = (nonce: number): JsonObject => batch(String(nonce), '0xa');
const confirm = (nonce: number, name: string): JsonObject => batchConfirm(String(nonce), '0xa', `0x${name}`);

/** A bridge with two watched validators, and the delays of each: their number and their sum in seconds. */
function watchedBridge() {
  const endpoint = bridgePolls({ watch: WATCH });
  return {
    ...endpoint,
    poll: (fields: JsonObject, options: { readonly after?: number } = {}) =>
      endpoint.poll(state({ ...BASE, ...fields }), options),
    delays: (): Record<string, readonly [count: number, sum: number]> => {
      const { validators } = endpoint.flow().confirms;
      return Object.fromEntries(
        validators.flatMap(({ orchestrator: address, delays }) =>
          Object.entries(delays).flatMap(([kind, { counts, sum }]) => {
            const count = counts.reduce((total, own) => total + own, 0);
            return count === 0 ? [] : [[`${address.slice(4, 7)} ${kind}`, [count, sum] as const]];
          }),
        ),
      );
    },
  };
}

describe('bridge_watched_confirm_delay_seconds', () => {
  it('has the time from the first document with a batch to that with the signature, of watched validators', () => {
    const bridge = watchedBridge();
    bridge.poll({});
    const batches = [live(2)];
    bridge.poll({ last_outgoing_batch_id: '2', batches, batch_confirms: [confirm(2, 'aaa')] });
    const all = [confirm(2, 'aaa'), confirm(2, 'ccc'), confirm(2, 'ddd')];
    bridge.poll({ last_outgoing_batch_id: '2', batches, batch_confirms: all }, { after: 90 });
    bridge.poll({ last_outgoing_batch_id: '2', batches, batch_confirms: all });
    expect(bridge.delays()).toEqual({ 'aaa batch': [1, 0], 'ccc batch': [1, 90] });
  });

  it('has those of validator sets and of votes, also for an event that is observed meanwhile', () => {
    const bridge = watchedBridge();
    bridge.poll({ valsets: [valset('5', {})] });
    const valsets = [valset('5', {}), valset('9', {})];
    bridge.poll({ valsets, attestations: [attestation('11', [operator('ddd')])] });
    const valset_confirms = [valsetConfirm('5', '0xaaa'), valsetConfirm('9', '0xccc')];
    bridge.poll({ valsets, valset_confirms, attestations: [attestation('11', [operator('ddd'), operator('ccc')])] });
    const votes = VALIDATORS.map(operator);
    bridge.poll({
      valsets,
      valset_confirms,
      last_observed_nonce: '11',
      attestations: [attestation('11', votes, { observed: true })],
    });
    expect(bridge.delays()).toEqual({ 'ccc valset': [1, 30], 'ccc vote': [1, 30], 'aaa vote': [1, 60] });
  });

  it('has nothing for what was in the first document, or is gone before it is confirmed', () => {
    const bridge = watchedBridge();
    bridge.poll({ batches: [live(1)] });
    bridge.poll({ batches: [live(1)], batch_confirms: [confirm(1, 'aaa')] });
    bridge.poll({ last_outgoing_batch_id: '2', batches: [live(2)] });
    bridge.poll({ last_outgoing_batch_id: '2', last_observed_nonce: '11' });
    expect(bridge.delays()).toEqual({});
    expect(bridge.flow().confirms.pending.batch).toEqual({ highest: 2, items: [] });
  });

  it.each([
    ['a document that cannot be read', { batches: null }, 30],
    ['a list of signatures that is missing', { batch_confirms: null }, 30],
    ['an interruption', {}, 400],
  ])('has nothing across %s', (_title, fields, after) => {
    const bridge = watchedBridge();
    const batches = [live(2)];
    bridge.poll({});
    bridge.poll({ last_outgoing_batch_id: '2', batches });
    bridge.poll({ last_outgoing_batch_id: '2', batches, ...fields }, { after });
    bridge.poll({ last_outgoing_batch_id: '3', batches: [live(2), live(3)], batch_confirms: [confirm(2, 'aaa')] });
    expect(bridge.delays()).toEqual({});
  });

  it('begins with 0 for each watched validator that is registered, with its name', () => {
    const bridge = watchedBridge();
    bridge.poll({});
    expect(bridge.flow().confirms.validators.map(({ orchestrator: address, name }) => [address, name])).toEqual([
      [account('aaa'), ''],
      [account('ccc'), ''],
    ]);
  });

  it('is kept when the registration disappears, of at most twice as many validators as are watched', () => {
    const bridge = watchedBridge();
    bridge.poll({});
    const sender = account('ccc');
    for (const name of ['eee', 'fff', 'ggg', 'hhh']) {
      bridge.poll({ orchestrator_addresses: [{ ...orchestrator(name, `0x${name}`), sender }] });
    }
    const addresses = bridge.flow().confirms.validators.map(({ orchestrator: address }) => address);
    expect(addresses).toEqual(['hhh', 'ggg', 'fff', 'eee'].map(account));
    bridge.poll({ orchestrator_addresses: [] });
    expect(bridge.flow().confirms.validators).toHaveLength(4);
  });

  it('remembers at most a thousand unconfirmed items', () => {
    const bridge = watchedBridge();
    bridge.poll({});
    const batches = Array.from({ length: 2000 }, (_, index) => live(index + 2));
    bridge.poll({ last_outgoing_batch_id: '2001', batches });
    expect(bridge.flow().confirms.pending.batch?.items).toHaveLength(1000);
  });
});
