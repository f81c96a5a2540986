import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, DEFAULT_CIPHERS } from 'node:tls';
import { systemErrorText } from '../text/system-error.js';
import type { FileReader } from './text-file.js';
import type { Path, PathMessage } from './yaml.js';

/* Certificates and keys of PEM files, for client and server. A problem does not quote the file. */

/**
 * OpenSSL reads all certificates of a `cert`, while it ignores damaged ones in a `ca`. Keys that are short for the
 * security level are left to the connection.
 */
export function checkCertificates(pem: string): string | undefined {
  try {
    createSecureContext({ cert: pem, ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=0` });
    return undefined;
  } catch (error) {
    return `cannot be read as PEM certificates: ${systemErrorText(error)}`;
  }
}

function checkPrivateKey(pem: string): string | undefined {
  try {
    createPrivateKey(pem);
    return undefined;
  } catch {
    return 'contains no unencrypted PEM private key';
  }
}

interface KeyPairFiles {
  readonly cert_file?: string | undefined;
  readonly key_file?: string | undefined;
}

/** Reads a certificate and its key, for the keys of a section at a path. */
export async function readKeyPair(
  { cert_file, key_file }: KeyPairFiles,
  path: Path,
  read: FileReader,
  problems: PathMessage[],
): Promise<{ readonly cert: string | undefined; readonly key: string | undefined }> {
  const cert = await read(cert_file, [...path, 'cert_file'], checkCertificates);
  const key = await read(key_file, [...path, 'key_file'], checkPrivateKey);
  // The key belongs to the first certificate.
  if (cert !== undefined && key !== undefined && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    problems.push({ path: [...path, 'key_file'], message: `${key_file} is not the key of the certificate` });
  }
  return { cert, key };
}
