import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import express from 'express';
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { Format } from '../metrics/text-format.js';
import type { PendingDocument } from './endpoint-view.js';
import { acceptsGzip, contentTypes, negotiateFormat, prefersJson } from './negotiate.js';
import { sortingIn, type Sorting } from './table.js';

/** What the pages and paths show; all of it is at hand, nothing here waits for a chain node. */
export interface Shown {
  readonly metrics: (format: Format) => Promise<string>;
  readonly statusPage: () => string;
  readonly pendingPage: (sorting: Sorting | undefined) => string;
  readonly pendingDocument: () => PendingDocument;
  /** Endpoints that were never polled yet. */
  readonly notReady: () => readonly string[];
  readonly reload: () => Promise<ReloadResult>;
}

export type ReloadResult = { readonly ok: true } | { readonly ok: false; readonly problems: readonly string[] };

export interface WebOptions {
  readonly telemetryPath: string;
  readonly maxRequests: number;
  readonly enableLifecycle: boolean;
}

const compress = promisify(gzip);

export function createApp(shown: Shown, options: WebOptions, log: Logger): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');

  const limited = atMost(options.maxRequests);
  page(app, options.telemetryPath, limited, async (request, response) => {
    const format = negotiateFormat(request.headers.accept);
    const text = await shown.metrics(format);
    response.setHeader('Content-Type', contentTypes[format]);
    await send(request, response, text);
  });
  page(app, '/-/healthy', (_request, response) => {
    plain(response, 200, 'healthy');
  });
  page(app, '/-/ready', (_request, response) => {
    const missing = shown.notReady();
    if (missing.length === 0) plain(response, 200, 'ready');
    else plain(response, 503, `not polled yet: ${missing.join(', ')}`);
  });
  const reload: RequestHandler = async (_request, response) => {
    if (!options.enableLifecycle) {
      plain(response, 403, 'needs --web.enable-lifecycle');
      return;
    }
    const result = await shown.reload();
    if (result.ok) plain(response, 200, 'reloaded');
    else plain(response, 500, ['the old configuration stays:', ...result.problems].join('\n'));
  };
  app.route('/-/reload').post(reload).put(reload).all(only('POST, PUT'));
  page(app, '/', limited, (_request, response) => {
    asHtml(response);
    response.end(shown.statusPage());
  });
  page(app, '/pending', limited, async (request, response) => {
    if (prefersJson(request.headers.accept)) {
      response.setHeader('Content-Type', 'application/json; charset=utf-8');
      await send(request, response, `${JSON.stringify(shown.pendingDocument())}\n`);
    } else {
      asHtml(response);
      await send(request, response, shown.pendingPage(sortingIn(request.query)));
    }
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
    .all(only('GET, HEAD'));
}

/** Refuses every other method, and says which there are. */
function only(methods: string): RequestHandler {
  return (_request, response) => {
    response.setHeader('Allow', methods);
    plain(response, 405, `only ${methods}`);
  };
}

/** Refuses more than `limit` requests at once, so that scrapers in a hurry cannot pile up texts in memory. */
function atMost(limit: number): RequestHandler {
  let underWay = 0;
  return (_request, response, next) => {
    if (underWay >= limit) {
      response.setHeader('Retry-After', '1');
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

/** For answers that depend on `Accept`, and are long enough to be worth gzip. */
async function send(request: Request, response: Response, text: string): Promise<void> {
  response.setHeader('Vary', 'Accept, Accept-Encoding');
  if (acceptsGzip(request.headers['accept-encoding'])) {
    response.setHeader('Content-Encoding', 'gzip');
    response.end(await compress(text, { level: 1 }));
  } else {
    response.end(text);
  }
}

function asHtml(response: Response): void {
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
}

function plain(response: Response, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.end(`${text}\n`);
}
