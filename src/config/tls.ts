import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { z } from 'zod';

/* TLS versions, certificates and private keys, which the client and the server check alike. */

/** TLS versions as Prometheus and Go name them, and the names of Node.js. */
export const tlsVersions = { TLS10: 'TLSv1', TLS11: 'TLSv1.1', TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const;

export const tlsVersion = z.enum(['TLS10', 'TLS11', 'TLS12', 'TLS13'] satisfies (keyof typeof tlsVersions)[]);

interface TlsVersions {
  readonly min_version: z.output<typeof tlsVersion>;
  readonly max_version: z.output<typeof tlsVersion>;
}

export const checkTlsVersions = z.refine<TlsVersions>(({ min_version: min, max_version: max }) => max >= min, {
  error: 'is below min_version',
  path: ['max_version'],
});

/* The checks of PEM texts return a problem that does not quote the value. */

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
