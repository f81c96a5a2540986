import { spawn } from 'node:child_process';
import type { ServerOptions } from 'node:https';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, vi } from 'vitest';
import { createAuthority, type Certificate } from '../support/certificates.js';
import { hasTool } from '../support/tools.js';
import { folder, outcome, startNode, type Node } from './nodes.js';

const authority = createAuthority();
const otherAuthority = createAuthority('another authority');
const NAMES = ['IP:127.0.0.1', 'DNS:node.example'];
const OTHER_NAMES = ['DNS:node.example', 'IP:192.0.2.1'];
const EXPIRED = { isExpired: true };
const nodeCertificate = authority.issue('node', NAMES);
const otherNameCertificate = authority.issue('other', OTHER_NAMES);
const clientCertificate = authority.issue('exporter');
const untrustedClientCertificate = otherAuthority.issue('exporter');

async function serve({ cert, key }: Certificate, options: ServerOptions = {}): Promise<Node> {
  return startNode({ tls: { cert, key, ...options } });
}

/** Starts an OpenSSL server, which rejects a client certificate with an alert. A Node.js server closes the connection without one. */
async function openSslServer(version: string): Promise<{ url: string; stop: () => void }> {
  const certificate = ['-cert', nodeCertificate.certFile, '-key', nodeCertificate.keyFile];
  const verification = ['-CAfile', authority.certFile, '-Verify', '1', '-verify_return_error'];
  const server = spawn('openssl', [
    's_server',
    '-accept',
    '127.0.0.1:0',
    '-www',
    version,
    ...certificate,
    ...verification,
  ]);
  for await (const line of createInterface({ input: server.stdout })) {
    const [, address] = /^ACCEPT (\S+)$/.exec(line) ?? [];
    if (address !== undefined) return { url: `https://${address}`, stop: () => server.kill() };
  }
  throw new Error('openssl serves no address');
}

const hasOpenSsl = hasTool('openssl', ['version']);

type Keys = Readonly<Record<string, unknown>>;

const trusting = { ca_file: authority.certFile };

describe('the certificate of a node', () => {
  it('is rejected when its authority is not trusted', async () => {
    const { url } = await serve(nodeCertificate);
    const rejected = /^tls: \/state: request failed: unable to verify the first certificate$/;
    expect(await outcome(url, {})).toMatch(rejected);
    expect(await outcome(url, { tls_config: { ca_file: otherAuthority.certFile } })).toMatch(rejected);
    const bundle = folder.write('bundle.crt', `# two of them\n${otherAuthority.cert}\n${authority.cert}`);
    expect(await outcome(url, { tls_config: { ca_file: bundle } })).toBe('ok');
  });

  it.each<[string, Certificate, Keys, string | RegExp]>([
    ['is rejected for another name', otherNameCertificate, trusting, /^tls: .*altnames/],
    [
      'is accepted for the name in server_name',
      otherNameCertificate,
      { ...trusting, server_name: 'node.example' },
      'ok',
    ],
    [
      'is rejected for another name than server_name',
      nodeCertificate,
      { ...trusting, server_name: 'www.example' },
      /^tls: .*www\.example/,
    ],
    [
      'is rejected after its expiry',
      authority.issue('node', NAMES, EXPIRED),
      trusting,
      /^tls: .*certificate has expired/,
    ],
    [
      'is accepted after its expiry with insecure_skip_verify',
      authority.issue('other', OTHER_NAMES, EXPIRED),
      { insecure_skip_verify: true },
      'ok',
    ],
  ])('%s', async (_title, certificate, tls, expected) => {
    const { url } = await serve(certificate);
    expect(await outcome(url, { tls_config: tls })).toMatch(expected);
  });

  it('is rejected with and without tls_config when NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
    const { url } = await serve(nodeCertificate);
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    expect(await outcome(url, {})).toMatch(/^tls: /);
    expect(await outcome(url, { tls_config: { server_name: 'a' } })).toMatch(/^tls: /);
    vi.unstubAllEnvs();
  });

  it('is missing on a port that uses plain HTTP', async () => {
    const node = await startNode();
    const { port } = new URL(node.url);
    const expected = /^tls: \/state: request failed: .*(?:wrong version number|packet length too long)/;
    expect(await outcome(`https://127.0.0.1:${port}`, {})).toMatch(expected);
    expect(await outcome(`https://127.0.0.1:${port}`, { tls_config: { insecure_skip_verify: true } })).toMatch(
      expected,
    );
  });

  it('is accepted as soon as the CA file is corrected', async () => {
    const { url } = await serve(nodeCertificate);
    const keys = { tls_config: { ca_file: 'ca.crt' } };
    const file = folder.write('ca.crt', 'to come');
    expect(await outcome(url, keys)).toBe(
      `bad_request: /state: invalid configuration: ${file} cannot be read as PEM certificates: error:0480006C:PEM routines::no start line`,
    );
    folder.write('ca.crt', otherAuthority.cert);
    expect(await outcome(url, keys)).toMatch(/^tls: /);
    folder.write('ca.crt', authority.cert);
    expect(await outcome(url, keys)).toBe('ok');
    folder.write('ca.crt', otherAuthority.cert);
    expect(await outcome(url, keys)).toMatch(/^tls: /);
  });
});

describe('a node that requires a client certificate', () => {
  const mutualTls = { requestCert: true, rejectUnauthorized: true, ca: authority.cert };
  const files = { cert_file: clientCertificate.certFile, key_file: clientCertificate.keyFile };

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('rejects requests without one, with %s', async (version) => {
    const { url } = await serve(nodeCertificate, { ...mutualTls, minVersion: version, maxVersion: version });
    expect(await outcome(url, { tls_config: trusting })).toMatch(/^tls: \/state: request failed: /);
    expect(await outcome(url, { tls_config: { ...trusting, ...files } })).toBe('ok');
  });

  it.skipIf(!hasOpenSsl).each(['-tls1_2', '-tls1_3'])(
    'rejects a certificate of another authority, with %s',
    async (version) => {
      const { url, stop } = await openSslServer(version);
      const of = ({ certFile, keyFile }: Certificate) => ({ ...trusting, cert_file: certFile, key_file: keyFile });
      expect(await outcome(url, { tls_config: of(untrustedClientCertificate) })).toMatch(/^tls: .*alert unknown ca/);
      expect(await outcome(url, { tls_config: of(clientCertificate) })).toBe('ok');
      stop();
    },
  );

  it('receives the new certificate after the files are replaced', async () => {
    const { url } = await serve(nodeCertificate, { ...mutualTls, maxVersion: 'TLSv1.2' });
    const write = ({ cert, key }: Certificate): void => {
      folder.write('own.crt', cert);
      folder.write('own.key', key);
    };
    const keys = { tls_config: { ...trusting, cert_file: 'own.crt', key_file: 'own.key' } };
    write(untrustedClientCertificate);
    expect(await outcome(url, keys)).not.toBe('ok');
    write(clientCertificate);
    expect(await outcome(url, keys)).toBe('ok');
    folder.write('own.key', untrustedClientCertificate.key);
    expect(await outcome(url, keys)).toBe(
      `bad_request: /state: invalid configuration: ${join(folder.path, 'own.key')} is not the key of the certificate`,
    );
    folder.write('own.key', 'half a key');
    expect(await outcome(url, keys)).toBe(
      `bad_request: /state: invalid configuration: ${join(folder.path, 'own.key')} contains no unencrypted PEM private key`,
    );
  });
});
