import { validateHeaderValue } from 'node:http';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import * as z from 'zod';
import { readTextFile } from '../config/text-file.js';
import { precondition } from '../config/values.js';
import { formatMessage, parseYaml, validate } from '../config/yaml.js';
import { startRepeating } from '../tasks.js';
import type { Result } from '../config/result.js';
import { loadTls, tlsSection, type LoadedTls } from './tls.js';

/* The web configuration file: the supported keys of Prometheus' exporter-toolkit, as described in docs/security.md. */

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
  const text = await readTextFile(path);
  if (!text.ok) return { ok: false, problems: [`${path}: ${text.problem}`] };
  const yaml = parseYaml(text.text, path);
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

interface WebConfigWatch {
  /** The last valid configuration. */
  readonly current: () => WebConfig;
  readonly close: () => void;
}

/** Reads the files repeatedly. An invalid change is logged and otherwise ignored. */
export function watchWebConfig(
  { path, config }: WebConfigFile,
  log: Logger,
  onReload: (config: WebConfig) => void,
): WebConfigWatch {
  let current = config;
  let last: WebConfigResult = { ok: true, config };
  const { close } = startRepeating(
    async () => {
      const result = await loadWebConfig(path);
      if (isDeepStrictEqual(result, last)) return;
      last = result;
      if (result.ok) {
        current = result.config;
        log.info('web configuration reloaded');
        onReload(current);
      } else {
        const { problems } = result;
        log.error({ problems }, 'the changed web configuration is invalid, the previous one stays active');
      }
    },
    RELOAD_INTERVAL_MS,
    RELOAD_INTERVAL_MS,
  );
  return { current: () => current, close };
}
