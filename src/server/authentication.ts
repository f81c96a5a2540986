import { isUtf8 } from 'node:buffer';
import { createHmac, randomBytes } from 'node:crypto';

/*
 * Basic authentication against bcrypt hashes. Verifying a password takes 0.1 s of CPU time at the usual cost, so it runs on a
 * thread of its own (password-thread.ts), and valid credentials are cached.
 */

type AuthResult = 'accepted' | 'rejected' | 'overloaded';

/** bcrypt hashes by user name. */
export type Users = ReadonlyMap<string, string>;

export type Authenticate = (users: Users, authorization: string | undefined) => Promise<AuthResult>;

export type VerifyPassword = (hash: string, password: string) => Promise<boolean>;

/** At 0.1 s each, a longer queue would exceed the timeout of a scrape. */
const MAX_PENDING = 16;
const MAX_CACHED = 256;

/** Caches valid credentials only, so that guesses cannot evict them. */
export function createAuthenticator(verify: VerifyPassword): Authenticate {
  const secret = randomBytes(32);
  /** Keys of valid credentials, least recently used first. */
  const cache = new Set<string>();
  const pending = new Map<string, Promise<boolean>>();

  function verifyOnce(key: string, hash: string, password: string): Promise<boolean> | undefined {
    const running = pending.get(key);
    if (running !== undefined || pending.size >= MAX_PENDING) return running;
    const started = verify(hash, password).finally(() => pending.delete(key));
    pending.set(key, started);
    return started;
  }

  function addToCache(key: string): void {
    cache.delete(key);
    cache.add(key);
    const [leastRecentlyUsed] = cache;
    if (cache.size > MAX_CACHED && leastRecentlyUsed !== undefined) cache.delete(leastRecentlyUsed);
  }

  return async (users, authorization) => {
    const credentials = parseBasic(authorization);
    if (credentials === undefined) return 'rejected';
    const { user, password } = credentials;
    const hash = users.get(user);
    const comparedHash = hash ?? dummyHash(users, hmac(secret, [user]));
    // The hash is part of the key, so that a changed password in the file invalidates the entry.
    const key = hmac(secret, [user, password, comparedHash]).toString('base64');
    if (!cache.has(key)) {
      const isValid = await verifyOnce(key, comparedHash, password);
      if (isValid === undefined) return 'overloaded';
      if (!isValid || hash === undefined) return 'rejected';
    }
    addToCache(key);
    return 'accepted';
  };
}

const basic = /^basic +(?<encoded>(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/i;

/** `undefined` if malformed. The first colon ends the user name (RFC 7617); the password may contain more of them. */
function parseBasic(authorization = ''): { readonly user: string; readonly password: string } | undefined {
  const bytes = Buffer.from(basic.exec(authorization)?.groups?.['encoded'] ?? '', 'base64');
  // Decoding would replace every invalid byte by U+FFFD and make different passwords equal.
  if (!isUtf8(bytes)) return undefined;
  const [, user, password] = /^([^:]*):(.*)$/s.exec(bytes.toString()) ?? [];
  return user === undefined || password === undefined ? undefined : { user, password };
}

/**
 * A hash that no password has, with the cost of a configured one. It is verified for unknown users, so that the response time
 * does not reveal which users exist.
 */
function dummyHash(users: Users, seed: Buffer): string {
  const hashes = [...users.values()];
  const chosen = hashes[seed.readUInt32BE() % hashes.length] ?? '';
  return chosen.slice(0, '$2y$10$'.length).padEnd(60, '.');
}

/** JSON separates the parts, so that no two lists of parts are equal when concatenated (CVE-2022-46146). */
function hmac(secret: Buffer, parts: readonly string[]): Buffer {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest();
}
