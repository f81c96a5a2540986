import { once } from 'node:events';
import { renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type ConnectionOptions } from 'node:tls';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ServerLimits, WebServer } from '../../src/server/server.js';
import { createAuthority } from '../support/certificates.js';
import { createTempFolder } from '../support/temp-folder.js';
import { waitUntil } from '../support/wait-for.js';
import { rawClient, requestText } from './clients.js';
import { serve, webConfigOf } from './test-app.js';

/*
 * TLS as configured by a web configuration file, over real handshakes.
 */
const folder = createTempFolder();
const authority = createAuthority();
const certificate = authority.issue('localhost', ['DNS:localhost', 'IP:127.0.0.1']);
/** A client certificate that the authority has issued. */
const known = authority.issue('prometheus');
const pair = `cert_file: ${certificate.certFile}, key_file: ${certificate.keyFile}`;

afterEach(() => void vi.useRealTimers());

interface Started {
  readonly url: string;
  readonly file: string;
  /** Lines of the log so far. */
  readonly logged: readonly string[];
  readonly server: WebServer;
}

async function start(tls: string, limits: Partial<ServerLimits> = {}): Promise<Started> {
  const webConfig = await webConfigOf(tls);
  const logged: string[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(line) });
  const server = await serve((_request, response) => response.end('served'), { log, webConfig, limits });
  return { url: server.url, file: webConfig.path, logged, server };
}

const startTls = async (keys: string, limits?: Partial<ServerLimits>): Promise<Started> =>
  start(`tls_server_config: {${pair}${keys === '' ? '' : `, ${keys}`}}`, limits);

/** Sends a request after the handshake. Rejects without a complete response. */
async function fetchOver(url: string, options: ConnectionOptions = {}) {
  const { port } = new URL(url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', ca: authority.cert, ...options });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'secureConnect');
  const protocol = socket.getProtocol();
  socket.write(requestText('/', { Connection: 'close' }));
  await once(socket, 'close');
  const response = Buffer.concat(chunks).toString();
  if (!response.endsWith('served')) throw new Error(`not served: ${response}`);
  return { socket, protocol };
}

async function isServed(url: string, options?: ConnectionOptions): Promise<boolean> {
  return fetchOver(url, options).then(
    () => true,
    () => false,
  );
}

describe('a handshake', () => {
  it('presents the certificate and selects HTTP/1.1 for a client that also offers HTTP/2', async () => {
    const { url } = await startTls('');
    expect(url).toMatch(/^https:/);
    const { socket, protocol } = await fetchOver(url, { ALPNProtocols: ['h2', 'http/1.1'] });
    expect(socket.authorized).toBe(true);
    expect(socket.alpnProtocol).toBe('http/1.1');
    expect(protocol).toBe('TLSv1.3');
  });

  it.each<[keys: string, options: ConnectionOptions, isGood: boolean]>([
    ['', { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }, false],
    ['min_version: TLS10', { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }, true],
    ['min_version: TLS11', { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }, true],
    ['min_version: TLS11', { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }, false],
    ['min_version: TLS13', { maxVersion: 'TLSv1.2' }, false],
    ['max_version: TLS12', { minVersion: 'TLSv1.3' }, false],
  ])('with the setting %s and the client options %j: accepted %s', async (keys, options, isGood) => {
    const { url } = await startTls(keys);
    expect(await isServed(url, options)).toBe(isGood);
  });
});

describe('client certificates', () => {
  const untrusted = createAuthority('untrusted authority').issue('prometheus');
  const ca = `client_ca_file: ${authority.certFile}`;

  it.each([
    ['NoClientCert', '', [true, true, true]],
    ['RequireAndVerifyClientCert', ca, [false, true, false]],
  ] as const)(
    '%s with %j accepts no certificate, a trusted one, an untrusted one: %j',
    async (type, authorities, expected) => {
      const { url } = await startTls(`client_auth_type: ${type}${authorities === '' ? '' : `, ${authorities}`}`);
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        const results = await Promise.all(
          [{}, known, untrusted].map(async (client) => isServed(url, { ...client, maxVersion: version })),
        );
        expect(results, version).toEqual(expected);
      }
    },
  );
});

describe('changed files', () => {
  // The files are read again at once.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));

  const waitForChecks = async (isMet: () => boolean | Promise<boolean>): Promise<void> =>
    waitUntil(async () => {
      vi.advanceTimersByTime(2_300);
      return isMet();
    });

  /** Nothing shows that a check has found no change. */
  async function someChecks(): Promise<void> {
    let checks = 0;
    await waitForChecks(() => (checks += 1) > 5);
  }

  const others = createAuthority('others');
  const second = authority.issue('second', ['DNS:localhost', 'IP:127.0.0.1']);

  async function subject(url: string): Promise<string> {
    const { port } = new URL(url);
    const socket = connect({ port: Number(port), host: '127.0.0.1', ca: authority.cert });
    await once(socket, 'secureConnect');
    const name = String(socket.getPeerCertificate().subject.CN);
    socket.destroy();
    return name;
  }

  it('are reloaded once certificate and key match, also when a symbolic link was replaced', async () => {
    const crt = join(folder.path, 'tls.crt');
    symlinkSync(certificate.certFile, crt);
    const key = folder.write('tls.key', certificate.key);
    const { url, logged } = await start(`tls_server_config: {cert_file: ${crt}, key_file: ${key}}`);
    expect(await subject(url)).toBe('localhost');

    symlinkSync(second.certFile, `${crt}.new`);
    renameSync(`${crt}.new`, crt);
    await waitForChecks(() => logged.length === 1);
    expect(logged[0]).toContain('is not the key of the certificate');
    expect(await subject(url)).toBe('localhost');
    await someChecks();
    expect(logged.length, 'logged once').toBe(1);

    writeFileSync(key, second.key);
    await waitForChecks(async () => (await subject(url)) === 'second');
    rmSync(key);
    await waitForChecks(() => logged.length === 3);
    expect(logged[2]).toContain('no such file or directory');
    expect(await subject(url)).toBe('second');
    expect(logged.join('')).not.toContain('PRIVATE');
  });

  it('apply a new client CA from the next handshake on', async () => {
    const theirs = others.issue('theirs');
    const keys = (ca: string): string => `client_auth_type: RequireAndVerifyClientCert, client_ca_file: ${ca}`;
    const { url, file } = await startTls(keys(authority.certFile));
    expect([await isServed(url, { ...known }), await isServed(url, { ...theirs })]).toEqual([true, false]);
    writeFileSync(file, `tls_server_config: {${pair}, ${keys(others.certFile)}}`);
    await waitForChecks(async () => isServed(url, { ...theirs }));
    expect(await isServed(url, { ...known })).toBe(false);
  });

  it.each([
    ['http_server_config: {}', 'switching TLS on or off takes effect after a restart'],
    [`tls_server_config: {${pair}}`, 'the changed client_auth_type takes full effect after a restart'],
  ])('that need a restart are logged and accept no additional client: %j', async (text, warning) => {
    const { url, file, logged } = await startTls(
      `client_auth_type: RequireAndVerifyClientCert, client_ca_file: ${authority.certFile}`,
    );
    writeFileSync(file, text);
    await waitForChecks(() => logged.length === 2);
    expect(logged[1]).toContain(warning);
    expect(await isServed(url)).toBe(false);
  });

  // Again, because a check can come between the change of the file and that of its time.
  it('are read only when inode, size or time of one has changed', { retry: 3 }, async () => {
    const { file, logged } = await start('http_server_config: {headers: {X-XSS-Protection: "0"}}');
    utimesSync(file, 1, 1);
    await someChecks();
    writeFileSync(file, 'http_server_config: {headers: {X-XSS-Protection: "1"}}');
    utimesSync(file, 1, 1);
    await someChecks();
    expect(logged).toEqual([]);
    utimesSync(file, 1, 2);
    await waitForChecks(() => logged.length === 1);
    expect(logged[0]).toContain('web configuration reloaded');
  });

  it('that require client certificates from now on reject all clients until the restart', async () => {
    const { url, file, logged } = await startTls('');
    const keys = `client_auth_type: RequireAndVerifyClientCert, client_ca_file: ${authority.certFile}`;
    writeFileSync(file, `tls_server_config: {${pair}, ${keys}}`);
    await waitForChecks(() => logged.length === 2);
    expect(await isServed(url)).toBe(false);
    expect(await isServed(url, { ...known })).toBe(false);
  });
});

describe('misbehaving clients', () => {
  it('that send plain HTTP are disconnected', async () => {
    const { url, logged } = await startTls('');
    const client = await rawClient(url, requestText('/'));
    expect(await client.closed).not.toContain('HTTP/1.1 2');
    expect(await isServed(url)).toBe(true);
    expect(logged).toEqual([]);
  });

  it('do not affect others with two hundred broken handshakes at once', async () => {
    const { url } = await startTls(
      `client_auth_type: RequireAndVerifyClientCert, client_ca_file: ${authority.certFile}`,
    );
    const kinds = ['', 'nonsense\r\n\r\n', '\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00', '\x16\x03\x01\xff\xff'];
    const clients = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => rawClient(url, kinds[index % kinds.length])),
    );
    for (const { socket } of clients) socket.resetAndDestroy();
    expect(await isServed(url, { ...known })).toBe(true);
  });

  it('are disconnected when the handshake times out', async () => {
    const { url } = await startTls('', { handshakeMs: 200 });
    const client = await rawClient(url);
    expect(await client.closed).toBe('');
  });

  it('do not delay the shutdown, with or without a finished handshake', async () => {
    const { url, server } = await startTls('', { drainMs: 10_000 });
    const { port } = new URL(url);
    const half = connectTcp(Number(port), '127.0.0.1');
    const idle = connect({ port: Number(port), host: '127.0.0.1', ca: authority.cert });
    for (const socket of [half, idle]) socket.on('error', () => undefined);
    await Promise.all([once(half, 'connect'), once(idle, 'secureConnect')]);
    // The server may accept a connection later than the client is connected.
    await sleep(50);
    const began = performance.now();
    const ended = Promise.all([half, idle].map(async (socket) => once(socket.resume(), 'close')));
    await server.close();
    expect(performance.now() - began).toBeLessThan(5_000);
    await ended;
  });
});
