import { validateHeaderValue } from 'node:http';
import { z } from 'zod';
import * as value from '../settings/value-types.js';
import { scalar } from '../settings/schema.js';

/*
 * Types of values in a web configuration. As in exporter-toolkit, a key without a value counts as
 * absent. No message quotes a value that may be a secret.
 */

/** The value of a response header. */
export const headerValue = () =>
  z.optional(
    scalar(
      value.valueType('text', 'one line of Latin characters, as a header can hold', (written) =>
        value.acceptIf(isHeaderValue(written), written),
      ),
    ),
  );

function isHeaderValue(written: string): boolean {
  try {
    validateHeaderValue('header', written);
    return true;
  } catch {
    return false;
  }
}

/** Verifying a hash of a higher cost takes longer than clients wait; each step doubles the time. */
const maxCost = 18;
const bcryptHash = /^\$2[aby]\$(?<cost>\d\d)\$[./A-Za-z0-9]{53}$/;

/** bcrypt hashes by user name. An empty hash is an error and not an absent user, whose absence could disable authentication. */
export const users = () =>
  z.unknown().transform((raw, context): ReadonlyMap<string, string> => {
    if (!value.isMapping(raw ?? {})) {
      context.addIssue('is not a mapping — expected names of users and their bcrypt hashes');
      return z.NEVER;
    }
    const entries = Object.entries(raw ?? {});
    for (const [user, hash] of entries) {
      const message = userProblem(user, hash);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [user], message });
    }
    return new Map(entries.map(([user, hash]) => [user, String(hash)]));
  });

function userProblem(user: string, hash: unknown): string | undefined {
  if (user.includes(':')) return 'is a name with a colon, which Basic authentication cannot send — expected another';
  const cost = typeof hash === 'string' ? bcryptHash.exec(hash)?.groups?.['cost'] : undefined;
  if (cost === undefined)
    return 'is not a bcrypt hash — expected one as `htpasswd -nBC 10 user` prints, without the user';
  if (Number(cost) >= 4 && Number(cost) <= maxCost) return undefined;
  return `is a hash of cost ${Number(cost)} — expected a cost from 4 to ${maxCost}, such as 10`;
}

/** Makes keys without a value absent, except among the users. */
export function dropEmptyValues(raw: unknown): unknown {
  if (!value.isMapping(raw)) return raw ?? {};
  const entries = Object.entries(raw).map(([key, inner]): [string, unknown] => {
    if (key === 'basic_auth_users') return [key, inner];
    return [key, inner === null || inner === '' ? undefined : dropEmptyValues(inner)];
  });
  return Object.fromEntries(entries);
}
