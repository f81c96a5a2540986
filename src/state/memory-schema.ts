import { z } from 'zod';
import { initialMemory, type EndpointMemory } from '../alerts/endpoint-memory.js';
import {
  changingFamilies,
  identityLabels,
  rollbackFamilies,
  type ChangingFamily,
  type IdentityLabel,
  type PastValue,
  type RollbackFamily,
} from '../alerts/poll-history.js';
import type { Instant } from '../clock.js';
import { failureReasonNames } from '../http/failure-reasons.js';
import { list, map, maybe, set, type TimeCodecs } from './codecs.js';

/* What the alert conditions remember of an endpoint. The flow begins anew, like the counters. */

export function createMemorySchema({ instant }: TimeCodecs) {
  const change = <Value extends z.ZodType>(value: Value) => z.strictObject({ value, at: maybe(instant) });
  // A pair is half as long, and there are thousands of them.
  const pastValue = z.codec(z.tuple([z.number(), instant]), z.custom<PastValue>(), {
    decode: ([value, at]) => ({ value, at }),
    encode: ({ value, at }): [number, Instant] => [value, at],
  });
  const history = z.strictObject({
    firstPollAt: maybe(instant),
    firstSuccessAt: maybe(instant),
    successes: list(instant),
    changes: map(z.enum<Record<ChangingFamily, ChangingFamily>>(namesOf(changingFamilies)), change(z.number())),
    failures: map(z.enum(namesOf(failureReasonNames)), list(instant)),
    identities: map(z.enum(namesOf<IdentityLabel>(Object.values(identityLabels).flat())), change(z.string())),
    highest: map(
      z.enum(namesOf<RollbackFamily>(Object.values(rollbackFamilies).flat())),
      z.strictObject({ value: z.number(), at: instant }),
    ),
    withdrawnAt: map(z.string(), instant),
    alwaysWithdrawn: set(z.string()),
    past: map(z.string(), list(pastValue)),
  });
  const presences = map(
    z.string(),
    z.strictObject({ since: instant, unchangedValue: maybe(z.number()), mayBeOlder: z.boolean() }),
  );
  const plain = z.strictObject({ history, presences: z.strictObject({ data: presences, endpoint: presences }) });
  return z.codec(plain, z.custom<EndpointMemory>(), {
    decode: (memory): EndpointMemory => ({ ...initialMemory, ...memory }),
    encode: (memory) => ({ history: memory.history, presences: memory.presences }),
  });
}

function namesOf<Name extends string>(names: readonly Name[]): { [Each in Name]: Each } {
  return Object.fromEntries(names.map((name) => [name, name])) as { [Each in Name]: Each };
}
