import { type Config, type ConfigResult, parseConfig } from '../config.js';
import { type Environment, configFromEnvironment, setTargetVariables } from './environment.js';

export interface ConfigSource {
  /** Of `--config.file` or CONFIG_FILE. */
  readonly configFile?: string | undefined;
  readonly env: Environment;
  readonly readFile: (path: string) => Promise<string>;
  /** Taken when nothing is configured; without it that is a problem. */
  readonly otherwise?: Config;
}

/** The configuration of the file or of the one-target variables, never of both. */
export async function loadConfig({ configFile, env, readFile, otherwise }: ConfigSource): Promise<ConfigResult> {
  if (configFile === undefined) {
    return (
      configFromEnvironment(env) ??
      (otherwise ? { ok: true, config: otherwise, warnings: [] } : refuse(nothingConfigured))
    );
  }
  const variables = setTargetVariables(env);
  if (variables.length > 0) {
    return refuse(
      `${variables.join(', ')}: set beside the configuration file ${configFile} — expected one or the other`,
    );
  }
  const file = await readFile(configFile).then(
    (text) => ({ ok: true, text }) as const,
    (error: unknown) => ({ ok: false, reason: error instanceof Error ? error.message : String(error) }) as const,
  );
  return file.ok ? parseConfig(file.text, configFile) : refuse(`${configFile}: cannot be read: ${file.reason}`);
}

const nothingConfigured =
  'nothing to poll is configured — expected --config.file or CONFIG_FILE; or for one target BRIDGE_URL, CROSSCHAIN_URL, or both';

const refuse = (problem: string): ConfigResult => ({ ok: false, problems: [problem] });
