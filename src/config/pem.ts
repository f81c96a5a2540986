import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';

/* Certificates and private keys of PEM files, which the client and the server check alike. A problem does not quote the file. */

const certificateBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

export function checkCertificates(pem: string): string | undefined {
  const blocks = pem.match(certificateBlock);
  if (blocks === null) return 'contains no PEM certificate';
  const invalid = blocks.findIndex((block) => parseCertificate(block) === undefined);
  return invalid === -1 ? undefined : `contains an invalid certificate: number ${invalid + 1}`;
}

export function checkPrivateKey(pem: string): string | undefined {
  return parsePrivateKey(pem) === undefined ? 'contains no unencrypted PEM private key' : undefined;
}

/** Whether the key belongs to the first certificate. */
export function isKeyPair(certificates: string, key: string): boolean {
  const [first = ''] = certificates.match(certificateBlock) ?? [];
  const privateKey = parsePrivateKey(key);
  return privateKey !== undefined && parseCertificate(first)?.checkPrivateKey(privateKey) === true;
}

function parseCertificate(block: string): X509Certificate | undefined {
  try {
    return new X509Certificate(block);
  } catch {
    return undefined;
  }
}

function parsePrivateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
