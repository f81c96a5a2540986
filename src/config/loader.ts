import { resolve } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import {
  formatMessage,
  formatPath,
  formatProblems,
  type FormatPosition,
  type Path,
  type PathMessage,
} from '../settings/problems.js';
import { formatDuration } from '../settings/units.js';
import { readConfigFiles } from './config-files.js';
import {
  type Config,
  type ConfigResult,
  configSchema,
  configSettings,
  connectionsOf,
  createFileSchema,
  type RecorderSettings,
  type SchemaContext,
  type TargetConfig,
} from './config.js';
import type { CrosschainSettings, NodeConnection } from './endpoint-config.js';
import {
  type Environment,
  environmentData,
  ineffectiveVariables,
  presentTargetVariables,
  variableOf,
} from './environment.js';
import type { HttpClientConfig } from './http-client-config.js';
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

interface ValidationOptions extends SchemaContext {
  /** The directory of the file that a target was read from: relative file names are resolved against it. */
  readonly directoryOf?: (target: number) => string;
  /** The directory of the configuration file. */
  readonly directory?: string;
}

/** Validates data in the format of the configuration file. `label` formats the positions in messages. */
export function validateConfig(
  data: unknown,
  label: FormatPosition,
  { directoryOf = () => '', directory = '', ...context }: ValidationOptions = {},
): ConfigResult {
  const { data: config, error } = createFileSchema(context).safeParse(data);
  if (error) return { ok: false, problems: formatProblems(error, configSettings, label) };
  const { targetFiles: _targetFiles, ...rest } = config;
  const others = { ...rest, recorder: resolveDirectory(config.recorder, directory) };
  const targets = config.targets.map((target, index) => withDirectory(target, directoryOf(index)));
  const warnings = findWarnings({ ...others, targets }).map((warning) => formatMessage(warning, label));
  return { ok: true, config: { ...others, targets }, warnings };
}

/** As in Prometheus, file names are relative to the file they are in. */
function withDirectory({ bridge, crosschain, ...target }: TargetConfig, directory: string): TargetConfig {
  const inDirectory = <Endpoint extends { readonly httpClient?: HttpClientConfig }>(endpoint: Endpoint): Endpoint =>
    endpoint.httpClient === undefined ? endpoint : { ...endpoint, httpClient: { ...endpoint.httpClient, directory } };
  return {
    ...target,
    ...(bridge && {
      bridge: { ...inDirectory(bridge), ...(bridge.external && { external: inDirectory(bridge.external) }) },
    }),
    ...(crosschain && { crosschain: inDirectory(crosschain) }),
  };
}

function resolveDirectory({ directory, ...recorder }: RecorderSettings, base: string): RecorderSettings {
  return directory === undefined ? recorder : { ...recorder, directory: resolve(base, directory) };
}

/** Settings that are valid, but most likely a mistake. */
function findWarnings({ poll, targets }: Config): PathMessage[] {
  const warnings: PathMessage[] = [];
  if (poll.timeoutMs > poll.intervalMs) {
    warnings.push({
      path: ['poll', 'timeout'],
      message: `timeout (${formatDuration(poll.timeoutMs)}) is longer than interval (${formatDuration(poll.intervalMs)})`,
    });
  }
  for (const [index, { crosschain }] of targets.entries()) {
    if (crosschain) warnings.push(...crosschainWarnings(crosschain, ['targets', index, 'crosschain']));
  }
  warnings.push(...connectionsOf(targets).flatMap(connectionWarnings));
  return warnings;
}

/** For a window this long, a node walks the whole history of every chain. */
const LONG_WINDOW = 100_000n;

function crosschainWarnings({ window }: CrosschainSettings, path: Path): PathMessage[] {
  if (BigInt(window) <= LONG_WINDOW) return [];
  const message = `${window} blocks is above ${LONG_WINDOW}: the query is expensive for the node`;
  return [{ path: [...path, 'window'], message }];
}

function connectionWarnings({ url, httpClient, path }: NodeConnection & { readonly path: Path }): PathMessage[] {
  if (httpClient?.tls === undefined) return [];
  const tls = [...path, 'tls_config'];
  if (!url.origin.startsWith('https:') && !httpClient.proxy?.url.startsWith('https:')) {
    return [{ path: tls, message: 'has no effect: neither url nor proxy_url is an https URL' }];
  }
  const message = 'the certificate is not verified: the connection can be intercepted';
  return httpClient.tls.insecureSkipVerify ? [{ path: [...tls, 'insecure_skip_verify'], message }] : [];
}

/** The configuration as a configuration file, with all defaults. Secrets are redacted. */
export function formatConfig(config: Config): string {
  return stringify(z.encode(configSchema, config), { lineWidth: 0 });
}
