import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { Check } from './schema.js';

/* TLS versions, certificates and private keys, which the client and the server check alike. */

/** TLS versions as Prometheus and Go name them, and the names of Node.js. */
export const tlsVersions = { TLS10: 'TLSv1', TLS11: 'TLSv1.1', TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const;

const version = z.enum(['TLS10', 'TLS11', 'TLS12', 'TLS13'] satisfies (keyof typeof tlsVersions)[]);
export const tlsVersionNames = version.options;

/** Rejects a `max_version` below `min_version`. */
export const checkTlsVersions: Check = (input, context) => {
  const { data } = z.object({ min_version: version, max_version: version }).safeParse(input);
  if (!data || data.max_version >= data.min_version) return;
  const message = `${data.max_version} is below min_version — expected at least ${data.min_version}`;
  context.addIssue({ code: 'custom', path: ['max_version'], message });
};

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
