import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { Logger } from 'pino';
import { compress } from '../files.js';
import type { Format } from '../metrics/text-format.js';
import type { Result } from '../config/text-files.js';

type PageFormat = 'html' | 'json';
/** HTML, or an object that is sent as JSON. */
type Page = string | object;

/** The content of the paths of the server. It is in memory: no request waits for a chain node. */
export interface Content {
  readonly metrics: (format: Format) => Promise<string>;
  readonly statusPage: (format: PageFormat) => Promise<Page>;
  /**
   * By default of all targets and rows; `query`: only of the rows that contain this text. `undefined` if there is no
   * such target.
   */
  readonly pendingPage: (format: PageFormat, target?: string, query?: string) => Promise<Page | undefined>;
  readonly configPage: () => string;
  /** Endpoints without a finished poll. */
  readonly notYetPolled: () => readonly string[];
  readonly reload: () => Promise<Result<unknown>>;
}

export interface AppOptions {
  readonly telemetryPath: string;
  /** Concurrent requests for metrics and pages; health paths and reloads are not limited. */
  readonly maxRequests: number;
  readonly enableLifecycle: boolean;
}

/** The Express application with every path of the exporter, behind the guard (authentication.ts). */
export function createApp(content: Content, options: AppOptions, log: Logger): Express {
  const app = express();
  app.disable('etag');
  app.disable('x-powered-by');
  // The links of the pages are relative to `/`.
  app.enable('strict routing');
  const limit = limitRequests(options.maxRequests);

  const get = (path: string, ...handlers: readonly RequestHandler[]): void => {
    app
      .route(path)
      .get(...handlers)
      .all(methodNotAllowed('GET, HEAD'));
  };

  get(options.telemetryPath, limit, async (request, response) => {
    const format = formatFor(request);
    await send(request, response, contentTypes[format], await content.metrics(format));
  });
  get('/', limit, async (request, response) =>
    sendPage(request, response, await content.statusPage(pageFormat(request))),
  );
  get('/pending', limit, async (request, response) => {
    const { target, q } = request.query;
    if (target !== undefined && typeof target !== 'string') {
      sendText(response, 400, 'target is set more than once — expected ?target=NAME');
      return;
    }
    const page = await content.pendingPage(pageFormat(request), target, typeof q === 'string' ? q : undefined);
    if (page === undefined) sendText(response, 404, 'this exporter polls no such target; /pending lists all targets');
    else await sendPage(request, response, page);
  });
  get('/config', limit, async (request, response) => sendPage(request, response, content.configPage()));
  get('/-/healthy', (_request, response) => sendText(response, 200, 'healthy'));
  get('/-/ready', (_request, response) => {
    const missing = content.notYetPolled();
    if (missing.length === 0) sendText(response, 200, 'ready');
    else sendText(response, 503, `not polled yet: ${missing.join(', ')}`);
  });
  const reload: RequestHandler = async (_request, response) => {
    if (!options.enableLifecycle) {
      sendText(response, 403, 'reloading requires --web.enable-lifecycle');
      return;
    }
    const result = await content.reload();
    if (result.ok) sendText(response, 200, 'reloaded');
    else sendText(response, 500, ['the previous configuration stays active:', ...result.problems].join('\n'));
  };
  app.route('/-/reload').post(reload).put(reload).all(methodNotAllowed('POST, PUT'));

  app.use((_request, response) => sendText(response, 404, 'not found; / has links'));
  app.use(errorHandler(log));
  return app;
}

/** Bounds the memory that responses in flight take. */
function limitRequests(maxRequests: number): RequestHandler {
  let inFlight = 0;
  return (_request, response, next) => {
    if (inFlight >= maxRequests) {
      response.set('Retry-After', '1');
      sendText(response, 503, `over ${maxRequests} requests at once (--web.max-requests)`);
      return;
    }
    inFlight += 1;
    response.once('close', () => {
      inFlight -= 1;
    });
    next();
  };
}

function methodNotAllowed(allowed: string): RequestHandler {
  return (_request, response) => {
    response.set('Allow', allowed);
    sendText(response, 405, `only ${allowed}`);
  };
}

/** The default handler of Express would send the stack. */
function errorHandler(log: Logger): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    log.error({ err: error }, 'request failed');
    if (response.headersSent) response.destroy();
    else sendText(response, 500, 'internal error');
  };
}

const contentTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** The names of the metrics are the same with every escaping of Prometheus. */
const metricTypes = [
  'text/plain; version=0.0.4',
  ...['allow-utf-8', 'underscores', 'dots', 'values'].map(
    (escaping) => `application/openmetrics-text; version=1.0.0; escaping=${escaping}`,
  ),
];

function formatFor(request: Request): Format {
  const type = request.accepts(metricTypes);
  return String(type).startsWith('application/openmetrics-text') ? 'openmetrics' : 'text';
}

const pageFormat = (request: Request): PageFormat => (request.accepts(['html', 'json']) === 'json' ? 'json' : 'html');

/** Sends a body, compressed if the client accepts that. */
async function send(request: Request, response: Response, contentType: string, body: string): Promise<void> {
  response.type(contentType).vary('Accept').vary('Accept-Encoding');
  const isCompressed = request.acceptsEncodings('gzip') === 'gzip';
  if (isCompressed) response.set('Content-Encoding', 'gzip');
  response.send(isCompressed ? await compress(body) : Buffer.from(body));
}

async function sendPage(request: Request, response: Response, page: Page): Promise<void> {
  if (typeof page === 'string') await send(request, response, 'html', page);
  else await send(request, response, 'json', `${JSON.stringify(page)}\n`);
}

function sendText(response: Response, status: number, text: string): void {
  response.status(status).type('text').send(`${text}\n`);
}
