import { stat } from 'node:fs/promises';
import { validateHeaderValue } from 'node:http';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { z } from 'zod';
import { startRepeating } from '../repeating.js';
import type { Problems, Result } from '../result.js';
import { readSmallFile } from '../config/small-file.js';
import { isMapping, precondition } from '../config/values.js';
import { formatMessage, type FormatPosition, parseYaml, type PathMessage, validate } from '../config/yaml.js';
import { isTlsEnabled, loadTls, tlsPaths, tlsSchema, type LoadedTls, type TlsKeys } from './tls.js';

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

/** The server without a file: plain HTTP without authentication. */
const defaultWebConfig: WebConfig = { headers: {}, users: new Map() };

/** The value of a response header. */
const headerValue = z
  .string()
  .refine(isHeaderValue, 'expected one line of Latin characters, as a header can hold')
  .optional();

function isHeaderValue(value: string): boolean {
  try {
    validateHeaderValue('header', value);
    return true;
  } catch {
    return false;
  }
}

const userName = z.string().regex(/^[^:]*$/, 'has a colon, which Basic authentication cannot send');

const NO_HASH = 'expected a bcrypt hash as `htpasswd -nBC 10 user` prints, without the user';

/** Verifying a hash of a higher cost takes longer than clients wait; each step doubles the time. */
const passwordHash = z
  .string(NO_HASH)
  .check(precondition((hash) => /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/.test(hash), NO_HASH))
  .regex(/^\$2[aby]\$(?:0[4-9]|1[0-8])\$/, 'expected a hash of a cost from 4 to 18, such as 10');

export const webSchema = z.strictObject({
  tls_server_config: tlsSchema.prefault({}),
  http_server_config: z
    .strictObject({
      headers: z
        .strictObject({
          'Content-Security-Policy': headerValue,
          'X-Frame-Options': z.enum(['deny', 'sameorigin']).optional(),
          'X-Content-Type-Options': z.enum(['nosniff']).optional(),
          'X-XSS-Protection': headerValue,
          'Strict-Transport-Security': headerValue,
        })
        .prefault({}),
    })
    .prefault({}),
  /** bcrypt hashes by user name. An empty hash is an error and not an absent user, whose absence could disable authentication. */
  basic_auth_users: z.record(userName, passwordHash).optional(),
});

type WebFile = z.output<typeof webSchema>;

/** Makes keys without a value absent, as in exporter-toolkit, except among the users. */
function withoutEmptyValues(data: unknown): unknown {
  if (!isMapping(data)) return data ?? {};
  return Object.fromEntries(
    Object.entries(data).flatMap(([key, value]) => {
      if (key === 'basic_auth_users') return [[key, value ?? {}]];
      return value === null || value === '' ? [] : [[key, isMapping(value) ? withoutEmptyValues(value) : value]];
    }),
  );
}

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
  const data = withoutEmptyValues(yaml.data);
  const result = validate(webSchema, data, label);
  if (!result.ok) return result;
  const file = result.value;
  const tls = file.tls_server_config;
  const section = isMapping(data) ? data['tls_server_config'] : undefined;
  const hasTlsSection = isMapping(section) && Object.keys(section).length > 0;
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
    users: new Map(Object.entries(file.basic_auth_users ?? {})),
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
  if (users && Object.keys(users).length === 0) {
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
  const configFile = await statesOf([path]);
  const text = await readSmallFile(path);
  if (!text.ok && text.problem !== 'is empty')
    return { ok: false, problems: [`${path}: ${text.problem}`], files: configFile };
  const parsed = parseWebConfig(text.ok ? text.text : '', path);
  if (!parsed.ok) return { ok: false, problems: parsed.problems, files: configFile };
  const { rules, tls, warnings, label } = parsed;
  if (tls === undefined) return { ok: true, webConfig: { path, config: rules, warnings, files: configFile } };

  const folder = dirname(path);
  const files = new Map([...configFile, ...(await statesOf(tlsPaths(tls, folder)))]);
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
