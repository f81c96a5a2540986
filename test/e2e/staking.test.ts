import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { seriesOf } from '../support/exposition-text.js';
import { stableNames } from '../support/stable-names.js';
import { run } from '../support/processes.js';

/*
 * The bridge of a testnet in March 2021, which is not part of the project: FIXTURES names its folder. Every figure below is
 * explained by the rows of the document it follows from; what a test takes for granted of these rows it asserts first.
 */
const folder = process.env['FIXTURES'] ?? new URL('../../../shared/fixtures', import.meta.url).pathname;
const file = (form: string): string => join(folder, `bridge/staking-40003.${form}.json`);
const forms = ['peggy', 'neutral', 'neutral.any-bytes'] as const;
const found = forms.every((form) => existsSync(file(form)));
if (!found)
  console.warn(`SKIPPED: replay of a real bridge, since FIXTURES names no folder and ${folder} has no such file`);

interface Attestation {
  readonly observed: boolean;
  readonly votes: readonly string[];
  readonly height: string;
  readonly claim: { readonly event_nonce: string; readonly block_height: string };
}

interface State {
  readonly last_observed_nonce: string;
  readonly valsets: readonly { nonce: string; members: readonly { external_address: string; power: string }[] }[];
  readonly valset_confirms: readonly { nonce: string; eth_address: string }[];
  readonly batches: readonly { batch_nonce: string; batch_timeout: string; block: string; token_contract: string }[];
  readonly batch_confirms: readonly { nonce: string; token_contract: string }[];
  readonly attestations: readonly Attestation[];
  readonly orchestrator_addresses: readonly { eth_address: string }[];
}

const scratch = mkdtempSync(join(tmpdir(), 'staking-'));

/** The chain families that are told of a file: `name{labels without target}` → value. */
async function replay(path: string, dialect: 'neutral' | 'peggy', ...flags: string[]): Promise<Record<string, number>> {
  const config = join(scratch, `${dialect}.yml`);
  writeFileSync(config, `targets: [{name: real, bridge: {url: http://localhost, dialect: ${dialect}}}]`);
  const { code, stdout, stderr } = await run(['replay', '--config.file', config, '--bridge', path, ...flags]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const told = seriesOf(stdout).filter(({ name }) => stableNames.has(name) && !name.startsWith('bridge_exporter_'));
  return Object.fromEntries(
    told.map(({ name, labels, value }) => {
      const own = labels.replace(/^target="real",?/, '');
      return [own === '' ? name : `${name}{${own}}`, value];
    }),
  );
}

/** The neutral document with other fields in its state, as a file. */
function edited(change: (state: State) => object): string {
  const path = join(scratch, 'edited.json');
  const { state } = JSON.parse(readFileSync(file('neutral'), 'utf8')) as { state: State };
  writeFileSync(path, JSON.stringify({ state: { ...state, ...change(state) } }));
  return path;
}

/** Orchestrator and external address of the four members of the newest valset. */
const members = {
  D375: ['inj1nkcxn2gz3c06xmqmjgja70w89vuhzqfa5ug53d', '0xd37539056e98fb2818f0f6507c74bf03a1bb647e'],
  DA54: ['inj1a9tjefz2t7rr6ef9a25yfu46jy93azn3e5xhfm', '0xda54e643ee3a3d2cde5e186fd6407f133c7ecf19'],
  FC5F: ['inj1r7w4cr9yhgv7dtu9nhjv0vpgjz78e22dg7vqd3', '0xfc5fb5c3578ac9104882a8a01b18f687cc9a4343'],
  '3D56': ['inj14rygc6y2qqjfjy56h4yhnu3ac9fgwm978xe5wh', '0x3d56cc4ab12b4a8f5afd1ad289628ea4644fa04a'],
} as const;
const TOKEN = '0xa3a9029b8120e2f09b194df4a249a24db461e573';

function each(family: string, values: Readonly<Record<keyof typeof members, number>>): Record<string, number> {
  const names = Object.keys(members) as (keyof typeof members)[];
  return Object.fromEntries(
    names.map((name) => {
      const [orchestrator, address] = members[name];
      return [`${family}{orchestrator="${orchestrator}",external_address="${address}"}`, values[name]];
    }),
  );
}

const of = (told: Readonly<Record<string, number>>, prefix: string): Record<string, number> =>
  Object.fromEntries(Object.entries(told).filter(([name]) => name.startsWith(prefix)));

describe.skipIf(!found)('a real bridge', () => {
  const { state } = (found ? JSON.parse(readFileSync(file('neutral'), 'utf8')) : { state: {} }) as { state: State };

  it('says the same in its own names and in those of the spec, with claims unpacked and packed', async () => {
    const peggy = await replay(file('peggy'), 'peggy');
    const neutral = await replay(file('neutral'), 'neutral');
    expect(Object.keys(peggy).length).toBeGreaterThan(50);
    expect(neutral).toEqual(peggy);
    expect(await replay(file('neutral.any-bytes'), 'neutral')).toEqual(peggy);
    // The nonces come from the bytes there: nothing else in that file has them.
    expect(readFileSync(file('neutral.any-bytes'), 'utf8')).not.toContain('event_nonce');
  });

  it('has one live batch, of one withdrawal in the coin of the hub', async () => {
    expect(state.batches.map(({ batch_nonce, block, batch_timeout }) => [batch_nonce, block, batch_timeout])).toEqual([
      ['38', '404088', '24061511'],
    ]);
    const told = await replay(file('peggy'), 'peggy');
    const token = `token_contract="${TOKEN}",denom="inj"`; // cosmos_coin_erc20_contract and cosmos_coin_denom
    expect({ ...of(told, 'bridge_batch'), ...of(told, 'bridge_token_') }).toEqual({
      bridge_batches: 1,
      bridge_batch_transactions: 1,
      bridge_batch_confirms: 4,
      bridge_batch_oldest_height: 404088,
      bridge_batch_next_timeout_height: 24061511,
      [`bridge_token_batched_transfers{${token}}`]: 1,
      [`bridge_token_batched_amount{${token}}`]: 3e18,
      [`bridge_token_batched_fees{${token}}`]: 1e14,
      // The document of that time knows neither the external height, nor the observed valset, nor unbatched_transfers:
      // nothing is expired, signed or unbatched, rather than 0.
    });
  });

  it('has confirms of a batch that is no longer there, and so all four have the live one to sign', async () => {
    expect(state.batch_confirms.map(({ nonce }) => nonce)).toEqual(['1', '1', '1', '1']);
    const told = await replay(file('peggy'), 'peggy');
    expect(told['bridge_anomalies{kind="orphan_batch_confirms"}']).toBe(4);
    expect(of(told, 'bridge_orchestrator_missing_batch_confirms')).toEqual(
      each('bridge_orchestrator_missing_batch_confirms', { D375: 1, DA54: 1, FC5F: 1, '3D56': 1 }),
    );
  });

  it('has four members, all with an orchestrator; the only address ever without one is that of no key', async () => {
    const known = new Set(state.orchestrator_addresses.map(({ eth_address }) => eth_address.toLowerCase()));
    const ever = state.valsets.flatMap((valset) =>
      valset.members.map(({ external_address }) => external_address.toLowerCase()),
    );
    const zero = `0x${'0'.repeat(40)}`;
    expect(new Set(ever.filter((address) => !known.has(address)))).toEqual(new Set([zero]));
    const told = await replay(file('peggy'), 'peggy');
    expect(told['bridge_anomalies{kind="members_without_orchestrator"}']).toBe(0);
    // Of the newest valset, 402679; its powers add up to 4294967292.
    expect(of(told, 'bridge_orchestrator_power_ratio')).toEqual(
      each('bridge_orchestrator_power_ratio', {
        D375: 1086619889 / 4294967292,
        DA54: 1078005556 / 4294967292,
        FC5F: 1078005556 / 4294967292,
        '3D56': 1052336291 / 4294967292,
      }),
    );
    // In valset 34 all four members were still without a key: one address, on which four rows agree.
    const first = await replay(
      edited(({ valsets }) => ({ valsets: valsets.filter(({ nonce }) => nonce === '34') })),
      'neutral',
    );
    expect(first['bridge_newest_valset_members']).toBe(4);
    expect(first['bridge_anomalies{kind="members_without_orchestrator"}']).toBe(1);
    expect(of(first, 'bridge_orchestrator_power_ratio')).toEqual({});
    // Valset 312549 was the last with one such member, among six that have an orchestrator.
    const until = edited(({ valsets }) => ({ valsets: valsets.filter(({ nonce }) => Number(nonce) <= 312549) }));
    const last = await replay(until, 'neutral');
    expect(last['bridge_newest_valset_members']).toBe(7);
    expect(last['bridge_anomalies{kind="members_without_orchestrator"}']).toBe(1);
    expect(Object.keys(of(last, 'bridge_orchestrator_power_ratio'))).toHaveLength(6);
  });

  it('has every valset confirmed by those of its members who are in the newest one', async () => {
    const [last] = state.valsets.map(({ nonce }) => Number(nonce)).toSorted((a, b) => b - a);
    expect(last).toBe(402679);
    const told = await replay(file('peggy'), 'peggy');
    expect(of(told, 'bridge_orchestrator_missing_valset_confirms')).toEqual(
      each('bridge_orchestrator_missing_valset_confirms', { D375: 0, DA54: 0, FC5F: 0, '3D56': 0 }),
    );
    expect(of(told, 'bridge_orchestrator_confirm_deadline_height')).toEqual({});
    // Without the confirms of the newest one all owe it, for 50000 blocks from 402679 on, the last of which counts.
    const unsigned = edited(({ valset_confirms: rows }) => ({
      valset_confirms: rows.filter(({ nonce }) => nonce !== '402679'),
    }));
    const due = await replay(unsigned, 'neutral', '--hub-height', '452679');
    expect(of(due, 'bridge_orchestrator_confirm_deadline_height')).toEqual(
      each('bridge_orchestrator_confirm_deadline_height', { D375: 452679, DA54: 452679, FC5F: 452679, '3D56': 452679 }),
    );
    const past = await replay(unsigned, 'neutral', '--hub-height', '452680');
    expect(of(past, 'bridge_orchestrator_missing_valset_confirms')).toEqual(
      each('bridge_orchestrator_missing_valset_confirms', { D375: 0, DA54: 0, FC5F: 0, '3D56': 0 }),
    );
  });

  it('has the votes of all four on its last event, 68, and of one only on the oldest leftovers', async () => {
    const votes = state.attestations.map(({ claim, observed, votes: all }) => [
      claim.event_nonce,
      observed,
      all.length,
    ]);
    expect(votes.slice(-6)).toEqual(['63', '64', '65', '66', '67', '68'].map((nonce) => [nonce, true, 4]));
    expect(votes.slice(0, -6)).toEqual(['4', '16', '17', '38', '39', '40'].map((nonce) => [nonce, false, 1]));
    const told = await replay(file('peggy'), 'peggy');
    expect(of(told, 'bridge_orchestrator_missing_votes')).toEqual(
      each('bridge_orchestrator_missing_votes', { D375: 0, DA54: 0, FC5F: 0, '3D56': 0 }),
    );
    // What is not observed is below 68, so it is not pending: nothing is.
    expect([told['bridge_newest_attested_nonce'], told['bridge_pending_events']]).toEqual([68, 0]);
    expect(told).not.toHaveProperty('bridge_next_event_voted_power_ratio');
    // The first vote on 68 is taken away: it is the operator address with the key of an account of the four.
    const fewer = edited(({ attestations }) => ({
      attestations: attestations.map((row, at) => (at === 11 ? { ...row, votes: row.votes.slice(1) } : row)),
    }));
    const key = state.attestations[11]?.votes[0]?.slice('injvaloper1'.length, -6);
    const late = Object.entries(of(await replay(fewer, 'neutral'), 'bridge_orchestrator_missing_votes'));
    const missing = late.filter(([, value]) => value === 1).map(([series]) => series);
    expect(missing).toEqual([expect.stringContaining(`orchestrator="inj1${key}`)]);
    // Before 68 was observed, it was the next event, and all four had voted: the whole power, first at height 404020.
    const before = await replay(
      edited(() => ({ last_observed_nonce: '67' })),
      'neutral',
    );
    expect(before).toMatchObject({
      bridge_pending_events: 1,
      bridge_next_event_voted_power_ratio: 1,
      bridge_next_event_first_vote_height: 404020,
    });
  });

  it('has a timeout that is the projected external height and 12 hours', async () => {
    // Event 68 was seen at hub height 404020 in external block 24050694, and the batch was built at 404088.
    const last = state.attestations.at(-1);
    expect([last?.height, last?.claim.block_height]).toEqual(['404020', '24050694']);
    const known = edited(() => ({ last_observed_external_height: '24050694' }));
    const at = async (height: string): Promise<(number | undefined)[]> => {
      const told = await replay(known, 'neutral', '--hub-height', height);
      return ['bridge_external_height_projected', 'bridge_batches_expired', 'bridge_batches_overdue'].map(
        (name) => told[name],
      );
    };
    // 68 hub blocks of 1 s are 17 external ones of 4 s; 43200 s are 10800 more: 24050694 + 17 + 10800 = 24061511.
    expect(await at('404088')).toEqual([24050711, 0, 0]);
    // 4 × 10800 hub blocks later it is over, and not one block before: 24061510.75 is rounded down.
    expect(await at('447287')).toEqual([24061510, 0, 0]);
    expect(await at('447288')).toEqual([24061511, 0, 1]);
  });
});
