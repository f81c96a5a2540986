import { z } from 'zod';
import type { RememberedProblem } from '../problems/memory.js';
import { problemKey, severities, subjectLabels } from '../problems/problem.js';
import { problems } from '../problems/problems.js';
import { list, map, maybe, type TimeCodecs } from './codecs.js';
import { initialMemory, type EndpointMemory } from '../poll/endpoint-state.js';

/* What is remembered of the problems of an endpoint. The flow begins anew, like the counters. */

export function createMemorySchema({ instant, seconds }: TimeCodecs) {
  const subject = z.partialRecord(z.enum(subjectLabels), z.string());
  const validator = z.strictObject({
    name: z.string(),
    address: z.string(),
    externalAddress: z.string(),
    isWatched: z.boolean(),
    hasNamesake: z.boolean(),
    power: maybe(z.number()),
  });
  const known = z.strictObject({
    subject,
    identity: z.string(),
    startSeconds: seconds,
    isProven: z.boolean(),
    since: instant,
    foundAt: instant,
    isMissing: z.boolean(),
    sentence: z.strictObject({ fact: z.string(), separator: z.enum(['; ', ': ']), details: z.string() }),
    action: z.string(),
    validators: list(validator),
  });
  const problem = z.strictObject({
    present: map(z.string(), known),
    candidates: map(z.string(), known),
    unjudgedSeconds: maybe(seconds),
    mark: maybe(z.unknown()),
    markWithoutLastDocument: maybe(z.unknown()),
  });
  const ended = z.strictObject({
    name: z.string(),
    severity: z.enum(severities),
    subject,
    startSeconds: seconds,
    endSeconds: seconds,
  });
  const plain = z.strictObject({ remembered: map(z.string(), problem), ended: list(ended) });
  return z.codec(plain, z.custom<EndpointMemory>(), {
    decode: ({ remembered, ended: before }): EndpointMemory => ({
      ...initialMemory,
      problems: { remembered: ofThisVersion(remembered, seconds), ended: before },
    }),
    encode: ({ problems: { remembered, ended: before } }) => ({ remembered, ended: before }),
  });
}

/** The problems that this version judges. A mark of another form begins anew. */
function ofThisVersion(
  remembered: ReadonlyMap<string, RememberedProblem>,
  seconds: TimeCodecs['seconds'],
): ReadonlyMap<string, RememberedProblem> {
  // The numbers of marks are times or small counts.
  const limited = (_key: string, value: unknown): unknown =>
    typeof value === 'number' ? z.decode(seconds, value) : value;
  return new Map(
    problems.flatMap((problem): [string, RememberedProblem][] => {
      const key = problemKey(problem);
      const known = remembered.get(key);
      const markOf = (value: unknown): unknown =>
        problem.mark?.schema.safeParse(JSON.parse(JSON.stringify(value ?? null), limited)).data;
      return known === undefined
        ? []
        : [
            [
              key,
              { ...known, mark: markOf(known.mark), markWithoutLastDocument: markOf(known.markWithoutLastDocument) },
            ],
          ];
    }),
  );
}
