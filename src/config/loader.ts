import { readConfigFiles } from './config-files.js';
import type { Config, ConfigResult, TargetConfig } from './config.js';
import {
  type Environment,
  environmentData,
  ineffectiveVariables,
  presentTargetVariables,
  variableOf,
} from './environment.js';
import { formatPath, type FormatPosition } from '../settings/problems.js';
import { validateConfig } from './parser.js';
import { resolveHttpConfig } from './resolved-http-config.js';
import { mergeTargets } from './target-files.js';

export interface ConfigSource {
  /** `--config.file` or CONFIG_FILE. */
  readonly configFile?: string | undefined;
  readonly env: Environment;
  /** Used if nothing is configured. Without it, that is a problem. */
  readonly fallback?: Config | undefined;
  /**
   * Whether invalid credential and certificate files are problems. Otherwise they are warnings: they fail the polls of
   * one endpoint until they are fixed, and must not stop the others.
   */
  readonly checkFiles?: boolean;
  /** The labels that series of targets have anyway. Targets cannot have labels of these names. */
  readonly metricLabels?: ReadonlySet<string> | undefined;
}

/** Loads the configuration from the file or from the environment variables of one target; both at once is a problem. */
export async function loadConfig({
  configFile,
  env,
  fallback,
  checkFiles = false,
  metricLabels,
}: ConfigSource): Promise<ConfigResult> {
  if (configFile !== undefined) return loadFile(configFile, env, checkFiles, metricLabels);
  const result = configFromEnvironment(env);
  if (result !== undefined) return result;
  return fallback === undefined ? problem(NO_TARGETS) : { ok: true, config: fallback, warnings: [] };
}

async function loadFile(
  path: string,
  env: Environment,
  checkFiles: boolean,
  metricLabels: ReadonlySet<string> | undefined,
): Promise<ConfigResult> {
  const variables = presentTargetVariables(env);
  if (variables.length > 0) {
    return problem(
      `${variables.join(', ')}: cannot be combined with the configuration file ${path} — expected only one of them`,
    );
  }
  const { main, yaml, patterns, targetFiles } = await readConfigFiles(path);
  if (!main.ok) return problem(main.problem);
  if (yaml === undefined || !yaml.ok) return { ok: false, problems: yaml?.problems ?? [] };
  const { data, label, ...merged } = mergeTargets(path, yaml.data, yaml.label, patterns, targetFiles);
  const result = validateConfig(data, label, { ...merged, metricLabels, allowNoTargets: patterns.length > 0 });
  if (!result.ok || merged.problems.length > 0) {
    return { ok: false, problems: [...merged.problems, ...(result.ok ? [] : result.problems)] };
  }
  const problems = await checkReferencedFiles(result.config, label);
  if (checkFiles && problems.length > 0) return { ok: false, problems };
  return { ...result, warnings: [...merged.warnings, ...result.warnings, ...problems] };
}

/** The configuration of the environment variables of one target; `undefined` if none of them is set. */
export function configFromEnvironment(env: Environment): ConfigResult | undefined {
  if (presentTargetVariables(env).length === 0) return undefined;
  const problems = ineffectiveVariables(env);
  const data = environmentData(env);
  if (data === undefined) return { ok: false, problems };
  const result = validateConfig(data, (path) => variableOf(formatPath(path)));
  if (problems.length === 0) return result;
  return { ok: false, problems: [...problems, ...(result.ok ? [] : result.problems)] };
}

/** Problems of the credential and certificate files that the endpoints refer to. */
async function checkReferencedFiles({ targets }: Config, label: FormatPosition): Promise<string[]> {
  const problems = await Promise.all(targets.map(async (target, index) => checkFilesOf(target, index, label)));
  return problems.flat();
}

async function checkFilesOf(target: TargetConfig, index: number, label: FormatPosition): Promise<string[]> {
  const problems = await Promise.all(
    (['bridge', 'crosschain'] as const).map(async (endpoint) => {
      const httpClient = target[endpoint]?.httpClient;
      const result = httpClient && (await resolveHttpConfig(httpClient));
      if (!result || result.ok) return [];
      return result.problems.map(({ path, message }) => `${label(['targets', index, endpoint, ...path])}: ${message}`);
    }),
  );
  return problems.flat();
}

const NO_TARGETS = `no targets are configured — expected a configuration file (or CONFIG_FILE):
  bridge-exporter --config.file=bridge.yaml
or the URL of one node in BRIDGE_URL, CROSSCHAIN_URL or both:
  BRIDGE_URL=https://node.example.org bridge-exporter
To try it without a node, run bridge-exporter demo.`;

const problem = (message: string): ConfigResult => ({ ok: false, problems: [message] });
