import { isUtf8 } from 'node:buffer';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { CONTENT_SECURITY_POLICY } from '../pages/layout.js';
import { createQueue } from '../tasks.js';
import type { Login } from './password-worker.js';
import type { WebConfig } from './web-config.js';

/* What a request passes before the application: basic authentication against bcrypt hashes. */

/** Headers of every response, unless the web configuration sets others. */
const defaultHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

type Guard = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/**
 * Sets the headers of every response, and rejects requests without a valid password. It runs before Express, which
 * skips all middleware for a request target that it cannot parse.
 */
export function createGuard(config: () => WebConfig, verify: VerifyPassword, log: Logger): Guard {
  const authenticate = createAuthenticator(verify);

  async function guard(request: IncomingMessage, response: ServerResponse, next: () => void): Promise<void> {
    const { headers, users } = config();
    for (const [name, value] of Object.entries({ ...defaultHeaders, ...headers })) {
      if (value !== undefined) response.setHeader(name, value);
    }
    // No path reads a body. Closing the connection after the response drops it unread.
    if (hasBody(request)) response.setHeader('Connection', 'close');

    const result = users.size === 0 ? 'accepted' : await authenticate(users, request.headers.authorization);
    // If the client left during the check, the response has already emitted 'close', and limitRequests (app.ts) would
    // count the request forever.
    if (request.socket.destroyed) return;
    if (result === 'accepted') next();
    else if (result === 'overloaded') reject(response, 503, 'too many logins at once');
    else {
      response.setHeader('WWW-Authenticate', 'Basic realm="metrics", charset="UTF-8"');
      reject(response, 401, 'unauthorized');
    }
  }

  return (request, response, next) => {
    guard(request, response, next).catch((error: unknown) => {
      log.error({ err: error }, 'request failed');
      reject(response, 500, 'internal error');
    });
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Closes the connection as well, so that rejected clients cannot occupy all connections. */
function reject(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) return;
  response.statusCode = status;
  response.setHeader('Connection', 'close');
  response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  if (status === 503) response.setHeader('Retry-After', '1');
  response.end(`${text}\n`);
}

type AuthResult = 'accepted' | 'rejected' | 'overloaded';

/** bcrypt hashes by user name. */
type Users = ReadonlyMap<string, string>;

type Authenticate = (users: Users, authorization: string | undefined) => Promise<AuthResult>;

export type VerifyPassword = (login: Login) => Promise<boolean>;

/** Verifies passwords in turn, on a thread: bcrypt takes 0.1 s of CPU time at the usual cost. */
export function createPasswordVerifier(): VerifyPassword {
  const enqueue = createQueue();
  return async (login) =>
    enqueue(async () => {
      const worker = new Worker(new URL('./password-worker.js', import.meta.url), { workerData: login });
      // The process can end meanwhile.
      worker.unref();
      const [isValid]: unknown[] = await once(worker, 'message');
      return isValid === true;
    });
}

/** A check takes 0.1 s, so a longer queue would exceed the timeout of a scrape. */
const MAX_PENDING = 16;
const MAX_VALID = 256;

/** Keeps valid credentials only, so that guesses cannot evict them. */
export function createAuthenticator(verify: VerifyPassword): Authenticate {
  const secret = randomBytes(32);
  /** Keys of valid credentials. */
  const valid = new Set<string>();
  const pending = new Map<string, Promise<boolean>>();

  /** JSON separates the parts, so that no two lists of parts are equal when concatenated (CVE-2022-46146). */
  const hmac = (...parts: readonly string[]): string =>
    createHmac('sha256', secret).update(JSON.stringify(parts)).digest('base64');

  function verifyOnce(key: string, login: Login): Promise<boolean> {
    const verified = pending.get(key) ?? verify(login).finally(() => pending.delete(key));
    pending.set(key, verified);
    return verified;
  }

  return async (users, authorization) => {
    const credentials = parseBasic(authorization);
    if (credentials === undefined) return 'rejected';
    const { user, password } = credentials;
    const userHash = users.get(user);
    const hash = userHash ?? dummyHash(users);
    // The hash is part of the key, so that a changed password in the file invalidates the entry.
    const key = hmac(user, password, hash);
    if (!valid.has(key)) {
      if (pending.size >= MAX_PENDING && !pending.has(key)) return 'overloaded';
      const isValid = await verifyOnce(key, { hash, password });
      if (!isValid || userHash === undefined) return 'rejected';
    }
    // A password that is changed leaves an entry that is not used again.
    if (valid.size >= MAX_VALID) valid.clear();
    valid.add(key);
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
 * A hash without a password. It is verified for unknown users, so that the response time does not reveal which users
 * exist.
 */
function dummyHash(users: Users): string {
  const [hash = ''] = users.values();
  return hash.slice(0, '$2y$10$'.length).padEnd(60, '.');
}
