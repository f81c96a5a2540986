import { resolve } from 'node:path';
import { createSecureContext, DEFAULT_CIPHERS, type SecureContextOptions, type TLSSocket } from 'node:tls';
import { z } from 'zod';
import type { Result } from '../result.js';
import { readSmallFile } from '../config/small-file.js';
import {
  checkCertificates,
  checkPrivateKey,
  checkTlsVersions,
  isKeyPair,
  tlsVersion,
  tlsVersions,
} from '../config/tls.js';
import { fileName, isMapping, whenMapping } from '../config/values.js';

/*
 * TLS of the server: the section tls_server_config of the web configuration, with the names of Go's crypto/tls that
 * exporter-toolkit uses, the files it refers to, and the rules for client certificates.
 */

const clientAuthType = z.enum([
  'NoClientCert',
  'RequestClientCert',
  'RequireAnyClientCert',
  // An old name of RequireAnyClientCert.
  'RequireClientCert',
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
]);

const tlsKeys = z.strictObject({
  cert: z.string().optional(),
  key: z.string().optional(),
  client_ca: z.string().optional(),
  cert_file: fileName.optional(),
  key_file: fileName.optional(),
  client_ca_file: fileName.optional(),
  client_auth_type: clientAuthType.optional(),
  min_version: tlsVersion.prefault('TLS12'),
  max_version: tlsVersion.prefault('TLS13'),
});

export type TlsKeys = z.output<typeof tlsKeys>;
type ClientAuthType = z.output<typeof clientAuthType>;

export const tlsSchema = tlsKeys.check(checkTlsVersions).superRefine((keys, context) => {
  if (!isMapping(keys)) return;
  const { min_version: _min, max_version: _max, ...others } = keys;
  const report = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
  // Any other key enables TLS, as in exporter-toolkit.
  for (const key of Object.keys(others).length === 0 ? [] : (['cert', 'key'] as const)) {
    if (!(key in keys) && !(`${key}_file` in keys))
      report(`${key}_file`, `is missing — expected ${key}_file or ${key}`);
  }
  // An authority for certificates that are not requested would look like a protection.
  if ((keys.client_auth_type ?? 'NoClientCert') !== 'NoClientCert') return;
  for (const key of ['client_ca_file', 'client_ca']) {
    if (key in keys)
      report(key, 'has no effect with client_auth_type NoClientCert — expected RequireAndVerifyClientCert');
  }
}, whenMapping);

function secureContextOptions({ min_version: min, max_version: max }: TlsKeys): SecureContextOptions {
  return {
    minVersion: tlsVersions[min],
    maxVersion: tlsVersions[max],
    // At its default security level OpenSSL rejects TLS 1.0 and 1.1 whatever the minimum version.
    ...(min < 'TLS12' && { ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=0` }),
  };
}

/** The TLS section with the contents of the files it refers to. */
export interface LoadedTls {
  readonly context: SecureContextOptions;
  readonly clientAuthType: ClientAuthType;
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
  return { ok: true, tls: { context, clientAuthType: keys.client_auth_type ?? 'NoClientCert' } };
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
  const message = read.ok ? check(read.text) : read.problem;
  if (read.ok && message === undefined) return { text: read.text };
  return { problem: { key: fileKey, message: `${path} ${message}` } };
}

/** Why OpenSSL rejects the files, for example a key that is too short for its security level. */
function contextProblem(context: SecureContextOptions): string | undefined {
  try {
    createSecureContext(context);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Whether the client is accepted after its handshake, as by Go's crypto/tls. */
export function isClientAccepted({ clientAuthType: type }: LoadedTls, socket: TLSSocket): boolean {
  if (socket.getPeerX509Certificate() === undefined) return !type.startsWith('Require');
  return !type.includes('Verify') || socket.authorized;
}
