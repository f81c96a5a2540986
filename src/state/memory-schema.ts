import { z } from 'zod';
import type { RememberedProblem } from '../problems/memory.js';
import { problemKey, severities, subjectLabels } from '../problems/problem.js';
import { problems } from '../problems/problems.js';
import { list, map, maybe, type TimeCodecs } from './codecs.js';
import { initialMemory, type EndpointMemory } from '../poll/endpoint-state.js';

/* What is remembered of the problems of an endpoint. Texts are found again by the next poll. The flow begins anew, like the counters. */

export function createMemorySchema({ instant, seconds }: TimeCodecs) {
  const subject = z.partialRecord(z.enum(subjectLabels), z.string());
  const known = { subject, identity: z.string(), startSeconds: seconds, isProven: z.boolean() };
  const present = z.strictObject({ ...known, foundAt: instant, isMissing: z.boolean() });
  const candidate = z.strictObject({ ...known, since: instant });
  const problem = z.strictObject({
    present: map(z.string(), present),
    candidates: map(z.string(), candidate),
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
    encode: ({ problems: { remembered, ended: before } }) => ({
      remembered: new Map(Array.from(remembered, ([key, each]) => [key, withoutTexts(each)])),
      ended: before,
    }),
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

function withoutTexts({ present, candidates, ...others }: RememberedProblem) {
  return {
    ...others,
    present: new Map(Array.from(present, ([key, { texts: _texts, ...subject }]) => [key, subject])),
    candidates: new Map(Array.from(candidates, ([key, { texts: _texts, ...subject }]) => [key, subject])),
  };
}
