import { describe, expect, it } from 'vitest';
import type { Config, Shard } from '../../src/config/config.js';
import { createJobs } from '../../src/engine/jobs.js';
import { createPages, loadedConfig } from '../../src/commands/exporter.js';
import { HOUR_SECONDS } from '../../src/units.js';
import { attestation } from '../facts/bridge/state.js';
import { cctx, outbound, rateLimiterInput } from '../facts/crosschain/document.js';
import { idleState, transfer, validators } from '../facts/items/bridge-state.js';
import { recordedStates } from '../support/endpoint-states.js';
import { parseValidConfig } from '../support/config.js';
import { pollOf } from '../support/polls.js';
import { at, shownOf, textOf } from './sample-snapshots.js';

const [present, absent] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`];
const [registered, unregistered] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`];

const config = parseValidConfig(`
poll: { interval: 10m, stale_after: 1h }
targets:
  - { name: bridge, bridge: { url: 'https://a.example' } }
  - name: zeta
    crosschain:
      url: 'https://b.example'
      ignore: { indexes: [listed, unlisted] }
      age_limits: { default: 1h, '101': 2h, '102': 2h }
tokens: [{ contract: '${present}', symbol: A }, { contract: '${absent}', symbol: B }]
chains: { '101': one, '102': two, '103': sender }
validators: [{ address: '${registered}', name: A }, { address: '${unregistered}', name: B }]
`);

const registrations = validators.map((validator) => ({ ...validator, eth_address: registered }));
const bridge = { ...idleState, orchestrator_addresses: registrations, attestations: [], unbatched_transfers: [] };
const withTransfer = { ...bridge, unbatched_transfers: [{ ...transfer('1'), erc20_token: coin(), erc20_fee: coin() }] };
const crosschain = rateLimiterInput({
  cctxs_pending: [cctx('listed', [outbound('101')], { inbound_params: { sender_chain_id: '103' } })],
});

function coin() {
  return { contract: present, amount: '1' };
}

/** The states of both targets, each polled every hour. */
function pollEvery(hours: readonly number[], states: (hour: number) => unknown, loaded: Config = config) {
  const contexts = createJobs(loaded).map(({ context }) => context);
  const recorded = recordedStates(contexts, { maxBodyBytes: 2 ** 20, staleAfterMs: HOUR_SECONDS * 1000 }, at(0));
  for (const hour of hours) {
    const now = at(hour * HOUR_SECONDS);
    for (const context of contexts) {
      const body = context.document === 'module_state' ? { state: states(hour) } : crosschain;
      recorded.record(context, pollOf(context, body, { at: now, height: 1000 + hour }), now);
    }
  }
  return recorded.states();
}

function noteOf(states: ReturnType<typeof pollEvery>, hour: number, shard: Shard = { index: 1, count: 1 }) {
  const pages = createPages(
    { endpoints: () => shownOf(states), states: () => states },
    { current: () => loadedConfig(config, at(0).at), rejected: () => undefined },
    {
      telemetryPath: '/metrics',
      build: { version: '0.1.0', revision: 'unknown', nodeVersion: '20.19.0' },
      startedAt: at(0).at,
      recorder: { status: () => undefined },
      now: () => at(hour * HOUR_SECONDS),
      shard,
    },
  );
  return /Entries that match nothing in the documents of the last day: .*\./.exec(textOf(pages.configPage()))?.[0];
}

const day = Array.from({ length: 25 }, (_, hour) => hour);

describe('entries of the configuration that match nothing', () => {
  it('are a line of the configuration page after all targets have been polled for a day', () => {
    const states = pollEvery(day, (hour) => (hour === 3 ? withTransfer : bridge));
    const entries = [
      `tokens ${absent}`,
      'chains 102',
      `validators ${unregistered}`,
      'age_limits 102',
      'ignore.indexes unlisted',
    ];
    expect(noteOf(states, 24)).toBe(
      `Entries that match nothing in the documents of the last day: ${entries.join(', ')}.`,
    );
  });

  it.each([
    [
      'a claim',
      { ...bridge, attestations: [attestation('8', [], { claim: { event_nonce: '8', token_contract: present } })] },
    ],
    ['an unreadable list', { ...bridge, unbatched_transfers: 'none' }],
  ])('do not include a token that can be in %s', (_, state) => {
    expect(
      noteOf(
        pollEvery(day, () => state),
        24,
      ),
    ).not.toContain(present);
  });

  it('include a token of which the last transfer has been longer ago than a day', () => {
    const states = pollEvery([...day, 25, 26, 27, 28], (hour) => (hour === 3 ? withTransfer : bridge));
    expect(noteOf(states, 28)).toContain(`tokens ${present}`);
  });

  it('are not known before a day, after a gap in the polls, while a target is not polled, or of one shard', () => {
    const states = pollEvery(day, () => bridge);
    expect(noteOf(states, 23.9)).toBeUndefined();
    expect(noteOf(states, 25.1)).toBeUndefined();
    expect(noteOf(states, 24, { index: 1, count: 2 })).toBeUndefined();
    expect(
      noteOf(
        pollEvery(
          day.filter((hour) => hour !== 5 && hour !== 6),
          () => bridge,
        ),
        24,
      ),
    ).toBeUndefined();
    expect(noteOf(states, 24)).toBeDefined();
  });
});
