import type { RequestListener } from 'node:http';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { createApp, type Content, type AppOptions } from '../../src/server/app.js';
import {
  serverLimits,
  startWebServer,
  type ServerLimits,
  type ServerOptions,
  type WebServer,
} from '../../src/server/server.js';
import { loadWebConfig, type WebConfigFile } from '../../src/server/web-config.js';
import { createTempFolder } from '../support/temp-folder.js';

/** The application around fixed contents; a test replaces those it is about. */
export function createTestApp(content: Partial<Content> = {}, options: Partial<AppOptions> = {}) {
  return createApp(
    {
      metrics: async () => 'metrics\n',
      statusPage: async (format) => (format === 'json' ? {} : '<!doctype html>'),
      pendingPage: async (format) => (format === 'json' ? {} : '<!doctype html>'),
      configPage: () => '<!doctype html>',
      notYetPolled: () => [],
      reload: async () => ({ ok: true }),
      ...content,
    },
    { telemetryPath: '/metrics', maxRequests: 40, enableLifecycle: false, ...options },
    pino({ level: 'silent' }),
  );
}

type Options = Partial<Omit<ServerOptions, 'limits'>> & { readonly limits?: Partial<ServerLimits> };

/** Starts a server on a free port until the end of the test. It closes soon, whatever its clients do. */
export async function serve(app: RequestListener, { limits, ...options }: Options = {}): Promise<WebServer> {
  const server = await startWebServer(
    app,
    { host: '127.0.0.1', port: 0 },
    { log: pino({ level: 'silent' }), ...options, limits: { ...serverLimits, drainMs: 300, ...limits } },
  );
  onTestFinished(async () => server.close());
  return server;
}

const folder = createTempFolder();
let files = 0;

/** Writes a web configuration, and loads it. */
export async function webConfigOf(text: string): Promise<WebConfigFile> {
  files += 1;
  const path = folder.write(`web-${files}.yml`, text);
  const loaded = await loadWebConfig(path);
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  return { path, config: loaded.config };
}

/** Scrapes that get no response until they are released. */
export function createHeldScrapes() {
  const held = new Set<(body: string) => void>();
  let arrivals = 0;
  const metrics = (): Promise<string> =>
    new Promise((resolve) => {
      arrivals += 1;
      held.add(resolve);
    });
  const release = (text: string): void => {
    for (const resolve of held) resolve(text);
    held.clear();
  };
  return { metrics, release, arrived: () => arrivals };
}
