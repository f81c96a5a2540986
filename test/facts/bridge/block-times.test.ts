import { describe, expect, it } from 'vitest';
import type { BridgePast } from '../../../src/facts/bridge/bridge-input.js';
import { hubBlocksSince } from '../../../src/facts/bridge/block-times.js';
import { bridgePast } from '../../../src/facts/bridge/bridge-past.js';
import type { JsonObject } from '../../support/json.js';
import { START } from '../../support/polls.js';
import { bridgeContext, inputOf, type BridgeOptions } from '../../support/snapshots.js';
import { attestation, state, valueOf } from './state.js';

const HUB = 'bridge_block_time_seconds';
const EXTERNAL = 'bridge_external_block_time_seconds';
const PROJECTED = 'bridge_external_height_projected';

const params = { bridge_chain_id: '1', average_block_time: '2000', average_external_block_time: '15000' };
const bridge = state({
  params,
  last_observed_nonce: '7',
  last_observed_external_height: '1000',
  attestations: [attestation('7', [], { observed: true, height: '100' })],
});

interface Poll {
  readonly seconds: number;
  readonly height?: number;
  readonly isNodeBehind?: boolean;
  readonly fields?: JsonObject;
}

/** The options of the last poll, with the past of those before it. */
function afterPolls(polls: readonly Poll[], options: BridgeOptions = {}): [JsonObject, BridgeOptions] {
  const { settings } = bridgeContext(options);
  let past: BridgePast | undefined;
  let last: [JsonObject, BridgeOptions] = [bridge, options];
  for (const { seconds, height, isNodeBehind, fields } of polls) {
    const document = { ...bridge, ...fields };
    const beside = {
      ...(height !== undefined && { height: String(height) }),
      ...(isNodeBehind !== undefined && { isNodeBehind }),
      ...(past && { past }),
    };
    last = [document, { ...options, ...beside, atMs: seconds * 1000 }];
    const input = inputOf(
      'module_state',
      { state: document },
      {
        settings,
        at: START.at + seconds,
        additionalInput: { isNodeBehind },
        ...(height !== undefined && { height: BigInt(height) }),
        ...(past && { past }),
      },
    );
    past = bridgePast(input);
  }
  return last;
}

const valueAfter = (name: string, polls: readonly Poll[], options?: BridgeOptions) => {
  const [document, last] = afterPolls(polls, options);
  return valueOf(document, name, last);
};

/** Polls every 30 s of a chain with 50 blocks in that time, 0.6 s each. */
const steady = (minutes: number, from: Poll = { seconds: 0, height: 1000 }): Poll[] =>
  Array.from({ length: minutes * 2 + 1 }, (_, index) => ({
    ...from,
    seconds: from.seconds + index * 30,
    height: (from.height ?? 0) + index * 50,
  }));

describe('bridge_block_time_seconds', () => {
  it('is configured, else measured over ten minutes, else the parameter', () => {
    expect(valueAfter(HUB, steady(10), { block_time: 630 })).toBe(0.63);
    expect(valueAfter(HUB, steady(10))).toBe(0.6);
    expect(valueAfter(HUB, steady(9))).toBe(2);
    expect(valueAfter(HUB, [])).toBe(2);
    const first = { seconds: 0, height: 1000 };
    expect(valueAfter(HUB, steady(9, { ...first, fields: { params: {} } }))).toBeUndefined();
    expect(valueAfter(HUB, steady(10, { ...first, fields: { params: null } }))).toBe(0.6);
  });

  it.each(['0', '-1000000000000000000'])('is absent for a parameter that is not positive: %s', (time) => {
    const fields = { params: { bridge_chain_id: '5', average_block_time: time, average_external_block_time: time } };
    expect(valueAfter(HUB, [{ seconds: 0, height: 1000, fields }])).toBeUndefined();
    expect(valueAfter(EXTERNAL, [{ seconds: 0, height: 1000, fields }])).toBeUndefined();
  });

  it('is not measured while the hub takes more than 10 seconds for a block', () => {
    const slow = (times: number) =>
      steady(30).map(({ seconds }) => ({ seconds, height: times * (1000 + Math.floor(seconds / 20)) }));
    expect(valueAfter(HUB, slow(1))).toBe(2);
    expect(valueAfter(HUB, slow(3))).toBeCloseTo(6.7, 1);
  });

  it('is measured over the last hour, with at most one sample in 30 seconds', () => {
    const faster = steady(60, { seconds: 7200, height: 200_000 }).map(({ seconds, height = 0 }) => ({
      seconds,
      height: 200_000 + 2 * (height - 200_000),
    }));
    expect(valueAfter(HUB, [...steady(119), ...faster])).toBe(0.3);
    const frequent = Array.from({ length: 400 }, (_, poll) => ({ seconds: 10 * poll, height: 1000 + 20 * poll }));
    const [document, options] = afterPolls(frequent);
    expect(valueOf(document, HUB, options)).toBe(0.5);
    expect(options.past?.heights.length).toBe(120);
  });

  it('leaves out the time in which the hub halts', () => {
    const before = steady(10);
    const halted = steady(30, { seconds: 630, height: 2000 }).map(({ seconds }) => ({ seconds, height: 2000 }));
    const after = steady(10, { seconds: 2460, height: 2050 });
    expect(valueAfter(HUB, [...before, ...halted, ...after])).toBe(0.6);
  });

  it.each([45, 120, 240])('is that of the hub behind a cache that repeats a height for %s s', (cachedSeconds) => {
    const cached = Array.from({ length: 60 }, (_, poll) => {
      const seconds = 30.5 * poll;
      const askedAt = Math.floor(seconds / cachedSeconds) * cachedSeconds;
      return { seconds, height: 1000 + Math.floor(askedAt / 0.6) };
    });
    expect(valueAfter(HUB, cached)).toBeCloseTo(0.6, 1);
  });

  it('leaves out the time in which the node stood, and the next poll, which has the blocks of that time', () => {
    const stood = Array.from({ length: 11 }, (_, index) => ({ seconds: 600 + index * 30, height: 2000 }));
    const after = steady(10, { seconds: 930, height: 2000 + 550 });
    expect(valueAfter(HUB, [...steady(10), ...stood, ...after])).toBe(0.6);
  });

  it('leaves out an outage in which the hub made far too few blocks', () => {
    const after = steady(10, { seconds: 600 + 3000, height: 2010 });
    expect(valueAfter(HUB, [...steady(10), ...after])).toBe(0.6);
    expect(
      valueAfter(HUB, [...steady(10), ...after.map(({ seconds, height = 0 }) => ({ seconds, height: height + 590 }))]),
    ).toBeGreaterThan(1);
  });

  it('leaves out the time in which a node that was behind catches up', () => {
    const halted = Array.from({ length: 20 }, (_, index) => ({ seconds: 630 + index * 30, height: 2000 }));
    const catchingUp = (isNodeBehind: boolean) =>
      Array.from({ length: 10 }, (_, index) => ({
        seconds: 1230 + index * 30,
        height: 2100 + index * 100,
        isNodeBehind,
      }));
    expect(valueAfter(HUB, [...steady(10), ...halted, ...catchingUp(true)])).toBe(0.6);
    expect(valueAfter(HUB, [...steady(10), ...halted, ...catchingUp(false)])).toBeLessThan(0.5);
  });

  it('is measured anew after the height went back', () => {
    const before = steady(30);
    expect(valueAfter(HUB, [...before, ...steady(9, { seconds: 1830, height: 900 })])).toBe(2);
    expect(valueAfter(HUB, [...before, ...steady(10, { seconds: 1830, height: 900 })])).toBe(0.6);
  });

  it('is measured over the polls with a height', () => {
    const polls = steady(20).map((poll, index) => (index % 2 === 0 ? poll : { seconds: poll.seconds }));
    expect(valueAfter(HUB, polls)).toBe(0.6);
  });
});

describe('an age by a hub height', () => {
  it('in the first document is by the block time of a known hub, else by the parameter', () => {
    const age = (bridgeId: string, chainId: string, options: BridgeOptions = {}) => {
      const document = { ...bridge, params: { ...params, bridge_id: bridgeId, bridge_chain_id: chainId } };
      const { settings } = bridgeContext(options);
      const input = inputOf('module_state', { state: document }, { settings, at: START.at, height: 10_000n });
      return hubBlocksSince(input, 9000n)?.seconds;
    };
    expect(age('injective-peggyid', '1')).toBe(630);
    expect(age('injective-peggyid', '11155111')).toBe(2000);
    expect(age('other', '1')).toBe(2000);
    expect(age('injective-peggyid', '1', { block_time: 1000 })).toBe(1000);
  });
});

describe('bridge_external_block_time_seconds', () => {
  const external = (own: JsonObject | null, options?: BridgeOptions) =>
    valueOf({ ...bridge, params: own }, EXTERNAL, options);

  it('is configured, else 12 s on Ethereum and Sepolia, else the parameter', () => {
    expect(external({ ...params, bridge_chain_id: '5' })).toBe(15);
    expect(external({ ...params, bridge_chain_id: 5 })).toBe(15);
    expect(external({ bridge_chain_id: '1' })).toBe(12);
    expect(external({ bridge_chain_id: 11_155_111 })).toBe(12);
    expect(external(null, { external_block_time: 7000 })).toBe(7);
  });

  it('is absent without a chain id, unless it is configured', () => {
    expect(external({ average_external_block_time: '15000' })).toBeUndefined();
    expect(external({ bridge_chain_id: '5' })).toBeUndefined();
  });
});

describe('bridge_external_height_projected', () => {
  const nextEvent = { last_observed_nonce: '8', last_observed_external_height: '2000' };

  it('uses the block times in use', () => {
    // 1,000 blocks since the event at 0.6 s and 12 s, and at 2 s and 15 s.
    expect(valueAfter(PROJECTED, steady(20, { seconds: 0, height: 100 }))).toBe(1100);
    expect(valueOf(bridge, PROJECTED, { height: '1100', external_block_time: 15_000 })).toBe(1133);
  });

  it('uses the time since the event was observed between two polls', () => {
    const polls = (seconds: number): Poll[] => [
      { seconds: 0, height: 5000 },
      { seconds: 30, height: 5050, fields: { ...nextEvent, attestations: [] } },
      { seconds, height: 5051, fields: { ...nextEvent, attestations: [] } },
    ];
    expect(valueAfter(PROJECTED, polls(30 + 1200))).toBe(2100);
    expect(valueAfter(PROJECTED, polls(30 + 1199))).toBe(2099);
  });

  it('uses the blocks since the first vote when the event is observed hours later', () => {
    const first = steady(20, { seconds: 0, height: 18_950 });
    const attestations = [attestation('8', [], { observed: true, height: '1000' })];
    const observed = { seconds: 1230, height: 21_000, fields: { ...nextEvent, attestations } };
    // 20,000 blocks of 0.6 s are 1,000 blocks of 12 s, although the event was observed just now.
    expect(valueAfter(PROJECTED, [...first, observed])).toBe(3000);
  });

  it('uses blocks after a gap in which the event may have been observed, a restart, and a nonce that went back', () => {
    const attestations = [attestation('8', [], { observed: true, height: '5000' })];
    const fields = { ...nextEvent, attestations };
    // 120 blocks of 2 s are 20 blocks of 12 s.
    const gap = [
      { seconds: 0, height: 4000 },
      { seconds: 301, height: 5000, fields },
      { seconds: 5000, height: 5120, fields },
    ];
    expect(valueAfter(PROJECTED, gap)).toBe(2020);
    expect(valueAfter(PROJECTED, gap.slice(1))).toBe(2020);
    const back = [{ seconds: 0, height: 4000, fields: { last_observed_nonce: '9' } }, ...gap.slice(1)];
    expect(valueAfter(PROJECTED, back)).toBe(2020);
  });

  it('keeps the time of the event while its nonce cannot be read', () => {
    const polls: Poll[] = [
      { seconds: 0, height: 5000 },
      { seconds: 30, height: 5050, fields: nextEvent },
      { seconds: 60, height: 5100, fields: { ...nextEvent, last_observed_nonce: 'x' } },
      { seconds: 630, height: 5200, fields: nextEvent },
    ];
    expect(valueAfter(PROJECTED, polls.slice(0, 3))).toBeUndefined();
    expect(valueAfter(PROJECTED, polls)).toBe(2050);
  });
});
