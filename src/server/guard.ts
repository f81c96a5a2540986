import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { CONTENT_SECURITY_POLICY } from '../pages/layout.js';
import type { Authenticate } from './authentication.js';
import type { WebConfig } from './web-config.js';

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
 * Sets the headers of every response, and rejects requests without a valid password. It runs before Express, which skips all middleware for a request
 * target that it cannot parse.
 */
export function createGuard(config: () => WebConfig, authenticate: Authenticate, log: Logger): Guard {
  async function guard(request: IncomingMessage, response: ServerResponse, next: () => void): Promise<void> {
    const { headers, users } = config();
    for (const [name, value] of Object.entries({ ...defaultHeaders, ...headers })) {
      if (value !== undefined) response.setHeader(name, value);
    }
    // No path reads a body. Closing the connection after the response drops it unread.
    if (hasBody(request)) response.setHeader('Connection', 'close');

    const result = users.size === 0 ? 'accepted' : await authenticate(users, request.headers.authorization);
    // If the client left during the check, the response has already emitted 'close', and limitRequests (app.ts) would count the
    // request forever.
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
