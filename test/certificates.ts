import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate with its key, as PEM text and as the files it is in. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export interface Authority extends Certificate {
  /** `names` as in `DNS:localhost`, `IP:127.0.0.1`, `URI:spiffe://a/b`, `email:a@example.org`. */
  readonly issue: (commonName: string, names?: readonly string[]) => Certificate;
  /** The same certificate as one that ended yesterday. */
  readonly expire: (certificate: Certificate) => Certificate;
}

/** An authority of its own, made by the openssl program when the test runs, so that no key is checked in and none expires. */
export function createAuthority(commonName = 'test authority'): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'authority-'));
  const own = issue(folder, 'ca', commonName, ['-addext', 'basicConstraints=critical,CA:TRUE']);
  let issued = 0;
  return {
    ...own,
    issue: (name, names = []) => {
      issued += 1;
      const signed = ['-CA', own.certFile, '-CAkey', own.keyFile, '-addext', 'basicConstraints=critical,CA:FALSE'];
      const alternative = names.length === 0 ? [] : ['-addext', `subjectAltName=${names.join(',')}`];
      return issue(folder, `issued-${issued}`, name, [...signed, ...alternative]);
    },
    expire: (certificate) => expire(certificate, own),
  };
}

function issue(folder: string, file: string, commonName: string, extra: readonly string[]): Certificate {
  const [certFile, keyFile] = [join(folder, `${file}.crt`), join(folder, `${file}.key`)];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc', '-keyout', keyFile];
  const subject = ['-subj', `/CN=${commonName}`, '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...key, ...subject, '-out', certFile, ...extra], { stdio: 'pipe' });
  return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8'), certFile, keyFile };
}

function expire({ key, certFile, keyFile }: Certificate, authority: Certificate): Certificate {
  const [requestFile, expiredFile] = [`${certFile}.csr`, `${certFile}.expired`];
  const copied = ['-copy_extensions', 'copyall'];
  const asked = ['-x509toreq', '-in', certFile, '-signkey', keyFile, ...copied, '-out', requestFile];
  execFileSync('openssl', ['x509', ...asked], { stdio: 'pipe' });
  const signed = ['-in', requestFile, '-CA', authority.certFile, '-CAkey', authority.keyFile, '-days', '-1'];
  execFileSync('openssl', ['x509', '-req', ...signed, ...copied, '-out', expiredFile], { stdio: 'pipe' });
  return { cert: readFileSync(expiredFile, 'utf8'), key, certFile: expiredFile, keyFile };
}
