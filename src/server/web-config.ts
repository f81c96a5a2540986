import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import * as z from 'zod';
import { createSecureContext, DEFAULT_CIPHERS, type SecureContextOptions } from 'node:tls';
import { checkCertificates, createFileReader, readKeyPair } from '../config/text-files.js';
import { fileNameSetting, precondition } from '../config/values.js';
import { formatMessage, readYaml, validate } from '../config/yaml.js';
import type { PathMessage, Result } from '../config/text-files.js';
import { startRepeating } from '../tasks.js';

/* The web configuration file: the supported keys of Prometheus' exporter-toolkit, as described in docs/security.md. */

const clientAuthType = z.enum(['NoClientCert', 'RequireAndVerifyClientCert']);

/** TLS versions as Go names them, and the names of Node.js. */
const tlsVersions = { TLS10: 'TLSv1', TLS11: 'TLSv1.1', TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const;
const tlsVersion = z.enum(['TLS10', 'TLS11', 'TLS12', 'TLS13'] satisfies (keyof typeof tlsVersions)[]);

const tlsSection = z
  .strictObject({
    cert_file: fileNameSetting,
    key_file: fileNameSetting,
    client_ca_file: fileNameSetting.optional(),
    client_auth_type: clientAuthType.prefault('NoClientCert'),
    min_version: tlsVersion.prefault('TLS12'),
    max_version: tlsVersion.prefault('TLS13'),
  })
  .refine(({ min_version: min, max_version: max }) => max >= min, {
    error: 'is below min_version',
    path: ['max_version'],
  })
  // An authority for certificates that are not requested would look like a protection.
  .refine(({ client_ca_file: ca, client_auth_type: type }) => ca === undefined || type !== 'NoClientCert', {
    error: 'has no effect with client_auth_type NoClientCert — expected RequireAndVerifyClientCert',
    path: ['client_ca_file'],
  })
  .refine(({ client_ca_file: ca, client_auth_type: type }) => ca !== undefined || type === 'NoClientCert', {
    error: 'is missing — certificates of all public authorities would be accepted',
    path: ['client_ca_file'],
  });

/** The section with the contents of the files that it names. */
export interface LoadedTls {
  readonly context: SecureContextOptions;
  /** Whether clients need a certificate of the authorities. */
  readonly verifiesClients: boolean;
  /** The files that were read. */
  readonly files: readonly string[];
}

const PATH = ['tls_server_config'];

/**
 * Reads certificate, key and client CA, and checks that they can be used. Names of files are relative to the folder.
 */
async function loadTls(
  { client_ca_file, client_auth_type, min_version, max_version, ...files }: z.output<typeof tlsSection>,
  folder: string,
): Promise<Result<{ readonly tls: LoadedTls }, { readonly problems: readonly PathMessage[] }>> {
  const problems: PathMessage[] = [];
  const read = createFileReader(problems, folder);
  const context: SecureContextOptions = {
    ...(await readKeyPair(files, PATH, read, problems)),
    ca: await read(client_ca_file, [...PATH, 'client_ca_file'], checkCertificates),
    minVersion: tlsVersions[min_version],
    maxVersion: tlsVersions[max_version],
    // At its default security level OpenSSL rejects TLS 1.0 and 1.1 whatever the minimum version.
    ...(min_version < 'TLS12' && { ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=0` }),
  };
  if (problems.length === 0) problems.push(...contextProblems(context));
  if (problems.length > 0) return { ok: false, problems };
  const names = [...Object.values(files), client_ca_file ?? files.cert_file].map((name) => resolve(folder, name));
  const verifiesClients = client_auth_type === 'RequireAndVerifyClientCert';
  return { ok: true, tls: { context, verifiesClients, files: names } };
}

/** Problems for OpenSSL, such as a key that is too short for its security level. */
function contextProblems(context: SecureContextOptions): readonly PathMessage[] {
  try {
    createSecureContext(context);
    return [];
  } catch (error) {
    return [{ path: PATH, message: `cannot be used: ${error instanceof Error ? error.message : String(error)}` }];
  }
}

const headerValue = z
  .string()
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'expected one line of Latin characters, as a header can hold')
  .optional();

const userName = z.string().regex(/^[^:]*$/, 'has a colon, which Basic authentication cannot send');

const NO_HASH = 'expected a bcrypt hash as `htpasswd -nBC 10 user` prints, without the user';

/** Verifying a hash of a higher cost takes longer than clients wait; each step doubles the time. */
const passwordHash = z
  .string(NO_HASH)
  .check(precondition((hash) => /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/.test(hash), NO_HASH))
  .regex(/^\$2[aby]\$(?:0[4-9]|1[0-8])\$/, 'expected a hash of a cost from 4 to 18, such as 10');

export const webSchema = z.strictObject({
  tls_server_config: tlsSection.optional(),
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
  basic_auth_users: z
    .record(userName, passwordHash)
    .refine((users) => Object.keys(users).length > 0, 'has no user: there would be no authentication')
    .optional(),
});

/** A web configuration with the contents of the files that it names. */
export interface WebConfig {
  readonly headers: z.output<typeof webSchema>['http_server_config']['headers'];
  /** bcrypt hashes by user name; without users there is no authentication. */
  readonly users: ReadonlyMap<string, string>;
  /** Absent for plain HTTP. */
  readonly tls?: LoadedTls;
}

type WebConfigResult = Result<{ readonly config: WebConfig }>;

export async function loadWebConfig(path: string): Promise<WebConfigResult> {
  const yaml = await readYaml(path);
  if (!yaml.ok) return yaml;
  const file = validate(webSchema, yaml.data, yaml.label);
  if (!file.ok) return file;
  const { tls_server_config: section, http_server_config: http, basic_auth_users: hashes = {} } = file.value;
  const rules = { headers: http.headers, users: new Map(Object.entries(hashes)) };
  if (section === undefined) return { ok: true, config: rules };
  const loaded = await loadTls(section, dirname(path));
  return loaded.ok
    ? { ok: true, config: { ...rules, tls: loaded.tls } }
    : { ok: false, problems: loaded.problems.map((problem) => formatMessage(problem, yaml.label)) };
}

export interface WebConfigFile {
  readonly path: string;
  readonly config: WebConfig;
}

const RELOAD_INTERVAL_MS = 2_000;

/** Changes when a file is written or replaced, also behind a symbolic link. */
async function readStamp(file: string): Promise<string> {
  return stat(file).then(
    ({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`,
    () => 'missing',
  );
}

/**
 * Reads the files when one has changed, and again while they are invalid, such as a certificate without its new key.
 * An invalid change is logged, and the last valid configuration stays.
 */
export function watchWebConfig(
  { path, config }: WebConfigFile,
  log: Logger,
  onReload: (config: WebConfig) => void,
): { readonly current: () => WebConfig; readonly close: () => void } {
  let current = config;
  let last: WebConfigResult = { ok: true, config };
  let lastStamps: readonly string[] | undefined;
  const { close } = startRepeating(
    async () => {
      // Before the files are read, so that the next check notices a change in between.
      const stamps = await Promise.all([path, ...(current.tls?.files ?? [])].map(readStamp));
      if (last.ok && isDeepStrictEqual(stamps, lastStamps)) return;
      lastStamps = stamps;
      const result = await loadWebConfig(path);
      if (isDeepStrictEqual(result, last)) return;
      last = result;
      if (result.ok) {
        current = result.config;
        lastStamps = undefined;
        log.info('web configuration reloaded');
        onReload(current);
      } else {
        const { problems } = result;
        log.error({ problems }, 'the changed web configuration is invalid, the previous one stays active');
      }
    },
    RELOAD_INTERVAL_MS,
    { delayMs: RELOAD_INTERVAL_MS },
  );
  return { current: () => current, close };
}
