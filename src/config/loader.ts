import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { Document, stringify } from 'yaml';
import * as z from 'zod';
import { getHeapStatistics } from 'node:v8';
import { formatDuration, formatSize, MEBIBYTE } from '../units.js';
import {
  type Config,
  type ConfigResult,
  configSchema,
  createFileSchema,
  DEFAULT_TARGET_NAME,
  type FileSchema,
  listConnections,
  OUTDATED_MS,
  poll,
  target,
} from './config.js';
import { type Environment, resolveFiles, resolveHttpConfig } from './http-client-config.js';
import { readTextFile } from './text-files.js';
import { portHint } from './urls.js';
import { formatMessage, type FormatPosition, readYaml, validate } from './yaml.js';
import type { Path, PathMessage } from './text-files.js';
import { bridge, crosschain } from './endpoint-config.js';

interface ConfigSource {
  /** `--config.file` or CONFIG_FILE. */
  readonly configFile?: string | undefined;
  readonly env: Environment;
  /** The configuration if nothing is configured, which is a problem without a fallback. */
  readonly fallback?: Config | undefined;
  /** Whether problems of credential and certificate files are problems instead of warnings. */
  readonly checkFiles?: boolean;
  readonly schema?: FileSchema | undefined;
}

/** Loads the configuration from the file or from the environment variables of one target; both at once is a problem. */
export async function loadConfig({ configFile, env, fallback, ...checks }: ConfigSource): Promise<ConfigResult> {
  // An empty variable counts as unset.
  const variables = Object.keys(targetVariables).filter((name) => (env[name] ?? '') !== '');
  if (configFile !== undefined) {
    if (variables.length === 0) return loadFile(configFile, env, checks);
    return problem(
      `${variables.join(', ')}: cannot be combined with the configuration file ${configFile} — expected only one of them`,
    );
  }
  if (variables.length > 0) return validateConfig(environmentData(env), formatVariable, '');
  return fallback === undefined ? problem(NO_TARGETS) : { ok: true, config: fallback, warnings: [] };
}

async function loadFile(
  path: string,
  env: Environment,
  { checkFiles = false, schema }: Pick<ConfigSource, 'checkFiles' | 'schema'>,
): Promise<ConfigResult> {
  const yaml = await readYaml(path, Infinity);
  if (!yaml.ok) return yaml;
  const result = validateConfig(yaml.data, yaml.label, dirname(path), schema);
  if (!result.ok) return result;
  const referenced = await checkReferencedFiles(result.config, env, yaml.label);
  if (checkFiles && referenced.length > 0) return { ok: false, problems: referenced };
  return { ...result, warnings: [...result.warnings, ...referenced] };
}

/** Problems of the credential and certificate files, and of the variables, that the endpoints refer to. */
async function checkReferencedFiles({ targets }: Config, env: Environment, label: FormatPosition): Promise<string[]> {
  const problems = await Promise.all(
    listConnections(targets).map(async ({ connection, path: position }) => {
      const result = await resolveHttpConfig(connection, env);
      if (result.ok) return [];
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

/** Validates data in the format of the configuration file. Relative file names start at the directory. */
export function validateConfig(
  data: unknown,
  label: FormatPosition,
  directory: string,
  schema = createFileSchema(new Set(), new Map()),
): ConfigResult {
  const result = validate(schema, data, label);
  if (!result.ok) return result;
  const { value: config } = result;
  if (config.recorder.directory !== undefined)
    config.recorder.directory = resolve(directory, config.recorder.directory);
  for (const { connection } of listConnections(config.targets)) resolveFiles(connection, directory);
  return { ok: true, config, warnings: findWarnings(config).map((warning) => formatMessage(warning, label)) };
}

/** Settings that are valid, but most likely a mistake. */
function findWarnings({ poll: { interval, timeout }, targets }: Config): PathMessage[] {
  const warnings: PathMessage[] = [];
  if (interval + timeout > OUTDATED_MS) {
    const message = `interval and timeout together exceed ${formatDuration(OUTDATED_MS)}, so BridgeEndpointNotPolled fires between two polls`;
    warnings.push({ path: ['poll', 'interval'], message });
  }
  for (const [index, { bridge: { watch = [], node_queries = 'auto' } = {} }] of targets.entries()) {
    if (watch.length === 0 || node_queries === 'auto') continue;
    const message = 'with off, no alert says that a validator of watch is jailed, signs no blocks or has no funds';
    warnings.push({ path: ['targets', index, 'bridge', 'node_queries'], message });
  }
  for (const { connection, path } of listConnections(targets)) {
    const hint = path.includes('external') ? undefined : portHint(connection.url);
    if (hint !== undefined) warnings.push({ path: [...path, 'url'], message: hint });
    const { url, tls_config: tls, proxy_url: proxy, proxy_from_environment: isFromEnvironment = false } = connection;
    if (tls === undefined) continue;
    if (!url.origin.startsWith('https:') && !proxy?.url.startsWith('https:') && !isFromEnvironment) {
      const message = 'has no effect: neither url nor proxy_url is an https URL';
      warnings.push({ path: [...path, 'tls_config'], message });
    } else if (tls.insecure_skip_verify) {
      const message = 'the certificate of the node is not verified, so the connection can be intercepted';
      warnings.push({ path: [...path, 'tls_config', 'insecure_skip_verify'], message });
    }
  }
  return warnings;
}

/** The configuration as a configuration file, with all defaults. Secrets are redacted. */
export function formatConfig(config: Config): string {
  return stringify(z.encode(configSchema, config), plainIntegers, { lineWidth: 0 });
}

/** Prints integers without quotes if no program that reads the output can lose a digit. */
const plainIntegers = (_key: unknown, value: unknown): unknown =>
  typeof value === 'string' && /^(?:0|[1-9]\d{0,14})$/.test(value) ? Number(value) : value;

/** A hash of the content of a configuration file. It also changes when the file can no longer be read. */
export async function hashConfigFile(path: string): Promise<string> {
  return createHash('sha256')
    .update(JSON.stringify(await readTextFile(path, Infinity)))
    .digest('base64');
}

/* The environment variables that configure one target without a file. */

interface TargetVariable {
  /** The key of the configuration file that the variable sets. */
  readonly path: Path;
  readonly description: string;
  /** Whether the value is a list, separated by commas. */
  readonly isList: boolean;
}

const variable = (path: Path, { description = '' }: z.ZodType, isList = false): TargetVariable => ({
  path,
  description,
  isList,
});

const TARGET = ['targets', 0];
const BRIDGE = [...TARGET, 'bridge'];
const CROSSCHAIN = [...TARGET, 'crosschain'];

export const targetVariables: Readonly<Record<string, TargetVariable>> = {
  BRIDGE_URL: variable([...BRIDGE, 'url'], bridge.shape.url),
  BRIDGE_DIALECT: variable([...BRIDGE, 'dialect'], bridge.shape.dialect),
  BRIDGE_WATCH: variable([...BRIDGE, 'watch'], bridge.shape.watch, true),
  CROSSCHAIN_URL: variable([...CROSSCHAIN, 'url'], crosschain.shape.url),
  CROSSCHAIN_DIALECT: variable([...CROSSCHAIN, 'dialect'], crosschain.shape.dialect),
  CROSSCHAIN_WINDOW: variable([...CROSSCHAIN, 'window'], crosschain.shape.window),
  CROSSCHAIN_LIMIT: variable([...CROSSCHAIN, 'limit'], crosschain.shape.limit),
  CROSSCHAIN_HUB_CHAIN_IDS: variable([...CROSSCHAIN, 'hub_chain_ids'], crosschain.shape.hub_chain_ids, true),
  POLL_INTERVAL: variable(['poll', 'interval'], poll.shape.interval),
  TARGET_NAME: variable([...TARGET, 'name'], target.shape.name),
};

/** The variables in the format of the configuration file. */
function environmentData(env: Environment): unknown {
  const document = new Document({ targets: [{ name: DEFAULT_TARGET_NAME }] });
  for (const [name, { path, isList }] of Object.entries(targetVariables)) {
    const value = (env[name] ?? '').trim();
    if (value === '') continue;
    // An entry that is null is reported as empty.
    const entries = value.split(',').map((entry) => entry.trim() || null);
    // A URL can be a list of several nodes.
    if (path.at(-1) === 'url' && entries.length > 1) {
      const nodes = entries.map((url) => ({ url }));
      document.setIn([...path.slice(0, -1), 'nodes'], nodes);
    } else document.setIn(path, isList ? entries : value);
  }
  return document.toJS();
}

/**
 * The variable that caused a problem. The interval is the only variable of `poll`, so that it causes every problem
 * there. The only problem of the target itself is a missing URL.
 */
function formatVariable(path: Path): string {
  if (path[0] === 'poll') return 'POLL_INTERVAL';
  // Several nodes are set by the URL.
  const keys = path.map((key) => (key === 'nodes' ? 'url' : key));
  const name = Object.keys(targetVariables).find((each) =>
    targetVariables[each]?.path.every((key, index) => key === keys[index]),
  );
  return name ?? 'BRIDGE_URL, CROSSCHAIN_URL';
}

/** Used by the process before its first poll. */
const BASE_BYTES = 96 * MEBIBYTE;

/** Resident bytes per byte of the largest body: body, decoded document, concurrent bodies. */
const MEMORY_PER_BODY_BYTE = 10;

/** The copy of a body that waits to be recorded, and its compressed form. */
const RECORDED_MEMORY_PER_BODY_BYTE = 2;

const MIN_BODY_BYTES = MEBIBYTE;

/**
 * Lowers `poll.max_body_size` to what fits into memory, with a warning. A body that does not fit ends the
 * process.
 */
export function clampToMemory(config: Config, bytes: number): { config: Config; warnings: readonly string[] } {
  const { poll: polling, recorder } = config;
  const perBodyByte = MEMORY_PER_BODY_BYTE + (recorder.directory === undefined ? 0 : RECORDED_MEMORY_PER_BODY_BYTE);
  const availableBytes = Math.floor((bytes - BASE_BYTES) / perBodyByte / MEBIBYTE) * MEBIBYTE;
  const maxBodyBytes = Math.max(MIN_BODY_BYTES, availableBytes);
  if (polling.max_body_size <= maxBodyBytes) return { config, warnings: [] };
  const warning =
    `poll.max_body_size (${formatSize(polling.max_body_size)}) does not fit into ${formatSize(bytes)} of memory ` +
    `and is lowered to ${formatSize(maxBodyBytes)}`;
  return { config: { ...config, poll: { ...polling, max_body_size: maxBodyBytes } }, warnings: [warning] };
}

/** Heap per JSON value until its document is derived. Half of the heap is left for everything else. */
const HEAP_BYTES_PER_VALUE = 200;

/** The most JSON values of a body that the heap can hold. */
export function maxHeapValues(heapBytes: number = getHeapStatistics().heap_size_limit): number {
  return heapBytes / 2 / HEAP_BYTES_PER_VALUE;
}
