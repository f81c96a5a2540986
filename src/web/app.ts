import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Format } from '../metrics/text-format.js';
import { acceptsGzip, contentTypes, negotiateFormat } from './negotiate.js';

/** What the pages and paths show; all of it is at hand, nothing here waits for a chain node. */
export interface Shown {
  readonly metrics: (format: Format) => Promise<string>;
  readonly statusPage: () => string;
  /** Endpoints that were never polled yet. */
  readonly notReady: () => readonly string[];
}

export interface WebOptions {
  readonly telemetryPath: string;
  readonly maxRequests: number;
}

const compress = promisify(gzip);

export function createApp(shown: Shown, { telemetryPath, maxRequests }: WebOptions, log: Logger): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((_request, response, next) => {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Cache-Control', 'no-store');
    next();
  });

  page(app, telemetryPath, atMost(maxRequests), async (request, response) => {
    const format = negotiateFormat(request.headers.accept);
    const text = await shown.metrics(format);
    response.setHeader('Content-Type', contentTypes[format]);
    response.setHeader('Vary', 'Accept, Accept-Encoding');
    if (acceptsGzip(request.headers['accept-encoding'])) {
      response.setHeader('Content-Encoding', 'gzip');
      response.end(await compress(text, { level: 1 }));
    } else {
      response.end(text);
    }
  });
  page(app, '/-/healthy', (_request, response) => {
    plain(response, 200, 'healthy');
  });
  page(app, '/-/ready', (_request, response) => {
    const missing = shown.notReady();
    if (missing.length === 0) plain(response, 200, 'ready');
    else plain(response, 503, `not polled yet: ${missing.join(', ')}`);
  });
  page(app, '/', (_request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader(
      'Content-Security-Policy',
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    );
    response.end(shown.statusPage());
  });
  app.use((_request, response) => {
    plain(response, 404, 'not found; / has links');
  });
  // Express' own handler would send the stack.
  const fault: ErrorRequestHandler = (error: unknown, _request, response, next) => {
    log.error({ err: error }, 'a request failed');
    if (response.headersSent) next(error);
    else plain(response, 500, 'internal error');
  };
  app.use(fault);
  return app;
}

/** Answers GET and HEAD; other methods are told which ones there are. */
function page(app: Express, path: string, ...handlers: RequestHandler[]): void {
  app
    .route(path)
    .get(...handlers)
    .all((_request, response) => {
      response.setHeader('Allow', 'GET, HEAD');
      plain(response, 405, 'only GET and HEAD');
    });
}

/** Refuses more than `limit` requests at once, so that scrapers in a hurry cannot pile up texts in memory. */
function atMost(limit: number): RequestHandler {
  let underWay = 0;
  return (_request, response, next) => {
    if (underWay >= limit) {
      plain(response, 503, `over ${limit} requests at once (--web.max-requests)`);
      return;
    }
    underWay += 1;
    response.once('close', () => {
      underWay -= 1;
    });
    next();
  };
}

function plain(response: Parameters<RequestHandler>[1], status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.end(`${text}\n`);
}
