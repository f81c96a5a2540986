import { type Config, type ConfigResult, createFileSchema, isInShard } from '../config/config.js';
import { clampToMemory, loadConfig } from '../config/loader.js';
import { metricLabels } from '../exposition/metrics-page.js';
import { problemLimits } from '../problems/problems.js';
import { type CommandContext, type ExitCode, printProblems, printWarnings } from './context.js';
import type { ConfigFlags, ShardFlag } from './flags.js';

/* The configuration that the flags of a command name. */

const VERIFICATION =
  'NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect: tls_config with insecure_skip_verify accepts any certificate of a node';

/** The configuration with the targets of this shard. */
export async function readConfig(
  { env, memoryBytes }: CommandContext,
  options: ConfigFlags & Partial<ShardFlag>,
  { fallback, checkFiles = false }: { readonly fallback?: Config; readonly checkFiles?: boolean } = {},
): Promise<ConfigResult> {
  const result = await loadConfig({
    configFile: options['config.file'],
    env,
    checkFiles,
    fallback,
    schema: createFileSchema(metricLabels, problemLimits),
  });
  if (!result.ok) return result;
  const { config, warnings } = clampToMemory(result.config, memoryBytes);
  const ignored = env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' ? [VERIFICATION] : [];
  const shard = options['targets.shard'];
  return {
    ok: true,
    config: { ...config, targets: config.targets.filter(({ name }) => shard === undefined || isInShard(name, shard)) },
    warnings: [...result.warnings, ...warnings, ...ignored],
  };
}

/** Prints warnings and problems. Returns an exit code after problems. */
export async function configOrExitCode(
  context: CommandContext,
  options: ConfigFlags & Partial<ShardFlag>,
  fallback?: Config,
): Promise<Config | ExitCode> {
  const result = await readConfig(context, options, fallback && { fallback });
  if (!result.ok) return printProblems(context, result.problems);
  printWarnings(context, result.warnings);
  return result.config;
}
