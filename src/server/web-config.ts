import { z } from 'zod';
import { formatProblems, type Path, type PositionLabel } from '../config/kit/problems.js';
import { listSettings } from '../config/kit/settings.js';
import { integer } from '../config/kit/value-types.js';
import { mapping, presentKeys, scalar } from '../config/kit/yaml-schema.js';
import { parseYaml } from '../config/kit/yaml.js';
import { tlsFile, tlsSection, type TlsFile } from './tls-config.js';
import * as value from './web-config-values.js';

/*
 * The web configuration of Prometheus' exporter-toolkit, so that a file written for node_exporter serves here as it is. Of
 * our own is one key, health_paths_without_auth. docs/security.md says what each key does.
 */

/** A web configuration as it is written; the files it names are not read yet. */
export interface WebFile extends WebRules {
  /** Absent for plain HTTP. */
  readonly tls?: TlsFile;
}

/** What holds for each request. */
export interface WebRules {
  readonly headers: Readonly<Record<string, string>>;
  /** Hash by name of the user; when empty, nobody is asked for a password. */
  readonly users: ReadonlyMap<string, string>;
  readonly healthPathsWithoutAuth: boolean;
  readonly rateLimit?: RateLimit;
}

/** One request each interval, and `burst` of them saved up. */
export interface RateLimit {
  readonly intervalMs: number;
  readonly burst: number;
}

const headers = mapping({
  'Content-Security-Policy': value.header(),
  'X-Frame-Options': z.optional(value.named('one of deny, sameorigin', ['deny', 'sameorigin'])),
  'X-Content-Type-Options': z.optional(value.named('nosniff', ['nosniff'])),
  'X-XSS-Protection': value.header(),
  'Strict-Transport-Security': value.header(),
});

const rateLimit = mapping({
  interval: value.goDuration().prefault('0'),
  burst: scalar(integer(0, 1_000_000)).prefault('0'),
}).superRefine(({ interval, burst }, context) => {
  if (interval === 0 || burst > 0) return;
  context.addIssue({ code: 'custom', path: ['burst'], message: 'is 0: no request would pass — expected 1 or more' });
});

const webSchema = mapping({
  tls_server_config: tlsSection.prefault({}),
  http_server_config: mapping({ http2: z.optional(value.boolean()), headers: headers.prefault({}) }).prefault({}),
  rate_limit: rateLimit.prefault({}),
  basic_auth_users: z.optional(value.users()),
  health_paths_without_auth: value.boolean().prefault(false),
});

type Written = z.output<typeof webSchema>;

/** Every key, for what an unknown one may have meant. */
export const webSettings = listSettings(webSchema);

export type WebFileResult =
  | { readonly ok: true; readonly web: WebFile; readonly warnings: readonly string[]; readonly label: PositionLabel }
  | { readonly ok: false; readonly problems: readonly string[] };

/** `source` is what the messages call the text: the name of its file. */
export function parseWebFile(text: string, source: string): WebFileResult {
  const yaml = parseYaml(text, source);
  if (!yaml.ok) return yaml;
  const { label } = yaml;
  const data = value.withoutEmptyValues(yaml.data);
  const { data: written, error } = webSchema.safeParse(data);
  if (error) return { ok: false, problems: formatProblems(error, webSettings, label) };
  const tls = tlsFile(written.tls_server_config);
  const isTlsWritten = value.isMapping(data) && presentKeys(data['tls_server_config'])?.size;
  const found = [...(isTlsWritten && !tls ? [noTls] : []), ...doubts(written)];
  const warnings = found.map(({ path, message }) => `${label(path)}: ${message}`);
  return { ok: true, web: { ...rules(written), ...(tls && { tls }) }, warnings, label };
}

function rules(written: Written): WebRules {
  const { interval: intervalMs, burst } = written.rate_limit;
  const { headers: given } = written.http_server_config;
  return {
    headers: Object.fromEntries(
      Object.entries(given).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
    ),
    users: written.basic_auth_users ?? new Map(),
    healthPathsWithoutAuth: written.health_paths_without_auth,
    ...(intervalMs > 0 && { rateLimit: { intervalMs, burst } }),
  };
}

interface Doubt {
  readonly path: Path;
  readonly message: string;
}

const noTls: Doubt = {
  path: ['tls_server_config'],
  message: 'has no effect without cert_file and key_file: plain HTTP is served',
};

/** What is valid and yet most likely not what was meant. */
function doubts({ tls_server_config: tls, http_server_config: http, basic_auth_users: users }: Written): Doubt[] {
  const found: Doubt[] = [];
  for (const key of ['cert', 'key', 'client_ca'] as const) {
    if (tls[key] === undefined || tls[`${key}_file`] === undefined) continue;
    found.push({ path: ['tls_server_config', key], message: `has no effect beside ${key}_file` });
  }
  if (tls.client_auth_type?.includes('Verify') && tls.client_ca === undefined && tls.client_ca_file === undefined) {
    const message = 'lets in every certificate of a public authority — client_ca_file says whose';
    found.push({ path: ['tls_server_config', 'client_auth_type'], message });
  }
  if (http.http2 === true) {
    found.push({ path: ['http_server_config', 'http2'], message: 'HTTP/2 is not served; clients take HTTP/1.1' });
  }
  if (users?.size === 0) {
    found.push({ path: ['basic_auth_users'], message: 'names no user: nobody is asked for a password' });
  }
  return found;
}
