import { isUtf8 } from 'node:buffer';
import { createHmac, randomBytes } from 'node:crypto';
import type { PasswordCheck } from './password-thread.js';

export type AuthResult = 'accepted' | 'rejected' | 'overloaded';

/** Hash by name. */
export type Users = ReadonlyMap<string, string>;

export type Authenticate = (users: Users, authorization: string | undefined) => Promise<AuthResult>;

/** More checks than these wait for nobody: at a tenth of a second each, the last would be too late for a scrape. */
const MAX_CHECKS = 16;
const MAX_REMEMBERED = 256;

/**
 * Basic authentication. What was right is remembered, so that a scraper costs one check and not one each scrape; what
 * was wrong is not, so that guessing cannot push out what was right.
 */
export function createAuthenticator(check: PasswordCheck): Authenticate {
  const secret = randomBytes(32);
  const remembered = new Set<string>();
  const underWay = new Map<string, Promise<boolean>>();

  function begin(mark: string, hash: string, password: string): Promise<boolean> | undefined {
    if (underWay.size >= MAX_CHECKS) return undefined;
    const checked = check(hash, password).finally(() => underWay.delete(mark));
    underWay.set(mark, checked);
    return checked;
  }

  function remember(mark: string): void {
    // Taken out and put in again, the marks are in the order of their last use.
    remembered.delete(mark);
    remembered.add(mark);
    const [oldest] = remembered;
    if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
  }

  return async (users, authorization) => {
    const given = readBasic(authorization);
    if (given === undefined) return 'rejected';
    const hash = users.get(given.user);
    const compared = hash ?? standIn(users, keyed(secret, [given.user]));
    // The hash is part of the mark: with another password in the file, the old one is forgotten.
    const mark = keyed(secret, [given.user, given.password, compared]).toString('base64');
    if (!remembered.has(mark)) {
      const isRight = await (underWay.get(mark) ?? begin(mark, compared, given.password));
      if (isRight === undefined) return 'overloaded';
      if (!isRight || hash === undefined) return 'rejected';
    }
    remember(mark);
    return 'accepted';
  };
}

interface Credentials {
  readonly user: string;
  readonly password: string;
}

const basic = /^basic +(?<encoded>(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/i;

/** `undefined` for everything that is not well-formed: the name ends at the first colon, the password may have more. */
function readBasic(authorization = ''): Credentials | undefined {
  const bytes = Buffer.from(basic.exec(authorization)?.groups?.['encoded'] ?? '', 'base64');
  // Bytes that are not UTF-8 would all turn into the same character, and so different passwords into one.
  if (!isUtf8(bytes)) return undefined;
  const [, user, password] = /^([^:]*):(.*)$/s.exec(bytes.toString()) ?? [];
  return user === undefined || password === undefined ? undefined : { user, password };
}

/**
 * The hash an unknown user is compared with, of the cost of one of the known, so that the time of the answer does not tell
 * who is there. Nothing has that hash.
 */
function standIn(users: Users, chance: Buffer): string {
  const hashes = [...users.values()];
  const chosen = hashes[chance.readUInt32BE() % hashes.length] ?? '';
  return chosen.slice(0, '$2y$10$'.length).padEnd(60, '.');
}

/** As a list in JSON, parts cannot run into each other: in CVE-2022-46146 they could, and one login passed for another. */
function keyed(secret: Buffer, parts: readonly string[]): Buffer {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest();
}
