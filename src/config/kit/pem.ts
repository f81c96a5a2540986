import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';

/* What is wrong with certificates and keys, said without a word of their content. All in PEM form. */

const certificateBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

export function checkCertificates(pem: string): string | undefined {
  const blocks = pem.match(certificateBlock);
  if (blocks === null) return 'holds no certificate in PEM form';
  const unreadable = blocks.findIndex((block) => certificateIn(block) === undefined);
  return unreadable === -1 ? undefined : `holds a certificate that cannot be read, at place ${unreadable + 1}`;
}

export function checkPrivateKey(pem: string): string | undefined {
  return keyIn(pem) === undefined ? 'holds no private key in PEM form, or one with a passphrase' : undefined;
}

/** Whether the key is of the certificate, where both can be read. */
export function isKeyPair(certificates: string, key: string): boolean {
  const [first = ''] = certificates.match(certificateBlock) ?? [];
  const [certificate, privateKey] = [certificateIn(first), keyIn(key)];
  return certificate === undefined || privateKey === undefined || certificate.checkPrivateKey(privateKey);
}

function certificateIn(block: string): X509Certificate | undefined {
  try {
    return new X509Certificate(block);
  } catch {
    return undefined;
  }
}

function keyIn(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
