import { validateHeaderValue } from 'node:http';
import { z } from 'zod';
import * as value from '../config/kit/value-types.js';
import { scalar } from '../config/kit/yaml-schema.js';

/*
 * The kinds of values of a web configuration. They take what exporter-toolkit takes, which reads YAML 1.1 into Go types,
 * where yes is true and a key without a value is not written. No message quotes what can be a secret.
 */

/** Text that says something; in a list an empty one is not left out. */
export const text = (expected: string) =>
  scalar(value.valueType('text', expected, (written) => value.acceptIf(written !== '', written)));

/** One of some names. */
export function named<Name extends string>(expected: string, names: readonly Name[]) {
  return scalar(
    value.valueType('name', expected, (written): value.ParseResult<Name> => {
      const name = names.find((candidate) => candidate === written);
      return name === undefined ? value.reject() : value.accept(name);
    }),
  );
}

const truths: ReadonlyMap<unknown, boolean> = new Map([
  ...[true, 'true', 'yes', 'on', 'y'].map((word) => [word, true] as const),
  ...[false, 'false', 'no', 'off', 'n'].map((word) => [word, false] as const),
]);

export const boolean = () =>
  z.unknown().transform((raw, context): boolean => {
    const truth = truths.get(typeof raw === 'string' ? raw.toLowerCase() : raw);
    if (truth !== undefined) return truth;
    context.addIssue(`${value.describeValue(raw)} — expected true or false`);
    return z.NEVER;
  });

/** The value of a response header. */
export const header = () =>
  z.optional(
    scalar(
      value.valueType('text', 'one line of Latin characters, as a header can hold', (written) =>
        value.acceptIf(canBeSent(written), written),
      ),
    ),
  );

function canBeSent(written: string): boolean {
  try {
    validateHeaderValue('header', written);
    return true;
  } catch {
    return false;
  }
}

const unitsMs: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1e3, m: 6e4, h: 36e5 };
const maxIntervalMs = 36e5;

/** A duration as Go reads it, in milliseconds. */
export const goDuration = () => {
  const expected = 'a duration up to 1h, such as 100ms, 1.5s or 1m30s; 0 for none';
  return scalar(value.valueType('duration', expected, parseGoDuration));
};

function parseGoDuration(written: string): value.ParseResult<number> {
  if (written === '0') return value.accept(0);
  if (!/^(?:\d+(?:\.\d+)?(?:[nuµm]s|[smh]))+$/.test(written)) return value.reject();
  const parts = [...written.matchAll(/([\d.]+)([^\d.]+)/g)];
  const milliseconds = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitsMs[unit] ?? NaN), 0);
  return value.acceptIf(milliseconds <= maxIntervalMs, milliseconds);
}

/** A cost above this takes longer than any client waits; each step doubles it. */
const maxCost = 18;
const bcryptHash = /^\$2[aby]\$(?<cost>\d\d)\$[./A-Za-z0-9]{53}$/;

/** Names of users with their hashes. An empty hash is not taken for one not written: that could open the door. */
export const users = () =>
  z.unknown().transform((raw, context): ReadonlyMap<string, string> => {
    if (!isMapping(raw ?? {})) {
      context.addIssue('is not a mapping — expected names of users and their bcrypt hashes');
      return z.NEVER;
    }
    const given = Object.entries(raw ?? {});
    for (const [user, hash] of given) {
      const message = userProblem(user, hash);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [user], message });
    }
    return new Map(given.map(([user, hash]) => [user, String(hash)]));
  });

function userProblem(user: string, hash: unknown): string | undefined {
  if (user.includes(':')) return 'is a name with a colon, which Basic authentication cannot send — expected another';
  const cost = typeof hash === 'string' ? bcryptHash.exec(hash)?.groups?.['cost'] : undefined;
  if (cost === undefined)
    return 'is not a bcrypt hash — expected one as `htpasswd -nBC 10 user` prints, without the user';
  if (Number(cost) >= 4 && Number(cost) <= maxCost) return undefined;
  return `is a hash of cost ${Number(cost)} — expected a cost from 4 to ${maxCost}, such as 10`;
}

/** With what has no value as not written, the users aside. */
export function withoutEmptyValues(raw: unknown): unknown {
  if (!isMapping(raw)) return raw ?? {};
  const entries = Object.entries(raw).map(([key, inner]): [string, unknown] => {
    if (key === 'basic_auth_users') return [key, inner];
    return [key, inner === null || inner === '' ? undefined : withoutEmptyValues(inner)];
  });
  return Object.fromEntries(entries);
}

export function isMapping(raw: unknown): raw is Readonly<Record<string, unknown>> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw);
}
