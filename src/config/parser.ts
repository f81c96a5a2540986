import { resolve } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
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
import type { CrosschainEndpoint, EndpointConnection } from './endpoint-config.js';
import type { HttpClientConfig } from './http-client-config.js';
import {
  formatMessage,
  formatProblems,
  type Path,
  type PathMessage,
  type FormatPosition,
} from '../settings/problems.js';
import { formatDuration } from '../settings/units.js';
import { adviseOnKey } from './unknown-keys.js';

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
  if (error) return { ok: false, problems: formatProblems(error, configSettings, label, adviseOnKey) };
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

function crosschainWarnings({ window }: CrosschainEndpoint, path: Path): PathMessage[] {
  if (BigInt(window) <= LONG_WINDOW) return [];
  const message = `${window} blocks is above ${LONG_WINDOW}: the query is expensive for the node`;
  return [{ path: [...path, 'window'], message }];
}

function connectionWarnings({ url, httpClient, path }: EndpointConnection & { readonly path: Path }): PathMessage[] {
  if (httpClient?.tls === undefined) return [];
  const tls = [...path, 'tls_config'];
  if (!url.startsWith('https:') && !httpClient.proxy?.url.startsWith('https:')) {
    return [{ path: tls, message: 'has no effect: neither url nor proxy_url is an https URL' }];
  }
  const message = 'the certificate is not verified: the connection can be intercepted';
  return httpClient.tls.insecureSkipVerify ? [{ path: [...tls, 'insecure_skip_verify'], message }] : [];
}

/** The configuration as a configuration file, with all defaults. Secrets are redacted. */
export function formatConfig(config: Config): string {
  return stringify(z.encode(configSchema, config), { lineWidth: 0 });
}
