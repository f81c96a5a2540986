import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { seriesOf } from '../support/exposition-text.js';
import { runExporter } from '../support/processes.js';
import { fixturesFolder } from '../support/project-files.js';
import { stableMetricNames } from '../support/stable-metric-names.js';
import { createTempFolder } from '../support/temp-folder.js';

/*
 * Replays the recorded state of a testnet bridge of March 2021. Each test explains the expected values by rows of the
 * document, and first asserts what it assumes about these rows.
 */
const fixtureOf = (form: string): string => join(fixturesFolder, `bridge/staking-40003.${form}.json`);
const hasFixtures = ['peggy', 'neutral', 'neutral.any-bytes'].every((form) => existsSync(fixtureOf(form)));
if (!hasFixtures) console.warn(`SKIPPED: replay of a testnet bridge, because ${fixturesFolder} has no such file`);

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

const folder = createTempFolder();

/** The stable chain metrics of a file: values by `name{labels without target}`. */
async function replay(path: string, dialect: 'neutral' | 'peggy', ...flags: string[]): Promise<Record<string, number>> {
  const yaml = `targets: [{name: real, bridge: {url: http://localhost, dialect: ${dialect}}}]`;
  const config = folder.write(`${dialect}.yml`, yaml);
  const { code, stdout, stderr } = await runExporter(['replay', '--config.file', config, '--bridge', path, ...flags]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const chainSeries = seriesOf(stdout).filter(
    ({ name }) => stableMetricNames.has(name) && !name.startsWith('bridge_exporter_'),
  );
  return Object.fromEntries(
    chainSeries.map(({ name, labels, value }) => {
      const otherLabels = labels.replace(/^target="real",?/, '');
      return [otherLabels === '' ? name : `${name}{${otherLabels}}`, value];
    }),
  );
}

/** Writes a file with the neutral document and these changes to its state. */
function writeEdited(change: (state: State) => object): string {
  const { state } = JSON.parse(readFileSync(fixtureOf('neutral'), 'utf8')) as { state: State };
  return folder.write('edited.json', JSON.stringify({ state: { ...state, ...change(state) } }));
}

/** Orchestrator and external address of the four members of the newest valset. */
const members = {
  D375: ['inj1nkcxn2gz3c06xmqmjgja70w89vuhzqfa5ug53d', '0xd37539056e98fb2818f0f6507c74bf03a1bb647e'],
  DA54: ['inj1a9tjefz2t7rr6ef9a25yfu46jy93azn3e5xhfm', '0xda54e643ee3a3d2cde5e186fd6407f133c7ecf19'],
  FC5F: ['inj1r7w4cr9yhgv7dtu9nhjv0vpgjz78e22dg7vqd3', '0xfc5fb5c3578ac9104882a8a01b18f687cc9a4343'],
  '3D56': ['inj14rygc6y2qqjfjy56h4yhnu3ac9fgwm978xe5wh', '0x3d56cc4ab12b4a8f5afd1ad289628ea4644fa04a'],
} as const;
const TOKEN = '0xa3a9029b8120e2f09b194df4a249a24db461e573';

function perMember(family: string, values: Readonly<Record<keyof typeof members, number>>): Record<string, number> {
  const names = Object.keys(members) as (keyof typeof members)[];
  return Object.fromEntries(
    names.map((name) => {
      const [orchestrator, address] = members[name];
      return [`${family}{orchestrator="${orchestrator}",external_address="${address}"}`, values[name]];
    }),
  );
}

const withPrefix = (values: Readonly<Record<string, number>>, prefix: string): Record<string, number> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => name.startsWith(prefix)));

describe.skipIf(!hasFixtures)('replay of a testnet bridge', () => {
  const { state } = (hasFixtures ? JSON.parse(readFileSync(fixtureOf('neutral'), 'utf8')) : { state: {} }) as {
    state: State;
  };

  it('exports the same for the peggy and the neutral dialect, with decoded and encoded claims', async () => {
    const peggy = await replay(fixtureOf('peggy'), 'peggy');
    const neutral = await replay(fixtureOf('neutral'), 'neutral');
    expect(Object.keys(peggy).length).toBeGreaterThan(50);
    expect(neutral).toEqual(peggy);
    expect(await replay(fixtureOf('neutral.any-bytes'), 'neutral')).toEqual(peggy);
    // In that file, only the encoded claims contain the nonces.
    expect(readFileSync(fixtureOf('neutral.any-bytes'), 'utf8')).not.toContain('event_nonce');
  });

  it('exports one live batch with one withdrawal in the hub coin', async () => {
    expect(state.batches.map(({ batch_nonce, block, batch_timeout }) => [batch_nonce, block, batch_timeout])).toEqual([
      ['38', '404088', '24061511'],
    ]);
    const values = await replay(fixtureOf('peggy'), 'peggy');
    const token = `token_contract="${TOKEN}",denom="inj"`; // cosmos_coin_erc20_contract and cosmos_coin_denom
    expect({ ...withPrefix(values, 'bridge_batch'), ...withPrefix(values, 'bridge_token_') }).toEqual({
      bridge_batches: 1,
      bridge_batch_transactions: 1,
      bridge_batch_confirms: 4,
      bridge_batch_oldest_height: 404088,
      bridge_batch_next_timeout_height: 24061511,
      [`bridge_token_batched_transfers{${token}}`]: 1,
      [`bridge_token_batched_amount{${token}}`]: 3e18,
      [`bridge_token_batched_fees{${token}}`]: 1e14,
      [`bridge_token_newest_batch_nonce{${token}}`]: 38,
      // The document has no external height, observed valset and unbatched_transfers, so the metrics for expired,
      // signed and
      // unbatched are absent.
    });
  });

  it('exports that all four members have not signed the live batch, because all confirms belong to an earlier one', async () => {
    expect(state.batch_confirms.map(({ nonce }) => nonce)).toEqual(['1', '1', '1', '1']);
    const values = await replay(fixtureOf('peggy'), 'peggy');
    expect(values['bridge_anomalies{kind="orphan_batch_confirms"}']).toBe(4);
    expect(withPrefix(values, 'bridge_orchestrator_missing_batch_confirms')).toEqual(
      perMember('bridge_orchestrator_missing_batch_confirms', { D375: 1, DA54: 1, FC5F: 1, '3D56': 1 }),
    );
  });

  it('exports four members with an orchestrator, and none for the zero address of members without a key', async () => {
    const registered = new Set(state.orchestrator_addresses.map(({ eth_address }) => eth_address.toLowerCase()));
    const allMembers = state.valsets.flatMap((valset) =>
      valset.members.map(({ external_address }) => external_address.toLowerCase()),
    );
    const zero = `0x${'0'.repeat(40)}`;
    expect(new Set(allMembers.filter((address) => !registered.has(address)))).toEqual(new Set([zero]));
    const values = await replay(fixtureOf('peggy'), 'peggy');
    expect(values['bridge_anomalies{kind="members_without_orchestrator"}']).toBe(0);
    // The powers of the newest valset, 402679, add up to 4294967292.
    expect(withPrefix(values, 'bridge_orchestrator_power_ratio')).toEqual(
      perMember('bridge_orchestrator_power_ratio', {
        D375: 1086619889 / 4294967292,
        DA54: 1078005556 / 4294967292,
        FC5F: 1078005556 / 4294967292,
        '3D56': 1052336291 / 4294967292,
      }),
    );
    // In valset 34, the four members had no key, so all four rows have the zero address.
    const first = await replay(
      writeEdited(({ valsets }) => ({ valsets: valsets.filter(({ nonce }) => nonce === '34') })),
      'neutral',
    );
    expect(first['bridge_newest_valset_members']).toBe(4);
    expect(first['bridge_anomalies{kind="members_without_orchestrator"}']).toBe(1);
    expect(withPrefix(first, 'bridge_orchestrator_power_ratio')).toEqual({});
    // Valset 312549 is the last one with such a member, besides six with an orchestrator.
    const until = writeEdited(({ valsets }) => ({ valsets: valsets.filter(({ nonce }) => Number(nonce) <= 312549) }));
    const last = await replay(until, 'neutral');
    expect(last['bridge_newest_valset_members']).toBe(7);
    expect(last['bridge_anomalies{kind="members_without_orchestrator"}']).toBe(1);
    expect(Object.keys(withPrefix(last, 'bridge_orchestrator_power_ratio'))).toHaveLength(6);
  });

  it('exports missing valset confirms and their deadline', async () => {
    const [last] = state.valsets.map(({ nonce }) => Number(nonce)).toSorted((a, b) => b - a);
    expect(last).toBe(402679);
    const values = await replay(fixtureOf('peggy'), 'peggy');
    expect(withPrefix(values, 'bridge_orchestrator_missing_valset_confirms')).toEqual(
      perMember('bridge_orchestrator_missing_valset_confirms', { D375: 0, DA54: 0, FC5F: 0, '3D56': 0 }),
    );
    expect(withPrefix(values, 'bridge_orchestrator_confirm_deadline_height')).toEqual({});
    // Without the confirms of the newest valset, all members miss it until its deadline of 402679 + 50000 inclusive.
    const unsigned = writeEdited(({ valset_confirms: rows }) => ({
      valset_confirms: rows.filter(({ nonce }) => nonce !== '402679'),
    }));
    const due = await replay(unsigned, 'neutral', '--hub-height', '452679');
    expect(withPrefix(due, 'bridge_orchestrator_confirm_deadline_height')).toEqual(
      perMember('bridge_orchestrator_confirm_deadline_height', {
        D375: 452679,
        DA54: 452679,
        FC5F: 452679,
        '3D56': 452679,
      }),
    );
    const past = await replay(unsigned, 'neutral', '--hub-height', '452680');
    expect(withPrefix(past, 'bridge_orchestrator_missing_valset_confirms')).toEqual(
      perMember('bridge_orchestrator_missing_valset_confirms', { D375: 0, DA54: 0, FC5F: 0, '3D56': 0 }),
    );
  });

  it('exports missing votes for the last observed event, 68, and votes for the next one', async () => {
    const votes = state.attestations.map(({ claim, observed, votes: all }) => [
      claim.event_nonce,
      observed,
      all.length,
    ]);
    expect(votes.slice(-6)).toEqual(['63', '64', '65', '66', '67', '68'].map((nonce) => [nonce, true, 4]));
    expect(votes.slice(0, -6)).toEqual(['4', '16', '17', '38', '39', '40'].map((nonce) => [nonce, false, 1]));
    const values = await replay(fixtureOf('peggy'), 'peggy');
    expect(withPrefix(values, 'bridge_orchestrator_missing_votes')).toEqual(
      perMember('bridge_orchestrator_missing_votes', { D375: 0, DA54: 0, FC5F: 0, '3D56': 0 }),
    );
    // All unobserved events are below 68, so none is pending.
    expect([values['bridge_newest_attested_nonce'], values['bridge_pending_events']]).toEqual([68, 0]);
    expect(values).not.toHaveProperty('bridge_next_event_voted_power_ratio');
    // Without the first vote on 68. A vote is an operator address with the same data part as the account.
    const fewer = writeEdited(({ attestations }) => ({
      attestations: attestations.map((row, at) => (at === 11 ? { ...row, votes: row.votes.slice(1) } : row)),
    }));
    const key = state.attestations[11]?.votes[0]?.slice('injvaloper1'.length, -6);
    const late = Object.entries(withPrefix(await replay(fewer, 'neutral'), 'bridge_orchestrator_missing_votes'));
    const missing = late.filter(([, value]) => value === 1).map(([series]) => series);
    expect(missing).toEqual([expect.stringContaining(`orchestrator="inj1${key}`)]);
    // Before event 68 was observed, it was the next event with the votes of all members, the first at height 404020.
    const before = await replay(
      writeEdited(() => ({ last_observed_nonce: '67' })),
      'neutral',
    );
    expect(before).toMatchObject({
      bridge_pending_events: 1,
      bridge_next_event_voted_power_ratio: 1,
      bridge_next_event_first_vote_height: 404020,
    });
  });

  it('exports an estimated external height with which the batch times out after 12 hours', async () => {
    // Event 68 was observed at hub height 404020 with external block 24050694. The batch was built at 404088.
    const last = state.attestations.at(-1);
    expect([last?.height, last?.claim.block_height]).toEqual(['404020', '24050694']);
    const withExternalHeight = writeEdited(() => ({ last_observed_external_height: '24050694' }));
    const exportedAt = async (height: string): Promise<(number | undefined)[]> => {
      const values = await replay(withExternalHeight, 'neutral', '--hub-height', height);
      return ['bridge_external_height_projected', 'bridge_batches_expired', 'bridge_batches_overdue'].map(
        (name) => values[name],
      );
    };
    // 68 hub blocks of 1 s are 17 external ones of 4 s; 43200 s are 10800 more: 24050694 + 17 + 10800 = 24061511.
    expect(await exportedAt('404088')).toEqual([24050711, 0, 0]);
    // It is overdue 4 × 10800 hub blocks later, and not a block before: 24061510.75 is rounded down.
    expect(await exportedAt('447287')).toEqual([24061510, 0, 0]);
    expect(await exportedAt('447288')).toEqual([24061511, 0, 1]);
  });
});
