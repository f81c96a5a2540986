import type { Result } from '../config/result.js';
import type { ExporterOptions } from './exporter.js';
import type { WebFlags } from './flags.js';

/*
 * The web flags, apart from the configuration of the daemon: the health check, which runs every 30 s, needs only the
 * flags, and would spend most of its CPU time on loading the configuration.
 */

type ServeOptions = Pick<ExporterOptions, 'listen' | 'telemetryPath' | 'enableLifecycle' | 'maxRequests' | 'webConfig'>;

/** The web flags with the content of `--web.config.file`. */
export async function readWebOptions(options: WebFlags): Promise<Result<{ readonly options: ServeOptions }>> {
  const serve = {
    listen: options['web.listenAddress'],
    telemetryPath: options['web.telemetryPath'],
    enableLifecycle: options['web.enableLifecycle'],
    maxRequests: options['web.maxRequests'],
  };
  const path = options['web.config.file'];
  if (path === undefined) return { ok: true, options: serve };
  const { loadWebConfig } = await import('../server/web-config.js');
  const loaded = await loadWebConfig(path);
  return loaded.ok ? { ok: true, options: { ...serve, webConfig: { path, config: loaded.config } } } : loaded;
}
