import { isIPv6, SocketAddress } from 'node:net';
import { resolve } from 'node:path';
import { createSecureContext, DEFAULT_CIPHERS, type SecureContextOptions, type TLSSocket } from 'node:tls';
import { z } from 'zod';
import type { Result } from '../result.js';
import { checkCertificates, checkPrivateKey, isKeyPair, checkTlsVersions, tlsVersions } from '../settings/tls.js';
import { readSmallFile } from '../settings/small-file.js';
import { describeType } from '../settings/value-types.js';
import { list, mapping, presentKeys, withChecks } from '../settings/schema.js';
import * as value from './web-config-values.js';

/*
 * TLS of the server: the section tls_server_config of the web configuration, with the names of Go's crypto/tls that
 * exporter-toolkit uses, the files it refers to, and the rules for client certificates.
 */

const curves = { CurveP256: 'P-256', CurveP384: 'P-384', CurveP521: 'P-521', X25519: 'X25519' } as const;

const clientAuthTypes = [
  'NoClientCert',
  'RequestClientCert',
  'RequireAnyClientCert',
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
] as const;

/** RequireClientCert is an old name of RequireAnyClientCert. */
type ClientAuthType = (typeof clientAuthTypes)[number] | 'RequireClientCert';

/** Suites of TLS 1.3. Always enabled, because Go does not let them be configured. */
const tls13Suites = {
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
} as const;

/** OpenSSL names of the suites that Go's tls.CipherSuites() lists, or listed before Go 1.22. */
const cipherSuites = {
  ...tls13Suites,
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
} as const;

function keysOf<Name extends string>(table: Readonly<Record<Name, string>>): Name[] {
  return Object.keys(table) as Name[];
}

const tlsKeys = {
  cert: z.optional(value.nonEmpty('a certificate in PEM form')),
  key: z.optional(value.nonEmpty('a private key in PEM form')),
  client_ca: z.optional(value.nonEmpty('a certificate in PEM form')),
  cert_file: z.optional(value.nonEmpty('the name of a file')),
  key_file: z.optional(value.nonEmpty('the name of a file')),
  client_ca_file: z.optional(value.nonEmpty('the name of a file')),
  client_auth_type: z.optional(
    value.oneOf<ClientAuthType>([...clientAuthTypes, 'RequireClientCert'], `one of ${clientAuthTypes.join(', ')}`),
  ),
  client_allowed_sans: z.optional(
    list(value.nonEmpty('a name of the certificate')).min(1, {
      error: 'is empty — expected at least one name, or no such key',
    }),
  ),
  min_version: value.oneOf(keysOf(tlsVersions)).prefault('TLS12'),
  max_version: value.oneOf(keysOf(tlsVersions)).prefault('TLS13'),
  cipher_suites: list(
    value.oneOf(keysOf(cipherSuites), 'the Go name of a cipher suite, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'),
  ).prefault([]),
  prefer_server_cipher_suites: value.boolean().prefault(true),
  curve_preferences: list(value.oneOf(keysOf(curves))).prefault([]),
};

export type TlsKeys = z.output<z.ZodObject<typeof tlsKeys>>;

export const tlsSchema = withChecks(
  mapping(tlsKeys, { describe: describeType }),
  requireCertificateAndKey,
  rejectUnusedClientRules,
  checkTlsVersions,
);

/** Any of these keys enables TLS, as in exporter-toolkit. */
const enablingKeys = ['cert', 'key', 'client_ca', 'cert_file', 'key_file', 'client_ca_file', 'client_auth_type'];

function requireCertificateAndKey(raw: unknown, context: z.RefinementCtx): void {
  const written = presentKeys(raw);
  if (!written || !enablingKeys.some((key) => written.has(key))) return;
  for (const key of ['cert', 'key']) {
    if (written.has(key) || written.has(`${key}_file`)) continue;
    const message = `is missing — expected ${key}_file or ${key}`;
    context.addIssue({ code: 'custom', path: [`${key}_file`], message });
  }
}

/** Rules for certificates that are not requested would look like a protection. */
function rejectUnusedClientRules(raw: unknown, context: z.RefinementCtx): void {
  const written = presentKeys(raw);
  const type = z.object({ client_auth_type: z.string().default('NoClientCert') }).safeParse(raw).data?.client_auth_type;
  if (!written || type === undefined) return;
  const reject = (key: string, expected: string): void => {
    const message = `has no effect with client_auth_type ${type} — expected ${expected}`;
    if (written.has(key)) context.addIssue({ code: 'custom', path: [key], message });
  };
  if (type === 'NoClientCert') {
    reject('client_ca_file', 'RequireAndVerifyClientCert');
    reject('client_ca', 'RequireAndVerifyClientCert');
  }
  if (!type.startsWith('Require')) reject('client_allowed_sans', 'RequireAndVerifyClientCert or RequireAnyClientCert');
}

function secureContextOptions(keys: TlsKeys): SecureContextOptions {
  const ciphers = cipherList(keys);
  return {
    minVersion: tlsVersions[keys.min_version],
    maxVersion: tlsVersions[keys.max_version],
    honorCipherOrder: keys.prefer_server_cipher_suites,
    ...(ciphers !== undefined && { ciphers }),
    ...(keys.curve_preferences.length > 0 && {
      ecdhCurve: keys.curve_preferences.map((curve) => curves[curve]).join(':'),
    }),
  };
}

/** An OpenSSL cipher list, or `undefined` for the default of Node.js. */
function cipherList({ cipher_suites: suites, min_version: min }: TlsKeys): string | undefined {
  const chosen = suites.map((suite) => cipherSuites[suite]);
  const listed = chosen.length > 0 ? [...new Set([...Object.values(tls13Suites), ...chosen])] : [DEFAULT_CIPHERS];
  // At its default security level OpenSSL rejects TLS 1.0 and 1.1 whatever the minimum version.
  if (min < 'TLS12') return [...listed, '@SECLEVEL=0'].join(':');
  return chosen.length > 0 ? listed.join(':') : undefined;
}

/** The TLS section with the contents of the files it refers to. */
export interface LoadedTls {
  readonly context: SecureContextOptions;
  readonly clients: ClientRules;
}

/** Which client certificates are accepted. */
interface ClientRules {
  readonly type: ClientAuthType;
  readonly allowedSans: readonly string[] | undefined;
}

interface TlsProblem {
  /** Absent for a problem of several keys together. */
  readonly key?: keyof TlsKeys;
  readonly message: string;
}

/** The schema rejects a certificate without a key, and the other way around. */
export function isTlsEnabled({ cert, cert_file: certFile }: TlsKeys): boolean {
  return (certFile ?? cert) !== undefined;
}

/** Relative paths are resolved against the folder of the configuration. */
export function tlsPaths(keys: TlsKeys, folder: string): string[] {
  const files = [keys.cert_file, keys.key_file, keys.client_ca_file];
  return files.flatMap((file) => (file === undefined ? [] : [resolve(folder, file)]));
}

/** Reads certificate, key and client CA, and checks that they can be used. No message quotes their content. */
export async function loadTls(
  keys: TlsKeys,
  folder: string,
): Promise<Result<{ readonly tls: LoadedTls }, { readonly problems: readonly TlsProblem[] }>> {
  const pems = await Promise.all([
    readPem(keys, 'cert', folder, checkCertificates),
    readPem(keys, 'key', folder, checkPrivateKey),
    readPem(keys, 'client_ca', folder, checkCertificates),
  ]);
  const problems = pems.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) return { ok: false, problems };
  const [{ text: cert = '' }, { text: key = '' }, { text: ca }] = pems;
  if (!isKeyPair(cert, key)) {
    const keyOfPair = keys.key_file === undefined ? 'key' : 'key_file';
    return { ok: false, problems: [{ key: keyOfPair, message: 'is not the key of the certificate' }] };
  }
  const context = { ...secureContextOptions(keys), cert, key, ...(ca !== undefined && { ca }) };
  const problem = contextProblem(context);
  if (problem !== undefined) return { ok: false, problems: [{ message: `cannot be used: ${problem}` }] };
  const { client_auth_type: type = 'NoClientCert', client_allowed_sans: allowedSans } = keys;
  return { ok: true, tls: { context, clients: { type, allowedSans } } };
}

interface Pem {
  /** Absent if neither the key nor its file is set. */
  readonly text?: string;
  readonly problem?: TlsProblem;
}

/** Reads inline PEM text, or the file that contains it. `check` returns why the text is invalid. */
async function readPem(
  keys: TlsKeys,
  inlineKey: 'cert' | 'key' | 'client_ca',
  folder: string,
  check: (text: string) => string | undefined,
): Promise<Pem> {
  const fileKey = `${inlineKey}_file` as const;
  const file = keys[fileKey];
  if (file === undefined) {
    const text = keys[inlineKey];
    const message = text === undefined ? undefined : check(text);
    return message === undefined ? { ...(text !== undefined && { text }) } : { problem: { key: inlineKey, message } };
  }
  const path = resolve(folder, file);
  const read = await readSmallFile(path);
  const message = read.ok ? check(read.value) : read.problem;
  if (read.ok && message === undefined) return { text: read.value };
  return { problem: { key: fileKey, message: `${path} ${message}` } };
}

/** For example a key that is too short for the security level of OpenSSL. */
function contextProblem(context: SecureContextOptions): string | undefined {
  try {
    createSecureContext(context);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Whether the rules accept the client after its handshake, as Go's crypto/tls would. */
export function isClientAccepted({ type, allowedSans }: ClientRules, socket: TLSSocket): boolean {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return !type.startsWith('Require');
  if (type.includes('Verify') && !socket.authorized) return false;
  return (
    allowedSans === undefined ||
    parseSubjectAltName(certificate.subjectAltName ?? '').some((name) => allowedSans.includes(name))
  );
}

/** The names of `DNS:a.example, IP Address:10.0.0.1`, written as Go writes them. */
export function parseSubjectAltName(text: string): string[] {
  // Node.js quotes a name with a comma or a control character as JSON, so that it cannot pass for several names.
  const pattern = /(?:^|, )(?:DNS|IP Address|URI|email):(?:(?<quoted>"(?:[^"\\]|\\.)*")|(?<plain>[^,"]*))(?=, |$)/g;
  return [...text.matchAll(pattern)].map(({ groups }) => {
    const { quoted, plain = '' } = groups ?? {};
    const name = quoted === undefined ? plain : String(JSON.parse(quoted));
    return isIPv6(name) ? new SocketAddress({ address: name, family: 'ipv6' }).address : name;
  });
}
