import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express from 'express';
import type { ErrorRequestHandler, Express, RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Format } from '../metrics/text-format.js';
import { bodyOf, type Body } from './body.js';
import type { PendingDocument } from './endpoint-view.js';
import { acceptsGzip, contentTypes, negotiateFormat, prefersJson } from './negotiate.js';
import { sortingIn, type Sorting } from './table.js';

/** What the pages and paths show; all of it is at hand, nothing here waits for a chain node. */
export interface Shown {
  readonly metrics: (format: Format) => Promise<Body>;
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

/** Express finds the way to the pages; a scrape, for which that would double the time of the whole answer, goes past it. */
export function createApp(shown: Shown, options: WebOptions, log: Logger): RequestListener {
  const admits = atMost(options.maxRequests);
  const scrape = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!admits(response)) return;
    const format = negotiateFormat(request.headers.accept);
    const body = await shown.metrics(format);
    response.setHeader('Content-Type', contentTypes[format]);
    await send(request, response, body);
  };
  const fail = (error: unknown, response: ServerResponse): void => {
    log.error({ err: error }, 'a request failed');
    if (!response.headersSent) plain(response, 500, 'internal error');
  };
  const app = createPages(shown, options, admits, scrape, fail);
  return (request, response) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || request.url?.split('?', 1)[0] !== options.telemetryPath) app(request, response);
    else scrape(request, response).catch((error: unknown) => fail(error, response));
  };
}

function createPages(
  shown: Shown,
  options: WebOptions,
  admits: (response: ServerResponse) => boolean,
  scrape: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  fail: (error: unknown, response: ServerResponse) => void,
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');

  const limited: RequestHandler = (_request, response, next) => {
    if (admits(response)) next();
  };
  // As the router understands the path, with another case or a slash at the end.
  page(app, options.telemetryPath, scrape);
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
  page(app, '/', limited, async (request, response) => {
    asHtml(response);
    await send(request, response, bodyOf(shown.statusPage()));
  });
  page(app, '/pending', limited, async (request, response) => {
    if (prefersJson(request.headers.accept)) {
      response.setHeader('Content-Type', 'application/json; charset=utf-8');
      await send(request, response, bodyOf(`${JSON.stringify(shown.pendingDocument())}\n`));
    } else {
      asHtml(response);
      await send(request, response, bodyOf(shown.pendingPage(sortingIn(request.query))));
    }
  });
  app.use((_request, response) => {
    plain(response, 404, 'not found; / has links');
  });
  // Express' own handler would send the stack.
  const fault: ErrorRequestHandler = (error: unknown, _request, response, next) => {
    fail(error, response);
    if (response.headersSent && !response.writableEnded) next(error);
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
function atMost(limit: number): (response: ServerResponse) => boolean {
  let underWay = 0;
  return (response) => {
    if (underWay >= limit) {
      response.setHeader('Retry-After', '1');
      plain(response, 503, `over ${limit} requests at once (--web.max-requests)`);
      return false;
    }
    underWay += 1;
    response.once('close', () => {
      underWay -= 1;
    });
    return true;
  };
}

/** For answers that are long enough to be worth gzip; some depend on `Accept` as well. */
async function send(request: IncomingMessage, response: ServerResponse, body: Body): Promise<void> {
  const isCompressed = acceptsGzip(request.headers['accept-encoding']);
  const bytes = isCompressed ? await body.gzip() : body.plain;
  response.setHeader('Vary', 'Accept, Accept-Encoding');
  if (isCompressed) response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Content-Length', bytes.length);
  response.end(bytes);
}

function asHtml(response: ServerResponse): void {
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.end(`${text}\n`);
}
