import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkCertificates, createFileReader, readKeyPair } from '../../src/config/text-files.js';
import type { PathMessage } from '../../src/config/text-files.js';
import { createAuthority } from '../support/certificates.js';
import { createTempFolder } from '../support/temp-folder.js';

const authority = createAuthority();
const certificate = authority.issue('exporter');
const folder = createTempFolder();

/** A PEM block that is well-formed, with other contents. */
const damaged = authority.cert.replace('\n', '\nhunter2!');
const truncated = authority.cert.slice(0, 300);

test.each([
  ['one certificate', authority.cert],
  ['several, with text between them', `the root\n${authority.cert}\nissued\n${certificate.cert}`],
  ['one with its key', certificate.key + certificate.cert],
])('certificates can be %s', (_title, pem) => {
  expect(checkCertificates(pem)).toBeUndefined();
});

test.each([
  ['text', 'hunter2', 'no start line'],
  ['a key', certificate.key, 'no start line'],
  ['a damaged certificate', damaged, 'bad base64 decode'],
  ['a truncated certificate', truncated, 'bad end line'],
  // As the `ca` of a connection, the second certificate would be ignored.
  ['a damaged certificate after a valid one', authority.cert + damaged, 'bad base64 decode'],
  ['a truncated certificate after a valid one', authority.cert + truncated, 'bad end line'],
])('certificates cannot be %s', (_title, pem, reason) => {
  const problem = checkCertificates(pem);
  expect(problem).toMatch(new RegExp(`^cannot be read as PEM certificates: error:.*:${reason}$`));
  expect(problem).not.toContain('hunter2');
});

/** The problems of a certificate with this text of its key. */
async function pairProblems(key: string, cert = certificate.cert): Promise<readonly string[]> {
  const files = { cert_file: folder.write('own.crt', cert), key_file: folder.write('own.key', key) };
  const problems: PathMessage[] = [];
  await readKeyPair(files, [], createFileReader(problems), problems);
  return problems.map(({ path, message }) => `${path.join('.')}: ${message.replace(`${folder.path}/`, '')}`);
}

test('a private key has to be the unencrypted key of the first certificate', async () => {
  expect(await pairProblems(certificate.key)).toEqual([]);
  expect(await pairProblems(certificate.key, certificate.cert + authority.cert)).toEqual([]);
  const encrypted = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'hunter2' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  for (const key of ['half a key', encrypted.privateKey, certificate.cert]) {
    expect(await pairProblems(key)).toEqual(['key_file: own.key contains no unencrypted PEM private key']);
  }
  for (const cert of [authority.cert, authority.cert + certificate.cert]) {
    expect(await pairProblems(certificate.key, cert)).toEqual(['key_file: own.key is not the key of the certificate']);
  }
});
