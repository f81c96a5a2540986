import forge from 'node-forge';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createTempFolder, type TempFolder } from './temp-folder.js';

/** A certificate with its key, as PEM and as the paths of PEM files. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export interface Authority extends Certificate {
  /** Issues a certificate with these alternative names: `DNS:localhost`, `IP:127.0.0.1`. */
  readonly issue: (
    commonName: string,
    names?: readonly string[],
    options?: { readonly isExpired?: boolean },
  ) => Certificate;
}

const DAY_MS = 86_400_000;

const authorities = new Map<string, Authority>();

/**
 * A certificate authority that is created at run time, so that no key is checked in and no certificate expires. The files of tests that run
 * in one thread share it and its certificates, because keys take time.
 */
export function createAuthority(commonName = 'test authority'): Authority {
  const known = authorities.get(commonName);
  if (known !== undefined) return known;
  const folder = createTempFolder();
  const ca = issue(folder, 'ca', { commonName, extensions: [{ name: 'basicConstraints', critical: true, cA: true }] });
  const issued = new Map<string, Certificate>();
  const authority: Authority = {
    ...ca,
    issue: (name, names = [], { isExpired = false } = {}) => {
      const key = [name, ...names, isExpired].join();
      const alternative = names.length === 0 ? [] : [{ name: 'subjectAltName', altNames: names.map(alternativeName) }];
      const extensions = [{ name: 'basicConstraints', critical: true, cA: false }, ...alternative];
      const options = { commonName: name, extensions, authority: ca, isExpired };
      const certificate = issued.get(key) ?? issue(folder, `issued-${issued.size}`, options);
      issued.set(key, certificate);
      return certificate;
    },
  };
  authorities.set(commonName, authority);
  return authority;
}

interface CertificateOptions {
  readonly commonName: string;
  readonly extensions: readonly object[];
  /** The issuer; self-signed without one. */
  readonly authority?: Certificate;
  readonly isExpired?: boolean;
}

function issue(
  folder: TempFolder,
  file: string,
  { commonName, extensions, authority, isExpired = false }: CertificateOptions,
): Certificate {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const forgeKey = forge.pki.privateKeyFromPem(key);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.setRsaPublicKey(forgeKey.n, forgeKey.e);
  certificate.setSubject([{ name: 'commonName', value: commonName }]);
  certificate.setExtensions([...extensions]);
  // The first byte keeps the number positive and without leading zeros, which OpenSSL rejects.
  certificate.serialNumber = `01${randomBytes(8).toString('hex')}`;
  const until = Date.now() + (isExpired ? -DAY_MS : DAY_MS);
  certificate.validity.notBefore = new Date(until - 2 * DAY_MS);
  certificate.validity.notAfter = new Date(until);
  const issuer = authority && forge.pki.certificateFromPem(authority.cert);
  certificate.setIssuer((issuer ?? certificate).subject.attributes);
  certificate.sign(forge.pki.privateKeyFromPem(authority?.key ?? key), forge.md.sha256.create());
  const cert = forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
  return { cert, key, certFile: folder.write(`${file}.crt`, cert), keyFile: folder.write(`${file}.key`, key) };
}

/** With the tags of GeneralName in RFC 5280, section 4.2.1.6. */
function alternativeName(name: string): object {
  const [, prefix, value] = /^(DNS|IP):(.*)$/.exec(name) ?? [];
  if (value === undefined) throw new RangeError(`${name} is not a subject alternative name`);
  return prefix === 'IP' ? { type: 7, ip: value } : { type: 2, value };
}
