import { groupBy } from '../metrics/grouping.js';
import type { Instant } from '../poll/clock.js';
import type { EndpointKey, EndpointLimits, EndpointState, ReloadedEndpoint } from '../poll/endpoint-store.js';
import { conditions } from './conditions.js';
import { initialMemory, memoryAfter, type EndpointMemory } from './endpoint-memory.js';
import { endpointVerdicts } from './endpoint-verdicts.js';
import { severities, type TargetVerdicts, type Verdict, type Verdicts } from './verdict.js';

/** Judges the endpoints after every poll. */
export interface VerdictMemory extends Verdicts {
  /** Remembers what the last poll of an endpoint found. */
  readonly record: (state: EndpointState) => void;
  /** Replaces the set of endpoints after a reload. Endpoints that are marked as kept retain their memory. */
  readonly retain: (endpoints: readonly ReloadedEndpoint[], limits: EndpointLimits, at: Instant) => void;
}

export function createVerdicts(
  endpoints: readonly EndpointKey[],
  limits: EndpointLimits,
  startedAt: Instant,
): VerdictMemory {
  let memories = new Map<string, EndpointMemory>();
  let staleAfterMs = limits.staleAfterMs;

  function replaceEndpoints(
    reloaded: readonly ReloadedEndpoint[],
    { maxBodyBytes }: EndpointLimits,
    addedAt: Instant,
  ): void {
    const previous = memories;
    memories = new Map(
      reloaded.map(({ target, document, isKept }) => {
        const key = keyOf({ target, document });
        const kept = isKept ? previous.get(key) : undefined;
        return [key, kept ?? initialMemory({ target, document }, maxBodyBytes, addedAt)];
      }),
    );
  }

  replaceEndpoints(
    endpoints.map((key) => ({ ...key, isKept: false })),
    limits,
    startedAt,
  );

  return {
    record: (state) => {
      const memory = memories.get(keyOf(state));
      if (memory === undefined) throw new Error(`${keyOf(state)} is not an endpoint of the configuration`);
      memories.set(keyOf(state), memoryAfter(memory, state, staleAfterMs, startedAt));
    },
    retain: (reloaded, newLimits, at) => {
      staleAfterMs = newLimits.staleAfterMs;
      replaceEndpoints(reloaded, newLimits, at);
    },
    targets: (now) => {
      const endpointsOf = groupBy(Array.from(memories.values()), ({ state }) => state.target);
      return Array.from(endpointsOf, ([target, own]) => targetVerdicts(target, own, staleAfterMs, startedAt, now));
    },
  };
}

function keyOf({ target, document }: EndpointKey): string {
  return JSON.stringify([target, document]);
}

function targetVerdicts(
  target: string,
  memories: readonly EndpointMemory[],
  staleAfterMs: number,
  startedAt: Instant,
  now: Instant,
): TargetVerdicts {
  const endpoints = memories.map((memory) => endpointVerdicts(memory, staleAfterMs, startedAt, now));
  const verdicts = worstFirst(endpoints.flatMap(({ verdicts: own }) => own));
  const unknown = endpoints.flatMap((endpoint) => endpoint.unknown);
  const [worst] = verdicts;
  const [observedSince] = endpoints
    .flatMap((endpoint) => endpoint.observedSince ?? [])
    .toSorted((a, b) => a.monotonicMs - b.monotonicMs);
  const status =
    worst?.state === 'firing' ? worst.severity : unknown.length > 0 || worst !== undefined ? 'unknown' : 'ok';
  return { target, status, unknown, verdicts, observedSince };
}

const order = new Map(conditions.map(({ alert, severity }, index) => [JSON.stringify([alert, severity]), index]));

function worstFirst(verdicts: readonly Verdict[]): readonly Verdict[] {
  const rank = ({ state, severity, alert }: Verdict): readonly number[] => [
    Number(state === 'observing'),
    severities.indexOf(severity),
    order.get(JSON.stringify([alert, severity])) ?? 0,
  ];
  return verdicts
    .map((verdict) => ({ verdict, ranks: rank(verdict) }))
    .toSorted((a, b) => compareRanks(a.ranks, b.ranks))
    .map(({ verdict }) => verdict);
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((rank, position) => rank !== b[position]);
  return (a[index] ?? 0) - (b[index] ?? 0);
}
