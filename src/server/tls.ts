import { createSecureContext, DEFAULT_CIPHERS, type SecureContextOptions, type TLSSocket } from 'node:tls';
import * as z from 'zod';
import { checkCertificates, readKeyPair } from '../config/pem.js';
import { createFileReader } from '../config/text-file.js';
import { fileNameSetting } from '../config/values.js';
import type { PathMessage } from '../config/yaml.js';
import type { Result } from '../config/result.js';

/*
 * TLS of the server: the section tls_server_config of the web configuration, with the names that exporter-toolkit uses.
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

/** TLS versions as Go names them, and the names of Node.js. */
const tlsVersions = { TLS10: 'TLSv1', TLS11: 'TLSv1.1', TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const;
const tlsVersion = z.enum(['TLS10', 'TLS11', 'TLS12', 'TLS13'] satisfies (keyof typeof tlsVersions)[]);

export const tlsSection = z
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
  .refine(({ client_ca_file: ca, client_auth_type: type }) => ca !== undefined || !type.includes('Verify'), {
    error: 'is missing — certificates of all public authorities would be accepted',
    path: ['client_ca_file'],
  });

/** The section with the contents of the files that it names. */
export interface LoadedTls {
  readonly context: SecureContextOptions;
  readonly clientAuthType: z.output<typeof clientAuthType>;
}

const PATH = ['tls_server_config'];

/**
 * Reads certificate, key and client CA, and checks that they can be used. Names of files are relative to the folder.
 */
export async function loadTls(
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
  return problems.length === 0
    ? { ok: true, tls: { context, clientAuthType: client_auth_type } }
    : { ok: false, problems };
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

/** Whether the client is accepted after its handshake, as by Go's crypto/tls. */
export function isClientAccepted({ clientAuthType: type }: LoadedTls, socket: TLSSocket): boolean {
  if (socket.getPeerX509Certificate() === undefined) return !type.startsWith('Require');
  return !type.includes('Verify') || socket.authorized;
}
