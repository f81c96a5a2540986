import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { z } from 'zod';
import { startRepeating } from '../repeating.js';
import type { Problems, Result } from '../result.js';
import { formatMessage, formatProblems, type FormatPosition, type PathMessage } from '../settings/problems.js';
import { listSettings, mapping, presentKeys, scalar } from '../settings/schema.js';
import { readSmallFile } from '../settings/small-file.js';
import { isMapping, oneOf } from '../settings/value-types.js';
import { parseYaml } from '../settings/yaml.js';
import { isTlsEnabled, loadTls, tlsPaths, tlsSchema, type LoadedTls, type TlsKeys } from './tls.js';
import * as value from './web-config-values.js';

/*
 * The web configuration file: the keys of Prometheus' exporter-toolkit that are supported. docs/security.md describes them.
 */

/** The rules for every request. */
export interface WebRules {
  readonly headers: Readonly<Record<string, string>>;
  /** bcrypt hashes by user name; without users there is no authentication. */
  readonly users: ReadonlyMap<string, string>;
}

/** A web configuration with the contents of all files. */
export interface WebConfig extends WebRules {
  /** Absent for plain HTTP. */
  readonly tls?: LoadedTls;
}

/** Without a file: plain HTTP without authentication. */
const defaultWebConfig: WebConfig = { headers: {}, users: new Map() };

const headers = mapping({
  'Content-Security-Policy': value.headerValue(),
  'X-Frame-Options': z.optional(scalar(oneOf('deny', 'sameorigin'))),
  'X-Content-Type-Options': z.optional(scalar(oneOf('nosniff'))),
  'X-XSS-Protection': value.headerValue(),
  'Strict-Transport-Security': value.headerValue(),
});

const webSchema = mapping({
  tls_server_config: tlsSchema.prefault({}),
  http_server_config: mapping({ headers: headers.prefault({}) }).prefault({}),
  basic_auth_users: z.optional(value.users()),
});

type WebFile = z.output<typeof webSchema>;

export const webSettings = listSettings(webSchema);

/** Most unknown keys are valid in other exporters. */
const NOT_SUPPORTED = 'this key is not supported';

/** A parsed web configuration; the files it refers to are not read yet. */
interface ParsedWebConfig {
  readonly rules: WebRules;
  /** Absent for plain HTTP. */
  readonly tls?: TlsKeys;
  readonly warnings: readonly string[];
  readonly label: FormatPosition;
}

/** `source` is the name of the file in messages. */
export function parseWebConfig(text: string, source: string): Result<ParsedWebConfig> {
  const yaml = parseYaml(text, source);
  if (!yaml.ok) return yaml;
  const { label } = yaml;
  const raw = value.dropEmptyValues(yaml.data);
  const { data: file, error } = webSchema.safeParse(raw);
  if (error) return { ok: false, problems: formatProblems(error, webSettings, label, NOT_SUPPORTED) };
  const tls = file.tls_server_config;
  const hasTlsSection = isMapping(raw) && (presentKeys(raw['tls_server_config'])?.size ?? 0) > 0;
  const warnings = warningsOf(file, hasTlsSection).map((warning) => formatMessage(warning, label));
  return { ok: true, rules: rulesOf(file), ...(isTlsEnabled(tls) && { tls }), warnings, label };
}

function rulesOf(file: WebFile): WebRules {
  return {
    headers: Object.fromEntries(
      Object.entries(file.http_server_config.headers).flatMap(([name, text]) =>
        text === undefined ? [] : [[name, text]],
      ),
    ),
    users: file.basic_auth_users ?? new Map(),
  };
}

/** Warns of valid settings that most likely do not do what they were written for. */
function warningsOf(
  { tls_server_config: tls, basic_auth_users: users }: WebFile,
  hasTlsSection: boolean,
): PathMessage[] {
  const warnings: PathMessage[] = [];
  if (hasTlsSection && !isTlsEnabled(tls)) {
    const message = 'has no effect without cert_file and key_file: plain HTTP is served';
    warnings.push({ path: ['tls_server_config'], message });
  }
  for (const key of ['cert', 'key', 'client_ca'] as const) {
    if (tls[key] === undefined || tls[`${key}_file`] === undefined) continue;
    warnings.push({ path: ['tls_server_config', key], message: `has no effect beside ${key}_file` });
  }
  if (tls.client_auth_type?.includes('Verify') && tls.client_ca === undefined && tls.client_ca_file === undefined) {
    const message = 'accepts the certificates of all public authorities — client_ca_file restricts them';
    warnings.push({ path: ['tls_server_config', 'client_auth_type'], message });
  }
  if (users?.size === 0) {
    warnings.push({ path: ['basic_auth_users'], message: 'has no user: there is no authentication' });
  }
  return warnings;
}

export interface LoadedWebConfig {
  readonly path: string;
  readonly config: WebConfig;
  readonly warnings: readonly string[];
  readonly files: FileStates;
}

/** The files that a web configuration was read from, with their state just before they were read. */
type FileStates = ReadonlyMap<string, string>;

type LoadWebConfigResult = Result<{ readonly webConfig: LoadedWebConfig }, Problems & { readonly files: FileStates }>;

/** Reads a web configuration and the files it refers to. */
export async function loadWebConfig(path: string): Promise<LoadWebConfigResult> {
  const ownFile = await statesOf([path]);
  const text = await readSmallFile(path);
  if (!text.ok && text.problem !== 'is empty')
    return { ok: false, problems: [`${path}: ${text.problem}`], files: ownFile };
  const parsed = parseWebConfig(text.ok ? text.value : '', path);
  if (!parsed.ok) return { ok: false, problems: parsed.problems, files: ownFile };
  const { rules, tls, warnings, label } = parsed;
  if (tls === undefined) return { ok: true, webConfig: { path, config: rules, warnings, files: ownFile } };

  const folder = dirname(path);
  const files = new Map([...ownFile, ...(await statesOf(tlsPaths(tls, folder)))]);
  const loaded = await loadTls(tls, folder);
  if (loaded.ok) return { ok: true, webConfig: { path, config: { ...rules, tls: loaded.tls }, warnings, files } };
  const problems = loaded.problems.map(({ key, message }) => {
    return `${label(key === undefined ? ['tls_server_config'] : ['tls_server_config', key])}: ${message}`;
  });
  return { ok: false, problems, files };
}

/** A state differs when the file was written or replaced, also by way of a symbolic link. */
async function statesOf(paths: Iterable<string>): Promise<FileStates> {
  const states = Array.from(paths, async (path): Promise<[string, string]> => {
    const found = await stat(path, { bigint: true }).catch(() => undefined);
    return [path, found ? [found.ino, found.size, found.mtimeNs, found.ctimeNs].join(':') : 'missing'];
  });
  return new Map(await Promise.all(states));
}

const WATCH_INTERVAL_MS = 1_000;

interface WebConfigWatch {
  /** The last valid configuration. */
  readonly current: () => WebConfig;
  readonly close: () => void;
}

/** Reloads the configuration when one of its files changes. An invalid one is logged and otherwise ignored. */
export function watchWebConfig(
  initial: LoadedWebConfig | undefined,
  log: Logger,
  onReload: (config: WebConfig) => void,
): WebConfigWatch {
  if (initial === undefined) return { current: () => defaultWebConfig, close: () => undefined };
  const { path } = initial;
  let { config, files } = initial;
  let isClosed = false;
  const loop = startRepeating(
    async () => {
      if (!isDeepStrictEqual(await statesOf(files.keys()), files)) await reload();
    },
    WATCH_INTERVAL_MS,
    WATCH_INTERVAL_MS,
  );

  async function reload(): Promise<void> {
    const result = await loadWebConfig(path);
    files = result.ok ? result.webConfig.files : result.files;
    if (isClosed) return;
    if (!result.ok) {
      log.error(
        { problems: result.problems },
        'the changed web configuration is invalid, the previous one stays active',
      );
      return;
    }
    ({ config } = result.webConfig);
    log.info({ warnings: result.webConfig.warnings }, 'web configuration reloaded');
    onReload(config);
  }

  return {
    current: () => config,
    close: () => {
      isClosed = true;
      loop.close();
    },
  };
}
