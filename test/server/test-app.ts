import { pino } from 'pino';
import { instance } from '../pages/sample-snapshots.js';
import { createApp, type AppDependencies, type AppOptions } from '../../src/server/app.js';

/** The application around fixed contents; a test replaces those it is about. */
export function createTestApp(dependencies: Partial<AppDependencies> = {}, options: Partial<AppOptions> = {}) {
  return createApp(
    {
      metrics: async () => Buffer.from('metrics\n'),
      statusPage: async () => '<!doctype html>',
      statusJson: async () => ({ generatedAt: '', targets: [], endpoints: [], instance }),
      pendingPage: async () => '<!doctype html>',
      pendingJson: async () => ({ generatedAt: '', endpoints: [], targets: [], search: null }),
      configPage: () => '<!doctype html>',
      notYetPolled: () => [],
      reload: async () => ({ ok: true }),
      ...dependencies,
    },
    { telemetryPath: '/metrics', maxRequests: 40, enableLifecycle: false, ...options },
    pino({ level: 'silent' }),
  );
}

/** Scrapes that get no response until they are released. */
export function createHeldScrapes() {
  const held = new Set<(body: Buffer) => void>();
  let arrivals = 0;
  const metrics = (): Promise<Buffer> =>
    new Promise((resolve) => {
      arrivals += 1;
      held.add(resolve);
    });
  const release = (text: string): void => {
    for (const resolve of held) resolve(Buffer.from(text));
    held.clear();
  };
  return { metrics, release, arrived: () => arrivals };
}
