import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerOptions } from 'node:https';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from 'vitest';
import { hasTool } from '../support/tools.js';
import { createAuthority, type Certificate } from '../support/certificates.js';
import { client, folder, outcome, startNode, type Node } from './nodes.js';

const authority = createAuthority();
const stranger = createAuthority('another authority');
const here = authority.issue('node', ['IP:127.0.0.1', 'DNS:node.example']);
const elsewhere = authority.issue('other', ['DNS:node.example', 'IP:192.0.2.1']);
const visitor = authority.issue('exporter');
const impostor = stranger.issue('exporter');

const nodes: Node[] = [];

afterAll(async () => {
  await client.close();
  await Promise.all(nodes.map((node) => node.close()));
});

async function serve({ cert, key }: Certificate, options: ServerOptions = {}): Promise<Node> {
  const node = await startNode({ tls: { cert, key, ...options } });
  nodes.push(node);
  return node;
}

/** Node.js hangs up on strangers without a word, which no other server does. */
async function openSslServer(version: string): Promise<{ url: string; stop: () => void }> {
  const own = ['-cert', here.certFile, '-key', here.keyFile];
  const asking = ['-CAfile', authority.certFile, '-Verify', '1', '-verify_return_error'];
  const server = spawn('openssl', ['s_server', '-accept', '127.0.0.1:0', '-www', version, ...own, ...asking]);
  for await (const line of createInterface({ input: server.stdout })) {
    const [, address] = /^ACCEPT (\S+)$/.exec(line) ?? [];
    if (address !== undefined) return { url: `https://${address}`, stop: () => server.kill() };
  }
  throw new Error('openssl serves no address');
}

const hasOpenSsl = hasTool('openssl', ['version']);

type Keys = Readonly<Record<string, unknown>>;

const trusting = { ca_file: authority.certFile };

describe("the certificate of a node's https address", () => {
  it('is good for nothing when nobody known has signed it', async () => {
    const { url } = await serve(here);
    const refused = /^tls: \/state could not be asked: unable to verify the first certificate$/;
    expect(await outcome(url, {})).toMatch(refused);
    expect(await outcome(url, { tls_config: {} })).toMatch(refused);
    expect(await outcome(url, { tls_config: { ca: stranger.cert } })).toMatch(refused);
  });

  it.each<[string, Keys]>([
    ['in a file', { ca_file: authority.certFile }],
    ['as text', { ca: authority.cert }],
    ['among others', { ca: `# two of them\n${stranger.cert}\n${authority.cert}` }],
  ])('is good when its authority is trusted, %s', async (_title, tls) => {
    const { url } = await serve(here);
    expect(await outcome(url, { tls_config: tls })).toBe('ok');
  });

  it.each<[string, Certificate, Keys, string | RegExp]>([
    ['of another name', elsewhere, trusting, /^tls: .*altnames/],
    ['of the name that is asked for', elsewhere, { ...trusting, server_name: 'node.example' }, 'ok'],
    ['of the address that is asked for', elsewhere, { ...trusting, server_name: '192.0.2.1' }, 'ok'],
    ['of another name than asked for', here, { ...trusting, server_name: 'www.example' }, /^tls: .*www\.example/],
    ['that has ended', authority.expire(here), trusting, /^tls: .*certificate has expired/],
    ['that has ended, when any will do', authority.expire(elsewhere), { insecure_skip_verify: true }, 'ok'],
  ])('%s', async (_title, certificate, tls, expected) => {
    const { url } = await serve(certificate);
    expect(await outcome(url, { tls_config: tls })).toMatch(expected);
  });

  it('is checked against the name of the node, also in the indication a node with many names goes by', async () => {
    const names: string[] = [];
    const { url } = await serve(here, {
      SNICallback: (name, callback) => {
        names.push(name);
        callback(null);
      },
    });
    expect(await outcome(url, { tls_config: { ...trusting, server_name: 'node.example' } })).toBe('ok');
    expect(names).toEqual(['node.example']);
  });

  it('is good as soon as the file of its authority is right', async () => {
    const file = join(folder, 'ca.crt');
    const { url } = await serve(here);
    const keys = { tls_config: { ca_file: 'ca.crt' } };
    writeFileSync(file, 'to come');
    expect(await outcome(url, keys)).toBe(`bad_request: /state was not asked: ${file} contains no PEM certificate`);
    writeFileSync(file, stranger.cert);
    expect(await outcome(url, keys)).toMatch(/^tls: /);
    writeFileSync(file, authority.cert);
    expect(await outcome(url, keys)).toBe('ok');
    writeFileSync(file, stranger.cert);
    expect(await outcome(url, keys)).toMatch(/^tls: /);
  });
});

describe('a node that asks for a certificate', () => {
  const asking = { requestCert: true, rejectUnauthorized: true, ca: authority.cert };
  const files = { cert_file: visitor.certFile, key_file: visitor.keyFile };

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('refuses who has none, in %s', async (version) => {
    const { url } = await serve(here, { ...asking, minVersion: version, maxVersion: version });
    expect(await outcome(url, { tls_config: trusting })).toMatch(/^tls: \/state could not be asked: /);
    expect(await outcome(url, { tls_config: { ...trusting, ...files } })).toBe('ok');
  });

  it('takes one that is in the configuration', async () => {
    const { url } = await serve(here, asking);
    expect(await outcome(url, { tls_config: { ...trusting, cert: visitor.cert, key: visitor.key } })).toBe('ok');
  });

  it.skipIf(!hasOpenSsl).each(['-tls1_2', '-tls1_3'])('refuses one of a stranger, with %s', async (version) => {
    const { url, stop } = await openSslServer(version);
    const of = ({ certFile, keyFile }: Certificate) => ({ ...trusting, cert_file: certFile, key_file: keyFile });
    expect(await outcome(url, { tls_config: of(impostor) })).toMatch(/^tls: .*alert unknown ca/);
    expect(await outcome(url, { tls_config: of(visitor) })).toBe('ok');
    stop();
  });

  it('is asked with the new one once the files were replaced', async () => {
    const { url } = await serve(here, { ...asking, maxVersion: 'TLSv1.2' });
    const write = ({ cert, key }: Certificate): void => {
      writeFileSync(join(folder, 'own.crt'), cert);
      writeFileSync(join(folder, 'own.key'), key);
    };
    const keys = { tls_config: { ...trusting, cert_file: 'own.crt', key_file: 'own.key' } };
    write(impostor);
    expect(await outcome(url, keys)).not.toBe('ok');
    write(visitor);
    expect(await outcome(url, keys)).toBe('ok');
    writeFileSync(join(folder, 'own.key'), impostor.key);
    expect(await outcome(url, keys)).toBe(
      'bad_request: /state was not asked: the private key does not match the certificate',
    );
    writeFileSync(join(folder, 'own.key'), 'half a key');
    expect(await outcome(url, keys)).toBe(
      `bad_request: /state was not asked: ${join(folder, 'own.key')} contains no unencrypted PEM private key`,
    );
  });
});

describe('versions of TLS', () => {
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;

  it.each<[string, ServerOptions, Keys, RegExp]>([
    ['too old for the configuration', { maxVersion: 'TLSv1.2' }, { min_version: 'TLS13' }, /^tls: .*version/],
    ['too new for it', { minVersion: 'TLSv1.3' }, { max_version: 'TLS12' }, /^tls: .*version/],
    ['old, and not asked for', old, {}, /^tls: .*(?:version|protocol)/],
    ['old, and asked for', old, { min_version: 'TLS11' }, /^ok$/],
    ['of 1999, and asked for', { ...old, maxVersion: 'TLSv1' }, { min_version: 'TLS10', max_version: 'TLS11' }, /^ok$/],
    ['new, where old ones would do as well', { minVersion: 'TLSv1.3' }, { min_version: 'TLS10' }, /^ok$/],
  ])('%s', async (_title, options, versions, expected) => {
    const { url } = await serve(here, options);
    expect(await outcome(url, { tls_config: { ...trusting, ...versions } })).toMatch(expected);
  });
});
