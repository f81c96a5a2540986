import { clock } from './clock.js';
import { pino } from 'pino';
import type { DaemonFlags } from '../../src/commands/flags.js';
import { readConfig } from '../../src/commands/configuration.js';
import { readWebOptions } from '../../src/commands/flags.js';
import { startExporter } from '../../src/commands/exporter.js';
import { createNetwork } from '../../src/sources/network.js';
import { atEnd } from './at-end.js';
import { createTestContext, optionsOf } from './command-context.js';
import { waitFor } from './wait-for.js';

export type TestExporter = Awaited<ReturnType<typeof startTestExporter>>;

/** Starts what a daemon with these flags does, in this process and without its threads, until the end of the test. */
export async function startTestExporter(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const context = createTestContext(env);
  const options = await optionsOf<DaemonFlags>(['--web.listen-address=127.0.0.1:0', ...args]);
  const [config, web] = [await readConfig(context, options), await readWebOptions(options)];
  if (!config.ok || !web.ok) throw new Error([config, web].flatMap((part) => (part.ok ? [] : part.problems)).join());
  const log: string[] = [];
  const logger = pino(
    { base: null, formatters: { level: (level) => ({ level }) } },
    { write: (line) => void log.push(line) },
  );
  const network = createNetwork('test', clock);
  const exporter = await startExporter(config.config, network, logger, {
    ...web.options,
    build: context.build,
    clock,
    shard: options['targets.shard'],
    loadConfig: async () => readConfig(context, options),
  });
  atEnd(async () => {
    await exporter.close();
    network.close();
  });
  /** Resolves with the first line of the log that matches, now or later. */
  const logged = async (pattern: RegExp): Promise<string> => {
    const line = await waitFor(
      () => log.find((entry) => pattern.test(entry)),
      (found) => found !== undefined,
    );
    return line ?? '';
  };
  return { url: exporter.url, reload: exporter.reload, log, logged };
}
