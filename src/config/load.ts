import { type Config, type ConfigResult, parseConfig, labelsFor } from './config.js';
import { type Environment, configFromEnvironment, presentTargetVariables } from './environment.js';
import { fileProblems } from './file-problems.js';
import { describeReadError } from './kit/small-file.js';

export interface ConfigSource {
  /** Of `--config.file` or CONFIG_FILE. */
  readonly configFile?: string | undefined;
  readonly env: Environment;
  readonly readFile: (path: string) => Promise<string>;
  /** Taken when nothing is configured; without it that is a problem. */
  readonly fallback?: Config;
  /**
   * Whether a file the configuration names, of a password say, has to be there and right. Else that is a warning: it
   * concerns one endpoint, whose polls fail until it is, and all others are to go on.
   */
  readonly checkFiles?: boolean;
}

/** The configuration of the file or of the one-target variables, never of both. */
export async function loadConfig(source: ConfigSource): Promise<ConfigResult> {
  const { configFile, env, readFile, fallback: otherwise, checkFiles = false } = source;
  if (configFile === undefined) {
    return (
      configFromEnvironment(env) ??
      (otherwise ? { ok: true, config: otherwise, warnings: [] } : refuse(nothingConfigured))
    );
  }
  const variables = presentTargetVariables(env);
  if (variables.length > 0) {
    return refuse(
      `${variables.join(', ')}: set beside the configuration file ${configFile} — expected one or the other`,
    );
  }
  const file = await readFile(configFile).then(
    (text) => ({ ok: true, text }) as const,
    (error: unknown) => ({ ok: false, problem: describeReadError(configFile, error) }) as const,
  );
  if (!file.ok) return refuse(file.problem);
  const result = parseConfig(file.text, configFile);
  if (!result.ok) return result;
  const problems = await fileProblems(result.config, labelsFor(file.text, configFile));
  if (checkFiles && problems.length > 0) return { ok: false, problems };
  return { ...result, warnings: [...result.warnings, ...problems] };
}

const nothingConfigured = `nothing to poll is configured — expected a file of targets (CONFIG_FILE is the same):
  bridge-exporter --config.file=bridge.yaml
or one node by its address, BRIDGE_URL, CROSSCHAIN_URL or both:
  BRIDGE_URL=https://node.example.org bridge-exporter
Without a node, bridge-exporter demo shows a simulated one.`;

const refuse = (problem: string): ConfigResult => ({ ok: false, problems: [problem] });
