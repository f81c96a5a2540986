import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';

/* Checks of PEM certificates and private keys. They return a problem that does not quote the value. */

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

/** Whether the key belongs to the first certificate. True if one of them cannot be parsed, which is reported elsewhere. */
export function isKeyPair(certificates: string, key: string): boolean {
  const [first = ''] = certificates.match(certificateBlock) ?? [];
  const [certificate, privateKey] = [parseCertificate(first), parsePrivateKey(key)];
  return certificate === undefined || privateKey === undefined || certificate.checkPrivateKey(privateKey);
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
