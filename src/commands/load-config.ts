import type { ConfigSettings, WebSettings } from '../cli/flags.js';
import type { Config, ConfigResult } from '../config/config.js';
import { loadConfig, formatConfig } from '../config/loader.js';
import { clampToMemory } from '../config/memory-limits.js';
import { selectShard, type Shard } from '../config/shard.js';
import { metricLabels } from '../exposition/metrics-page.js';
import type { Result } from '../result.js';
import type { LoadedWebConfig } from '../server/web-config.js';
import { type CommandContext, type ExitCode, printProblems, printWarnings } from './context.js';

/* The configuration and the web configuration that the flags of a command name. */

interface ConfigFlags {
  readonly config: ConfigSettings;
  readonly targets?: { readonly shard: Shard };
}

/** The configuration with the targets of this shard. */
export async function readConfig(
  { env, memory }: CommandContext,
  { config: { file, check }, targets }: ConfigFlags,
  fallback?: Config,
): Promise<ConfigResult> {
  const result = await loadConfig({ configFile: file, env, checkFiles: check, fallback, metricLabels });
  if (!result.ok) return result;
  const { config, warnings } = clampToMemory(result.config, memory);
  const names = config.targets.map(({ name }) => name);
  const selected = new Set(targets === undefined ? names : selectShard(names, targets.shard));
  return {
    ok: true,
    config: { ...config, targets: config.targets.filter(({ name }) => selected.has(name)) },
    warnings: [...result.warnings, ...warnings],
  };
}

/** For commands without a log: prints warnings and problems. Returns an exit code after problems, and with `--config.check`. */
export async function configOrExitCode(
  context: CommandContext,
  flags: ConfigFlags,
  fallback?: Config,
): Promise<Config | ExitCode> {
  const result = await readConfig(context, flags, fallback);
  if (!result.ok) return printProblems(context, result.problems);
  printWarnings(context, result.warnings);
  return flags.config.check ? printConfig(context, result.config) : result.config;
}

export function printConfig({ print }: CommandContext, config: Config): ExitCode {
  print(formatConfig(config));
  return 0;
}

interface WebOptions extends Omit<WebSettings, 'configFile'> {
  readonly webConfig?: LoadedWebConfig;
}

/** The web flags with the content of `--web.config.file`. */
export async function readWebOptions({
  configFile,
  ...options
}: WebSettings): Promise<Result<{ readonly options: WebOptions; readonly warnings: readonly string[] }>> {
  if (configFile === undefined) return { ok: true, options, warnings: [] };
  const { loadWebConfig } = await import('../server/web-config.js');
  const result = await loadWebConfig(configFile);
  if (!result.ok) return result;
  const { webConfig } = result;
  return { ok: true, options: { ...options, webConfig }, warnings: webConfig.warnings };
}
