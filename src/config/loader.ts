import { readConfigFiles } from './config-files.js';
import { connectionsOf, type Config, type ConfigResult } from './config.js';
import {
  type Environment,
  environmentData,
  ineffectiveVariables,
  presentTargetVariables,
  variableOf,
} from './environment.js';
import { formatMessage, formatPath, type FormatPosition } from '../settings/problems.js';
import { validateConfig } from './parser.js';
import { resolveHttpConfig } from './resolved-http-config.js';

interface ConfigSource {
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
  const variables = presentTargetVariables(env);
  if (configFile === undefined) {
    if (variables.length > 0) return loadEnvironment(env);
    return fallback === undefined ? problem(NO_TARGETS) : { ok: true, config: fallback, warnings: [] };
  }
  if (variables.length > 0) {
    return problem(
      `${variables.join(', ')}: cannot be combined with the configuration file ${configFile} — expected only one of them`,
    );
  }
  return loadFile(configFile, checkFiles, metricLabels);
}

function loadEnvironment(env: Environment): ConfigResult {
  const problems = ineffectiveVariables(env);
  const data = environmentData(env);
  if (data === undefined) return { ok: false, problems };
  const result = validateConfig(data, (path) => variableOf(formatPath(path)));
  return withProblems(result, problems);
}

async function loadFile(
  path: string,
  checkFiles: boolean,
  metricLabels: ReadonlySet<string> | undefined,
): Promise<ConfigResult> {
  const read = await readConfigFiles(path);
  if (!read.ok) return read;
  const { data, label, problems, warnings, ...context } = read.files;
  const result = withProblems(validateConfig(data, label, { ...context, metricLabels }), problems);
  if (!result.ok) return result;
  const referenced = await checkReferencedFiles(result.config, label);
  if (checkFiles && referenced.length > 0) return { ok: false, problems: referenced };
  return { ...result, warnings: [...warnings, ...result.warnings, ...referenced] };
}

/** The problems come before those of the result. */
function withProblems(result: ConfigResult, problems: readonly string[]): ConfigResult {
  if (problems.length === 0) return result;
  return { ok: false, problems: [...problems, ...(result.ok ? [] : result.problems)] };
}

/** Problems of the credential and certificate files that the endpoints refer to. */
async function checkReferencedFiles({ targets }: Config, label: FormatPosition): Promise<string[]> {
  const problems = await Promise.all(
    connectionsOf(targets).map(async ({ httpClient, path: position }) => {
      const result = httpClient && (await resolveHttpConfig(httpClient));
      if (!result || result.ok) return [];
      return result.problems.map(({ path, message }) =>
        formatMessage({ path: [...position, ...path], message }, label),
      );
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
