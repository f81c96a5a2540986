import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { alternativeNames } from '../../src/server/client-certificates.js';
import { serverLimits, startWebServer, type ServerLimits, type WebServer } from '../../src/server/server.js';
import { loadWebConfig } from '../../src/server/web-config-files.js';
import { createAuthority } from '../support/certificates.js';
import { rawClient, requestText } from './clients.js';

/*
 * TLS by a web configuration file, over real handshakes.
 */
const authority = createAuthority();
const certificate = authority.issue('localhost', ['DNS:localhost', 'IP:127.0.0.1']);
const pair = `cert_file: ${certificate.certFile}, key_file: ${certificate.keyFile}`;

let servers: WebServer[] = [];

afterEach(async () => {
  await Promise.all(servers.map(async (server) => server.close()));
  servers = [];
});

interface Started {
  readonly url: string;
  readonly file: string;
  /** Lines of the log so far. */
  readonly logged: readonly string[];
  readonly server: WebServer;
}

async function start(tls: string, limits: Partial<ServerLimits> = {}): Promise<Started> {
  const file = join(mkdtempSync(join(tmpdir(), 'tls-')), 'web.yml');
  writeFileSync(file, tls);
  const loaded = await loadWebConfig(file);
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  const logged: string[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(line) });
  const server = await startWebServer(
    (_request, response) => response.end('served'),
    { host: '127.0.0.1', port: 0 },
    { log, webConfig: loaded.file, limits: { ...serverLimits, drainMs: 300, ...limits } },
  );
  servers.push(server);
  return { url: server.url, file, logged, server };
}

const serve = async (keys: string, limits?: Partial<ServerLimits>): Promise<Started> =>
  start(`tls_server_config: {${pair}${keys === '' ? '' : `, ${keys}`}}`, limits);

interface Shaken {
  readonly socket: TLSSocket;
  readonly protocol: string | null;
  readonly answer: string;
}

/** Shakes hands and asks; what goes wrong on the way is thrown, an end without an answer as well. */
async function ask(url: string, options: ConnectionOptions = {}): Promise<Shaken> {
  const { port } = new URL(url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', ca: authority.cert, ...options });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'secureConnect');
  const protocol = socket.getProtocol();
  socket.write(requestText('/', { Connection: 'close' }));
  await once(socket, 'close');
  const answer = Buffer.concat(chunks).toString();
  if (!answer.endsWith('served')) throw new Error(`not served: ${answer}`);
  return { socket, protocol, answer };
}

async function isServed(url: string, options?: ConnectionOptions): Promise<boolean> {
  return ask(url, options).then(
    () => true,
    () => false,
  );
}

describe('a handshake', () => {
  it('shows the certificate, and serves HTTP/1.1 to whoever offers HTTP/2 as well', async () => {
    const { url } = await serve('');
    expect(url).toMatch(/^https:/);
    const { socket, protocol } = await ask(url, { ALPNProtocols: ['h2', 'http/1.1'] });
    expect(socket.authorized).toBe(true);
    expect(socket.alpnProtocol).toBe('http/1.1');
    expect(protocol).toBe('TLSv1.3');
  });

  it.each<[keys: string, options: ConnectionOptions, isGood: boolean]>([
    ['', { maxVersion: 'TLSv1.2' }, true],
    ['', { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }, false],
    ['min_version: TLS10', { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }, true],
    ['min_version: TLS11', { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }, true],
    ['min_version: TLS11', { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }, false],
    ['min_version: TLS13', { maxVersion: 'TLSv1.2' }, false],
    ['max_version: TLS12', { minVersion: 'TLSv1.3' }, false],
    ['max_version: TLS12', {}, true],
    [
      'cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]',
      { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES256-GCM-SHA384' },
      false,
    ],
    [
      'cipher_suites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]',
      { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES256-GCM-SHA384' },
      true,
    ],
    ['cipher_suites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]', { minVersion: 'TLSv1.3' }, true],
    ['cipher_suites: [TLS_AES_128_GCM_SHA256]', { maxVersion: 'TLSv1.2' }, false],
    ['curve_preferences: [CurveP384]', { ecdhCurve: 'X25519' }, false],
    ['curve_preferences: [CurveP384]', { ecdhCurve: 'X25519:P-384' }, true],
  ])('with %s, from a client with %j', async (keys, options, isGood) => {
    const { url } = await serve(keys);
    expect(await isServed(url, options)).toBe(isGood);
  });

  it('takes the order of the server, unless told otherwise', async () => {
    const suites = 'cipher_suites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]';
    const client: ConnectionOptions = {
      maxVersion: 'TLSv1.2',
      ciphers: 'ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384',
    };
    const chosen = async (keys: string): Promise<string> => {
      const { url } = await serve(keys);
      const { port } = new URL(url);
      const socket = connect({ port: Number(port), host: '127.0.0.1', ca: authority.cert, ...client });
      await once(socket, 'secureConnect');
      const { name } = socket.getCipher();
      socket.destroy();
      return name;
    };
    expect(await chosen(suites)).toBe('ECDHE-RSA-AES256-GCM-SHA384');
    expect(await chosen(`${suites}, prefer_server_cipher_suites: false`)).toBe('ECDHE-RSA-AES128-GCM-SHA256');
  });
});

describe('client certificates', () => {
  const known = authority.issue('prometheus', ['DNS:prometheus.example.org', 'IP:10.0.0.1', 'IP:2001:db8::1']);
  const otherName = authority.issue('other', ['DNS:other.example.org', 'URI:spiffe://a/b', 'email:a@example.org']);
  const nameless = authority.issue('prometheus.example.org');
  const strange = createAuthority('strange authority').issue('prometheus', ['DNS:prometheus.example.org']);
  const ca = `client_ca_file: ${authority.certFile}`;

  it.each([
    ['NoClientCert', '', [true, true, true]],
    ['RequestClientCert', ca, [true, true, true]],
    ['RequireAnyClientCert', ca, [false, true, true]],
    ['RequireClientCert', ca, [false, true, true]],
    ['VerifyClientCertIfGiven', ca, [true, true, false]],
    ['RequireAndVerifyClientCert', ca, [false, true, false]],
    ['RequireAndVerifyClientCert', '', [false, false, false]],
  ] as const)('%s with %j lets in none, a good one, a strange one: %j', async (type, authorities, expected) => {
    const { url } = await serve(`client_auth_type: ${type}${authorities === '' ? '' : `, ${authorities}`}`);
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const results = await Promise.all(
        [{}, known, strange].map(async (client) => isServed(url, { ...client, maxVersion: version })),
      );
      expect(results, version).toEqual(expected);
    }
  });

  it.each([
    ['[prometheus.example.org]', [true, false, false]],
    ['[10.0.0.1]', [true, false, false]],
    ['["2001:db8::1"]', [true, false, false]],
    ['["spiffe://a/b"]', [false, true, false]],
    ['[a@example.org]', [false, true, false]],
    ['[nobody, other.example.org, prometheus.example.org]', [true, true, false]],
    ['["*.example.org"]', [false, false, false]],
  ])('with client_allowed_sans %s, who has one of the names: %j', async (names, expected) => {
    const { url } = await serve(`client_auth_type: RequireAndVerifyClientCert, ${ca}, client_allowed_sans: ${names}`);
    const results = await Promise.all([known, otherName, nameless].map(async (client) => isServed(url, { ...client })));
    expect(results).toEqual(expected);
    expect(await isServed(url, { ...strange })).toBe(false);
  });

  it('names that hold commas and quotes do not pass for several', () => {
    expect(alternativeNames('DNS:a.example, IP Address:10.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1')).toEqual([
      'a.example',
      '10.0.0.1',
      '2001:db8::1',
    ]);
    expect(alternativeNames(String.raw`URI:"http://a/\u002c DNS:b", email:c@d`)).toEqual(['http://a/, DNS:b', 'c@d']);
    expect(alternativeNames('')).toEqual([]);
  });
});

describe('files that change', () => {
  const second = authority.issue('second', ['DNS:localhost', 'IP:127.0.0.1']);

  async function subject(url: string): Promise<string> {
    const { port } = new URL(url);
    const socket = connect({ port: Number(port), host: '127.0.0.1', ca: authority.cert });
    await once(socket, 'secureConnect');
    const name = String(socket.getPeerCertificate().subject.CN);
    socket.destroy();
    return name;
  }

  async function becomes(value: () => Promise<unknown>, wanted: unknown): Promise<void> {
    while ((await value()) !== wanted) await sleep(50);
  }

  it('a renewed certificate is shown to the next client, also by way of a link, and a half renewed one is not', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'renewed-'));
    const [crt, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
    symlinkSync(certificate.certFile, crt);
    writeFileSync(key, certificate.key);
    const { url, logged } = await start(`tls_server_config: {cert_file: ${crt}, key_file: ${key}}`);
    expect(await subject(url)).toBe('localhost');

    symlinkSync(second.certFile, `${crt}.new`);
    renameSync(`${crt}.new`, crt);
    await becomes(async () => logged.length, 1);
    expect(logged[0]).toContain('is not the key of the certificate');
    expect(await subject(url)).toBe('localhost');
    await sleep(1_500);
    expect(logged.length, 'said once').toBe(1);

    writeFileSync(key, second.key);
    await becomes(async () => subject(url), 'second');
    rmSync(key);
    await becomes(async () => logged.length, 3);
    expect(logged[2]).toContain('ENOENT');
    expect(await subject(url)).toBe('second');
    expect(logged.join('')).not.toContain('PRIVATE');
  });

  it('a connection goes on with what it began with', async () => {
    const { url, file } = await serve('');
    const { port } = new URL(url);
    const socket = connect({ port: Number(port), host: '127.0.0.1', ca: authority.cert });
    await once(socket, 'secureConnect');
    writeFileSync(file, `tls_server_config: {cert_file: ${second.certFile}, key_file: ${second.keyFile}}`);
    await becomes(async () => subject(url), 'second');
    socket.write(requestText('/', { Connection: 'close' }));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  it('another authority of clients holds from the next handshake on', async () => {
    const others = createAuthority('others');
    const [ours, theirs] = [authority.issue('ours'), others.issue('theirs')];
    const keys = (ca: string): string => `client_auth_type: RequireAndVerifyClientCert, client_ca_file: ${ca}`;
    const { url, file } = await serve(keys(authority.certFile));
    expect([await isServed(url, { ...ours }), await isServed(url, { ...theirs })]).toEqual([true, false]);
    writeFileSync(file, `tls_server_config: {${pair}, ${keys(others.certFile)}}`);
    await becomes(async () => isServed(url, { ...theirs }), true);
    expect(await isServed(url, { ...ours })).toBe(false);
  });

  it('users, headers and limits hold from the next request on', async () => {
    const { url, file } = await serve('');
    const rules = 'http_server_config: {headers: {X-XSS-Protection: "0"}}\nrate_limit: {interval: 1h, burst: 1}';
    writeFileSync(file, `tls_server_config: {${pair}}\n${rules}`);
    await becomes(async () => ask(url).then(({ answer }) => answer.includes('X-XSS-Protection: 0')), true);
    expect(await isServed(url), 'the one request of the hour is made').toBe(false);
  });

  it.each([
    ['', 'TLS is switched on or off at the next start only'],
    [
      `tls_server_config: {${pair}, client_auth_type: RequireAndVerifyClientCert}`,
      'client_auth_type changes fully at the next start only',
    ],
  ])('what cannot change says so, and nobody gets in by it: %j', async (text, warning) => {
    const { url, file, logged } = await serve(`client_auth_type: RequireAnyClientCert`);
    writeFileSync(file, text);
    await becomes(async () => logged.length, 2);
    expect(logged[1]).toContain(warning);
    expect(await isServed(url)).toBe(false);
  });

  it('a certificate that is asked for only since the file changed locks out rather than lets in', async () => {
    const { url, file, logged } = await serve('');
    const keys = `client_auth_type: RequireAndVerifyClientCert, client_ca_file: ${authority.certFile}`;
    writeFileSync(file, `tls_server_config: {${pair}, ${keys}}`);
    await becomes(async () => logged.length, 2);
    expect(await isServed(url)).toBe(false);
    expect(await isServed(url, { ...authority.issue('client') })).toBe(false);
  });
});

describe('clients that misbehave', () => {
  it('plain HTTP is closed without a word', async () => {
    const { url, logged } = await serve('');
    const client = await rawClient(url, requestText('/'));
    expect(await client.closed).not.toContain('HTTP/1.1 2');
    expect(await isServed(url)).toBe(true);
    expect(logged).toEqual([]);
  });

  it('two hundred broken handshakes at once harm nobody', async () => {
    const { url } = await serve('client_auth_type: RequireAnyClientCert');
    const kinds = ['', 'nonsense\r\n\r\n', '\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00', '\x16\x03\x01\xff\xff'];
    const clients = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => rawClient(url, kinds[index % kinds.length])),
    );
    for (const { socket } of clients) socket.resetAndDestroy();
    expect(await isServed(url, { ...authority.issue('client') })).toBe(true);
  });

  it('a handshake that does not come on is cut off', async () => {
    const { url } = await serve('', { handshakeMs: 200 });
    const client = await rawClient(url);
    expect(await client.closed).toBe('');
  });

  it('does not hold up the end, shaken hands or not', async () => {
    const { url, server } = await serve('', { drainMs: 10_000 });
    const { port } = new URL(url);
    const half = connectTcp(Number(port), '127.0.0.1');
    const idle = connect({ port: Number(port), host: '127.0.0.1', ca: authority.cert });
    for (const socket of [half, idle]) socket.on('error', () => undefined);
    await Promise.all([once(half, 'connect'), once(idle, 'secureConnect')]);
    await sleep(50);
    const began = performance.now();
    const ended = Promise.all([half, idle].map(async (socket) => once(socket.resume(), 'close')));
    await server.close();
    expect(performance.now() - began).toBeLessThan(1_000);
    await ended;
  });
});
