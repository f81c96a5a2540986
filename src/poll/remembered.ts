import { z } from 'zod';
import { decimalString, numeralSchema, type Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import type { DocumentName } from '../document-types.js';
import { documentNames } from '../documents.js';
import { EMPTY_BRIDGE_FLOW, restartedBridge } from '../flow/bridge-flow.js';
import { EMPTY_CROSSCHAIN_FLOW, restartedCrosschain } from '../flow/crosschain-flow.js';
import type { RememberedProblem } from '../problems/memory.js';
import { problemKey, severities, subjectLabels, type Problem } from '../problems/problem.js';
import { problems } from '../problems/problems.js';
import { isOf, lastDocument, type EndpointState, type LastDocument } from './endpoint-state.js';

/*
 * The memory of an endpoint with which its polls continue as after a gap: in another process, or after a reload has changed its job. Counters begin
 * anew, and parts that the next document or answer has anyway are left out.
 */

/** A `Map` is written as `{"$map": [[key, value]]}`. */
function map<Value extends z.ZodType>(value: Value) {
  const pairs = z.object({ $map: z.array(z.tuple([z.string(), value])) });
  return z.codec(pairs, z.custom<ReadonlyMap<string, z.output<Value>>>(), {
    decode: ({ $map }) => new Map($map as [string, z.output<Value>][]),
    encode: (entries) => ({ $map: Array.from(entries) }) as z.output<typeof pairs>,
  });
}

/** A key that JSON does not have when its value is `undefined`. */
function absentWhenUndefined<Value extends z.ZodType>(value: Value) {
  return z.codec(value.optional(), z.custom<z.output<Value> | undefined>(), {
    decode: (present) => present,
    encode: (present) => present,
  });
}

const subject = z.partialRecord(z.enum(subjectLabels), z.string());

/**
 * The memory of an endpoint and its JSON. Times are by the clocks of the process that wrote it: decoding adds `shiftMs` to times of the monotonic clock,
 * and replaces Unix times after `nowSeconds` by it, because the clock was set back. A change of the JSON is another version of the file.
 */
export function rememberedSchema(shiftMs = 0, nowSeconds = Infinity) {
  const ms = z.number().overwrite((time) => time + shiftMs);
  const seconds = z.number().overwrite((time) => Math.min(time, nowSeconds));
  const instant = z.object({ epochSeconds: seconds, monotonicMs: ms }) satisfies z.ZodType<Instant>;
  const ofAll = { identity: z.array(z.string()).readonly(), height: absentWhenUndefined(numeralSchema) };
  const bridge = z.object({
    ...ofAll,
    document: z.literal('module_state'),
    past: absentWhenUndefined(
      z.object({
        at: instant,
        heights: z.array(z.object({ monotonicMs: ms, height: numeralSchema })).readonly(),
        lastEvent: absentWhenUndefined(
          z.object({ nonce: numeralSchema, readAtMs: ms, observedAtMs: absentWhenUndefined(ms) }),
        ),
        batchNonces: map(numeralSchema),
        payingQueues: z.array(z.object({ contract: z.string(), sinceSeconds: seconds })).readonly(),
      }),
    ),
    flow: z.object({
      highest: absentWhenUndefined(z.object({ event: numeralSchema, batch: numeralSchema, transfer: numeralSchema })),
    }),
  });
  const outbound = {
    chainId: z.string(),
    nonce: numeralSchema.optional(),
    coinType: z.string().optional(),
    amount: numeralSchema.optional(),
    asset: z.string().optional(),
  };
  const crosschain = z.object({
    ...ofAll,
    document: z.literal('rate_limiter_input'),
    past: absentWhenUndefined(
      z.object({
        at: instant,
        lowestNonces: z
          .array(z.object({ chainId: z.string(), nonce: decimalString, sinceSeconds: seconds }))
          .readonly(),
      }),
    ),
    flow: z.object({
      baseline: absentWhenUndefined(
        z.object({
          at: instant,
          height: numeralSchema,
          live: map(z.object({ ...outbound, created: z.number().optional(), key: z.string().optional() })),
        }),
      ),
      departed: z
        .array(
          z.object({
            ...outbound,
            index: z.string(),
            seconds: z.number().optional(),
            at: instant,
            pendingAnswers: z.literal([0, 1, 2]),
            isUncounted: z.boolean(),
            lastKey: z.string().optional(),
          }),
        )
        .readonly(),
      isAnswered: z.boolean(),
    }),
  });
  /** The first poll of a contract reads all values. */
  const contract = z.object({ ...ofAll, document: z.literal('external_contract') });
  /** Without texts and names of validators, which the next document has. */
  const subjectHistory = z.object({
    subject,
    progressKey: z.string(),
    startSeconds: seconds,
    isProven: z.boolean(),
    firstFoundAt: instant,
    lastFoundAt: instant,
    isMissing: z.boolean(),
    isPresent: z.boolean(),
    validators: z
      .array(
        z.object({
          address: z.string(),
          externalAddress: z.string(),
          isWatched: z.boolean(),
          hasNamesake: z.boolean(),
          power: absentWhenUndefined(z.number()),
        }),
      )
      .readonly(),
  });
  /** The numbers of marks are Unix seconds or small counts. */
  const mark = absentWhenUndefined(z.unknown().overwrite((value) => withoutFuture(value, nowSeconds)));
  const rememberedProblem = z.object({
    histories: map(subjectHistory),
    unjudgedSeconds: absentWhenUndefined(seconds),
    mark,
    markWithoutLastDocument: mark,
  });
  return z.object({
    target: z.string(),
    document: z.enum(documentNames as readonly [DocumentName, ...DocumentName[]]),
    polledAt: instant,
    /** The last document; `undefined` before the first. */
    known: absentWhenUndefined(z.discriminatedUnion('document', [bridge, crosschain, contract])),
    problems: z.object({
      remembered: map(rememberedProblem),
      ended: z
        .array(
          z.object({
            name: z.string(),
            severity: z.enum(severities),
            subject,
            startSeconds: seconds,
            endSeconds: seconds,
          }),
        )
        .readonly(),
    }),
  });
}

/** A mark whose times in the future are now. */
function withoutFuture(value: unknown, nowSeconds: number): unknown {
  if (typeof value === 'number') return Math.min(value, nowSeconds);
  if (Array.isArray(value)) return value.map((each) => withoutFuture(each, nowSeconds));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutFuture(each, nowSeconds)]));
}

export type Remembered = z.output<ReturnType<typeof rememberedSchema>>;
type RememberedProblems = Remembered['problems']['remembered'];
type RememberedHistories =
  RememberedProblems extends ReadonlyMap<string, { histories: infer Histories }> ? Histories : never;

/** `undefined` before the first poll of this process. */
export function rememberedOf(state: EndpointState): Remembered | undefined {
  const { target, document, lastPoll, problems: memory } = state;
  if (lastPoll === undefined) return undefined;
  const last = lastDocument(state);
  return { target, document, polledAt: lastPoll.at, known: last && rememberedDocument(last), problems: memory };
}

/** Without the rest of the snapshot, which would stay in memory. */
function rememberedDocument(last: LastDocument): Remembered['known'] {
  const { identity, height } = last;
  if (isOf('module_state', last)) {
    const { document, past, flow } = last;
    return { document, identity, height, past, flow: restartedBridge(flow) };
  }
  if (isOf('rate_limiter_input', last)) {
    const { document, past, flow } = last;
    return { document, identity, height, past, flow: restartedCrosschain(flow) };
  }
  return { document: 'external_contract', identity, height };
}

/** A state before the first poll, with the memory of the endpoint. */
export function withRemembered(state: EndpointState, remembered: Remembered | undefined): EndpointState {
  if (remembered === undefined) return state;
  const { known, problems: memory } = remembered;
  return {
    ...state,
    restored: known && restoredDocument(known),
    problems: { ...memory, remembered: ofThisVersion(memory.remembered) },
  };
}

function restoredDocument(known: NonNullable<Remembered['known']>): LastDocument {
  switch (known.document) {
    case 'module_state': {
      const nothing = { watched: [], hubCoinDenom: undefined, oldestDueSeconds: undefined, hubSide: undefined };
      const past = known.past && { ...known.past, ...nothing };
      return { ...known, past, flow: { ...EMPTY_BRIDGE_FLOW, highest: known.flow.highest } };
    }
    case 'rate_limiter_input': {
      const { baseline, departed, isAnswered } = known.flow;
      const nothing = { keys: [], nonces: new Map<string, Numeral>() };
      const restored = baseline && { ...baseline, ...nothing, missed: baseline.live.size };
      const interrupted = { baseline: restored, isInterrupted: baseline !== undefined };
      return { ...known, flow: { ...EMPTY_CROSSCHAIN_FLOW, ...interrupted, departed, isAnswered } };
    }
    case 'external_contract':
      return { ...known, past: undefined, flow: undefined };
  }
}

/** The problems that this version judges. A mark of another form begins anew. */
function ofThisVersion(remembered: RememberedProblems): EndpointState['problems']['remembered'] {
  return new Map(
    problems.flatMap((problem) => {
      const key = problemKey(problem);
      const last = remembered.get(key);
      if (last === undefined) return [];
      const histories = withTexts(last.histories, problem);
      const markOf = (mark: unknown): unknown => problem.mark?.schema.safeParse(mark).data;
      const marks = {
        mark: markOf(last.mark),
        markWithoutLastDocument: markOf(last.markWithoutLastDocument),
      };
      return [[key, { histories, ...marks, unjudgedSeconds: last.unjudgedSeconds }] as const];
    }),
  );
}

/** Until the next document has the problem, its summary is the sentence. */
function withTexts(histories: RememberedHistories, { name, summary, action }: Problem): RememberedProblem['histories'] {
  const plainSummary = summary.includes('{{') ? name : summary.replace(/\.$/, '');
  const sentence = { headline: `${plainSummary} (for {duration})`, separator: '; ', details: '' } as const;
  return new Map(
    Array.from(histories, ([key, { validators, ...history }]) => [
      key,
      { ...history, sentence, action, validators: validators.map((validator) => ({ ...validator, name: '' })) },
    ]),
  );
}
