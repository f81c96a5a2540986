import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import type { FileReader } from './text-file.js';
import type { Path, PathMessage } from './yaml.js';

/* Certificates and private keys of PEM files, which the client and the server check alike. A problem does not quote the file. */

const certificateBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

export function checkCertificates(pem: string): string | undefined {
  const blocks = pem.match(certificateBlock);
  if (blocks === null) return 'contains no PEM certificate';
  const invalid = blocks.findIndex((block) => parseCertificate(block) === undefined);
  return invalid === -1 ? undefined : `contains an invalid certificate: number ${invalid + 1}`;
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
  const key = await read(key_file, [...path, 'key_file'], (pem) =>
    parsePrivateKey(pem) === undefined ? 'contains no unencrypted PEM private key' : undefined,
  );
  if (cert !== undefined && key !== undefined && !isKeyPair(cert, key)) {
    problems.push({ path: [...path, 'key_file'], message: `${key_file} is not the key of the certificate` });
  }
  return { cert, key };
}

/** Whether the key belongs to the first certificate. */
function isKeyPair(certificates: string, key: string): boolean {
  const [first = ''] = certificates.match(certificateBlock) ?? [];
  const privateKey = parsePrivateKey(key);
  return privateKey !== undefined && parseCertificate(first)?.checkPrivateKey(privateKey) === true;
}

const parseCertificate = (block: string): X509Certificate | undefined => parsed(() => new X509Certificate(block));
const parsePrivateKey = (pem: string): KeyObject | undefined => parsed(() => createPrivateKey(pem));

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
