import { hashSync } from 'bcryptjs';
import { isUtf8 } from 'node:buffer';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Worker } from 'node:worker_threads';

/*
 * Basic authentication against bcrypt hashes. Verifying a password takes 0.1 s of CPU time at the usual cost, so it runs on a
 * thread of its own, and valid credentials are cached.
 */

export type AuthResult = 'accepted' | 'rejected' | 'overloaded';

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

interface Credentials {
  readonly user: string;
  readonly password: string;
}

const basic = /^basic +(?<encoded>(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/i;

/** `undefined` if malformed. The first colon ends the user name (RFC 7617); the password may contain more of them. */
function parseBasic(authorization = ''): Credentials | undefined {
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

/** Algorithm, cost and salt at the start of a bcrypt hash. */
const SALT_LENGTH = 29;

/** Blocks for 0.1 s and more. bcrypt uses the first 72 bytes of a password. */
export function matchesHash(hash: string, password: string): boolean {
  const computed = hashSync(password, hash.slice(0, SALT_LENGTH));
  // bcryptjs returns the salt in canonical form, so only the rest is comparable.
  return timingSafeEqual(Buffer.from(computed.slice(SALT_LENGTH)), Buffer.from(hash.slice(SALT_LENGTH)));
}

export interface PasswordThread {
  readonly verify: VerifyPassword;
  readonly close: () => Promise<void>;
}

/** What the thread receives for each password; it sends back whether the password is valid, in the same order. */
export interface VerifyRequest {
  readonly hash: string;
  readonly password: string;
}

interface PendingRequest {
  readonly resolve: (isValid: boolean) => void;
  readonly reject: (error: Error) => void;
}

/** Starts the thread for the first password. */
export function createPasswordThread(): PasswordThread {
  let pending: PendingRequest[] = [];
  let worker: Worker | undefined;

  function start(): Worker {
    const started = new Worker(new URL('./password-worker.js', import.meta.url));
    started.on('message', (isValid: boolean) => pending.shift()?.resolve(isValid));
    let fault = new Error('the password thread ended');
    started.on('error', (error) => {
      fault = error;
    });
    started.on('exit', () => {
      worker = undefined;
      for (const { reject } of pending) reject(fault);
      pending = [];
    });
    return started;
  }

  return {
    verify: (hash, password) =>
      new Promise((resolve, reject) => {
        worker ??= start();
        pending.push({ resolve, reject });
        worker.postMessage({ hash, password } satisfies VerifyRequest);
      }),
    close: async () => {
      await worker?.terminate();
    },
  };
}
