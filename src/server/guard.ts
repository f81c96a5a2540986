import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Authenticate } from './auth.js';
import { CONTENT_POLICY } from '../pages/content-security-policy.js';
import { pathOf, setHeaders, type HeaderList, type Listener } from './listener.js';
import { createRateLimiter } from './rate-limiter.js';
import { memoizeLast } from './memoize-last.js';
import type { RateLimit, WebRules } from './web-config.js';

/** What every answer says of itself, unless the web configuration says otherwise. */
const defaultHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': CONTENT_POLICY,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** As they are written; what the router would take for the same, in capitals say, stays behind the password. */
const healthPaths: ReadonlySet<string> = new Set(['/-/healthy', '/-/ready']);

/** Stands before every path: knows the headers, and lets nobody by who must not. */
export function createGuard(
  rules: () => WebRules,
  authenticate: Authenticate,
  listener: Listener,
  log: Logger,
): RequestListener {
  const isWithinLimit = createLimit();
  const headersBy = memoizeLast((own: WebRules['headers']) => Object.entries({ ...defaultHeaders, ...own }).flat());

  async function admit(request: IncomingMessage, response: ServerResponse, headers: HeaderList): Promise<void> {
    const { users, healthPathsWithoutAuth, rateLimit } = rules();
    // No path reads a body. It ends with the connection, rather than being taken in and thrown away.
    if (hasBody(request)) response.setHeader('Connection', 'close');

    const isOpen = healthPathsWithoutAuth && healthPaths.has(pathOf(request));
    if (!isOpen && !isWithinLimit(rateLimit)) {
      refuse(response, headers, 429, 'too many requests');
      return;
    }
    const verdict = isOpen || users.size === 0 ? 'let in' : await authenticate(users, request.headers.authorization);
    // The client may have left meanwhile, and whoever waits for the end of its answer would wait for ever.
    if (request.socket.destroyed) return;
    if (verdict === 'let in') listener(request, response, headers);
    else if (verdict === 'busy') refuse(response, headers, 503, 'too many logins at once');
    else {
      response.setHeader('WWW-Authenticate', 'Basic realm="metrics", charset="UTF-8"');
      refuse(response, headers, 401, 'unauthorized');
    }
  }

  return (request, response) => {
    const headers = headersBy(rules().headers);
    admit(request, response, headers).catch((error: unknown) => {
      log.error({ err: error }, 'a request failed');
      refuse(response, headers, 500, 'internal error');
    });
  };
}

/** The limit of now; one that changes begins anew. */
function createLimit(): (limit: RateLimit | undefined) => boolean {
  let current: RateLimit | undefined;
  let mayPass = (): boolean => true;
  return (limit) => {
    if (!isDeepStrictEqual(limit, current)) {
      current = limit;
      mayPass = limit === undefined ? () => true : createRateLimiter(limit);
    }
    return mayPass();
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Who is refused gives its connection back, so that strangers cannot hold them all. */
function refuse(response: ServerResponse, headers: HeaderList, status: number, text: string): void {
  if (response.headersSent) return;
  setHeaders(response, headers);
  response.statusCode = status;
  response.setHeader('Connection', 'close');
  response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  if (status === 429 || status === 503) response.setHeader('Retry-After', '1');
  response.end(`${text}\n`);
}
