import { z } from 'zod';
import type { Instant } from '../clock.js';
import { EMPTY_BRIDGE_FLOW, type BridgeFlow } from '../flow/bridge-flow.js';
import { EMPTY_CROSSCHAIN_FLOW, type CrosschainFlow } from '../flow/crosschain-flow.js';
import type { BridgeObservations } from '../facts/bridge/observations.js';
import type { ContractReading } from '../facts/contract/reading.js';
import type { KnownDocument } from '../poll/step.js';
import { decimalString } from '../chain/numeral.js';
import { list, map, maybe, numeral, type TimeCodecs } from './codecs.js';

/* What the first document is compared with. */

/** The schema of times in whole milliseconds before the last document: they have no other clock. */
const agoMs = z.number().int();
const before = ({ monotonicMs }: Instant, ms: number): number => Math.round(monotonicMs - ms);

function createBridgeSchema({ instant, seconds }: TimeCodecs) {
  const plain = z.strictObject({
    at: instant,
    heights: list(z.tuple([agoMs, numeral])),
    lastEvent: maybe(z.strictObject({ nonce: numeral, readAgoMs: agoMs, observedAgoMs: maybe(agoMs) })),
    batchNonces: map(z.string(), numeral),
    payingQueues: list(z.strictObject({ contract: z.string(), sinceSeconds: seconds })),
  });
  const observations = z.codec(plain, z.custom<BridgeObservations>(), {
    decode: ({ at, heights, lastEvent, ...others }): BridgeObservations => ({
      ...others,
      at,
      heights: heights.map(([ms, height]) => ({ monotonicMs: at.monotonicMs - ms, height })),
      lastEvent: lastEvent && {
        nonce: lastEvent.nonce,
        readAtMs: at.monotonicMs - lastEvent.readAgoMs,
        observedAtMs: lastEvent.observedAgoMs === undefined ? undefined : at.monotonicMs - lastEvent.observedAgoMs,
      },
      watched: [],
      hubCoinDenom: undefined,
      contractFacts: undefined,
    }),
    encode: ({ at, heights, lastEvent, batchNonces, payingQueues }) => ({
      at,
      heights: heights.map(({ monotonicMs, height }): [number, typeof height] => [before(at, monotonicMs), height]),
      lastEvent: lastEvent && {
        nonce: lastEvent.nonce,
        readAgoMs: before(at, lastEvent.readAtMs),
        observedAgoMs: lastEvent.observedAtMs === undefined ? undefined : before(at, lastEvent.observedAtMs),
      },
      batchNonces,
      payingQueues,
    }),
  });
  const highest = maybe(z.strictObject({ event: numeral, batch: numeral, transfer: numeral }));
  const flow = z.codec(z.strictObject({ highest }), z.custom<BridgeFlow>(), {
    decode: (remembered): BridgeFlow => ({ ...EMPTY_BRIDGE_FLOW, ...remembered }),
    encode: (all) => ({ highest: all.highest }),
  });
  return { observations: maybe(observations), flow };
}

function createCrosschainSchema({ instant, seconds }: TimeCodecs) {
  const observations = z.strictObject({
    at: instant,
    lowestNonces: list(z.strictObject({ chainId: z.string(), nonce: decimalString, sinceSeconds: seconds })),
  });
  const outbound = {
    chainId: z.string(),
    nonce: numeral.optional(),
    coinType: z.string().optional(),
    amount: numeral.optional(),
    asset: z.string().optional(),
  };
  const cctx = z.strictObject({ ...outbound, created: z.number().optional(), key: z.string().optional() });
  const baseline = z.codec(
    z.strictObject({ at: instant, height: numeral, missed: map(z.string(), cctx) }),
    z.custom<NonNullable<CrosschainFlow['baseline']>>(),
    {
      decode: ({ at, height, missed }) => ({
        at,
        isInterrupted: true,
        height,
        live: missed,
        missed: missed.size,
        keys: [],
        nonces: new Map(),
      }),
      encode: ({ at, height, live }) => ({ at, height, missed: live }),
    },
  );
  const departed = z.strictObject({
    ...outbound,
    index: z.string(),
    seconds: z.number().optional(),
    at: instant,
    pendingAnswers: z.literal([0, 1, 2]),
    isUncounted: z.boolean(),
    lastKey: z.string().optional(),
  });
  const flow = z.codec(
    z.strictObject({ baseline: maybe(baseline), departed: list(departed), isAnswered: z.boolean() }),
    z.custom<CrosschainFlow>(),
    {
      decode: (remembered): CrosschainFlow => ({ ...EMPTY_CROSSCHAIN_FLOW, ...remembered }),
      encode: (all) => ({ baseline: all.baseline, departed: all.departed, isAnswered: all.isAnswered }),
    },
  );
  return { observations: maybe(observations), flow };
}

function absent<Value = never>() {
  return z.codec(z.null(), z.custom<Value | undefined>(), { decode: () => undefined, encode: () => null });
}

/** The schemas of what is remembered, by document. */
export function createDocumentSchema(times: TimeCodecs) {
  const ofAll = { identity: list(z.string()), height: maybe(numeral) };
  return z.discriminatedUnion('document', [
    z.strictObject({ document: z.literal('module_state'), ...ofAll, ...createBridgeSchema(times) }),
    z.strictObject({ document: z.literal('rate_limiter_input'), ...ofAll, ...createCrosschainSchema(times) }),
    z.strictObject({
      document: z.literal('external_contract'),
      ...ofAll,
      // The first poll reads all of it.
      observations: absent<ContractReading>(),
      flow: absent(),
    }),
  ]) satisfies z.ZodType<KnownDocument>;
}
