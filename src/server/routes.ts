import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Router } from 'express';
import type { Logger } from 'pino';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ContentEncoding } from '../exposition/metrics-page.js';
import type { Format } from '../metrics/text-format.js';
import type { PendingDocument } from '../pages/endpoint-view.js';
import { pathOf, queryOf, setHeaders, type HeaderList, type Listener } from './listener.js';
import { acceptsGzip, contentTypes, negotiateFormat, prefersJson } from './content-negotiation.js';
import { memoizeLast } from './memoize-last.js';
import { sortingIn, type Sorting } from '../pages/table.js';

/** What the pages and paths show; all of it is at hand, nothing here waits for a chain node. */
export interface RouteHandlers {
  readonly metrics: (format: Format, encoding: ContentEncoding) => Promise<Buffer>;
  readonly statusPage: () => string;
  readonly pendingPage: (sorting: Sorting | undefined) => string;
  readonly pendingDocument: () => PendingDocument;
  /** Endpoints that were never polled yet. */
  readonly notReady: () => readonly string[];
  readonly reload: () => Promise<ReloadResult>;
}

export type ReloadResult = { readonly ok: true } | { readonly ok: false; readonly problems: readonly string[] };

export interface RouteOptions {
  readonly telemetryPath: string;
  readonly maxRequests: number;
  readonly enableLifecycle: boolean;
}

/** A router finds the way to the pages; a scrape, for which that would take as long as all the rest, goes past it. */
export function createRoutes(shown: RouteHandlers, options: RouteOptions, log: Logger): Listener {
  const limit = createInFlightLimit(options.maxRequests);
  const formatFor = memoizeLast(negotiateFormat);
  const scrape: Handler = (request, response, headers) => {
    const format = formatFor(request.headers.accept);
    const all = [...headers, 'Content-Type', contentTypes[format]];
    return send(request, response, all, async (encoding) => shown.metrics(format, encoding));
  };
  const pages = createPages(shown, options, limit, scrape, log);
  return (request, response, headers) => {
    if (!isRead(request) || pathOf(request) !== options.telemetryPath) {
      setHeaders(response, headers);
      pages(request, response);
    } else if (limit.admits(response)) {
      scrape(request, response, headers).catch((error: unknown) => fail(error, response, headers, log));
    } else {
      setHeaders(response, headers);
      limit.refuse(response);
    }
  };
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

type Handler = (...parameters: Parameters<Listener>) => Promise<void>;

/**
 * The router of Express without its application, which gives each request and answer other prototypes: once it has seen a few of
 * those, V8 takes longer for every answer of the process.
 */
function createPages(
  shown: RouteHandlers,
  options: RouteOptions,
  limit: Limit,
  scrape: Handler,
  log: Logger,
): RequestListener {
  const router = Router();
  const limited: PageHandler = (_request, response, next) => {
    if (limit.admits(response)) next();
    else limit.refuse(response);
  };
  // As the router understands the path, with another case or a slash at the end.
  page(router, options.telemetryPath, limited, async (request, response) => scrape(request, response, []));
  page(router, '/-/healthy', (_request, response) => {
    plain(response, 200, 'healthy');
  });
  page(router, '/-/ready', (_request, response) => {
    const missing = shown.notReady();
    if (missing.length === 0) plain(response, 200, 'ready');
    else plain(response, 503, `not polled yet: ${missing.join(', ')}`);
  });
  const reload: PageHandler = async (_request, response) => {
    if (!options.enableLifecycle) {
      plain(response, 403, 'needs --web.enable-lifecycle');
      return;
    }
    const result = await shown.reload();
    if (result.ok) plain(response, 200, 'reloaded');
    else plain(response, 500, ['the old configuration stays:', ...result.problems].join('\n'));
  };
  router.route('/-/reload').post(reload).put(reload).all(only('POST, PUT'));
  page(router, '/', limited, async (request, response) => {
    await send(request, response, HTML, encode(shown.statusPage()));
  });
  page(router, '/pending', limited, async (request, response) => {
    if (prefersJson(request.headers.accept)) {
      await send(request, response, JSON_TYPE, encode(`${JSON.stringify(shown.pendingDocument())}\n`));
    } else {
      await send(request, response, HTML, encode(shown.pendingPage(sortingIn(queryOf(request)))));
    }
  });
  // Its type speaks of what the application adds; it needs none of that itself.
  const route = router as unknown as (
    request: IncomingMessage,
    response: ServerResponse,
    done: (error?: unknown) => void,
  ) => void;
  return (request, response) => {
    route(request, response, (error) => {
      if (error === undefined) plain(response, 404, 'not found; / has links');
      else fail(error, response, [], log);
    });
  };
}

/** Of a page: it knows nothing of what the application of Express would have added to the two. */
type PageHandler = (request: IncomingMessage, response: ServerResponse, next: () => void) => unknown;

/** Answers GET and HEAD; other methods are told which ones there are. */
function page(router: Router, path: string, ...handlers: PageHandler[]): void {
  router
    .route(path)
    .get(...handlers)
    .all(only('GET, HEAD'));
}

/** Refuses every other method, and says which there are. */
function only(methods: string): PageHandler {
  return (_request, response) => {
    response.setHeader('Allow', methods);
    plain(response, 405, `only ${methods}`);
  };
}

interface Limit {
  /** Whether there is room for one more, which then counts until its answer is over. */
  readonly admits: (response: ServerResponse) => boolean;
  readonly refuse: (response: ServerResponse) => void;
}

/** Of the requests at once, so that scrapers in a hurry cannot pile up texts in memory. */
function createInFlightLimit(limit: number): Limit {
  let underWay = 0;
  return {
    admits: (response) => {
      if (underWay >= limit) return false;
      underWay += 1;
      response.on('close', () => {
        underWay -= 1;
      });
      return true;
    },
    refuse: (response) => {
      response.setHeader('Retry-After', '1');
      plain(response, 503, `over ${limit} requests at once (--web.max-requests)`);
    },
  };
}

const HTML: HeaderList = ['Content-Type', 'text/html; charset=utf-8'];
const JSON_TYPE: HeaderList = ['Content-Type', 'application/json; charset=utf-8'];

const takesGzip = memoizeLast(acceptsGzip);

/** For answers that are long enough to be worth gzip; some depend on `Accept` as well. */
async function send(
  request: IncomingMessage,
  response: ServerResponse,
  headers: HeaderList,
  bodyAs: (encoding: ContentEncoding) => Promise<Buffer>,
): Promise<void> {
  const isCompressed = takesGzip(request.headers['accept-encoding']);
  const bytes = await bodyAs(isCompressed ? 'gzip' : 'identity');
  const encoding = isCompressed ? ['Content-Encoding', 'gzip'] : [];
  const all = [...headers, 'Vary', 'Accept, Accept-Encoding', ...encoding, 'Content-Length', String(bytes.length)];
  response.writeHead(200, all).end(bytes);
}

const compress = promisify(gzip);

function encode(text: string): (encoding: ContentEncoding) => Promise<Buffer> {
  return async (encoding) => (encoding === 'gzip' ? compress(text, { level: 1 }) : Buffer.from(text));
}

function fail(error: unknown, response: ServerResponse, headers: HeaderList, log: Logger): void {
  log.error({ err: error }, 'a request failed');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  setHeaders(response, headers);
  plain(response, 500, 'internal error');
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.end(`${text}\n`);
}
