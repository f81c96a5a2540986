import { afterEach, describe, expect, it, vi } from 'vitest';
import { createAuthority } from '../support/certificates.js';
import { outcome, startNode } from './nodes.js';
import { startProxy } from './proxy.js';

const authority = createAuthority();
const nodeCertificate = authority.issue('node', ['IP:127.0.0.1']);
const otherNameCertificate = authority.issue('node', ['DNS:node.example']);
const trusting = { ca_file: authority.certFile };

const plain = await startNode();
const secure = await startNode({ tls: { cert: nodeCertificate.cert, key: nodeCertificate.key } });
const proxy = await startProxy();

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const withUser = (url: string, userInfo: string): string => url.replace('//', `//${userInfo}@`);

describe('a request through a proxy', () => {
  it('contains the whole URL of an http node', async () => {
    expect(await outcome(plain.url, { proxy_url: proxy.url })).toBe('ok');
    expect(proxy.requestLines.at(-1)).toBe(`GET ${plain.url}/state`);
    expect(plain.requests.at(-1)).toMatchObject({ url: '/state', headers: { host: `127.0.0.1:${plain.port}` } });
  });

  it('goes through a tunnel to an https node, without its headers being visible to the proxy', async () => {
    const keys = { proxy_url: proxy.url, tls_config: trusting, authorization: { credentials: 'tok' } };
    expect(await outcome(secure.url, keys)).toBe('ok');
    expect(proxy.requestLines.at(-1)).toBe(`CONNECT 127.0.0.1:${secure.port}`);
    expect(proxy.requests.at(-1)?.headers).not.toHaveProperty('authorization');
    expect(secure.requests.at(-1)?.headers).toMatchObject({ authorization: 'Bearer tok' });
  });

  it.each([
    ['user name and password', 'user:p%40ss', 'user:p@ss'],
    ['a user name without password', 'token', 'token:'],
  ])('sends %s to the proxy only', async (_title, userInfo, sent) => {
    const protectedProxy = await startProxy({ authorization: `Basic ${base64(sent)}` });
    for (const [node, tls] of [
      [plain, {}],
      [secure, { tls_config: trusting }],
    ] as const) {
      expect(await outcome(node.url, { proxy_url: withUser(protectedProxy.url, userInfo), ...tls })).toBe('ok');
      expect(node.requests.at(-1)?.headers).not.toHaveProperty('proxy-authorization');
      expect(await outcome(node.url, { proxy_url: withUser(protectedProxy.url, 'other:one'), ...tls })).toMatch(
        /^status: .*407/,
      );
    }
  });

  it('uses tls_config for an https proxy too, except for the server name', async () => {
    const proxied = await startProxy({ tls: { cert: nodeCertificate.cert, key: nodeCertificate.key } });
    const node = await startNode({ tls: { cert: otherNameCertificate.cert, key: otherNameCertificate.key } });
    const keys = { proxy_url: proxied.url, tls_config: { ...trusting, server_name: 'node.example' } };
    expect(await outcome(node.url, keys)).toBe('ok');
    expect(await outcome(plain.url, keys)).toBe('ok');
    expect(proxied.requestLines).toEqual([`CONNECT 127.0.0.1:${node.port}`, `GET ${plain.url}/state`]);
  });
});

describe('the proxy of the environment', () => {
  const keys = { proxy_from_environment: true };

  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('has its credentials, and is not used for hosts in NO_PROXY', async () => {
    const forwarding = await startNode();
    vi.stubEnv('HTTP_PROXY', withUser(forwarding.url, 'user:hunter2'));
    vi.stubEnv('NO_PROXY', '.internal.invalid');
    expect(await outcome('http://node.invalid', keys)).toBe('ok');
    expect(forwarding.requests.at(-1)).toMatchObject({
      url: 'http://node.invalid/state',
      headers: { 'proxy-authorization': `Basic ${base64('user:hunter2')}` },
    });
    expect(await outcome('http://node.internal.invalid', keys)).toMatch(/^dns: /);
    expect(await outcome('http://node.invalid', {})).toMatch(/^dns: /);
  });

  it('is a problem of the configuration if it is not valid, without its value', async () => {
    vi.stubEnv('HTTPS_PROXY', 'socks5://user:hunter2@proxy.example');
    expect(await outcome('https://node.invalid', keys)).toMatch(
      /^bad_request: \/state: invalid configuration: HTTPS_PROXY: expected an http or https URL such as (?!.*hunter2)/,
    );
  });
});

it('a host in no_proxy is requested without the proxy', async () => {
  const forwarding = await startNode();
  const keys = { proxy_url: forwarding.url, no_proxy: 'other.invalid' };
  expect(await outcome('http://node.invalid', keys)).toBe('ok');
  expect(await outcome('http://other.invalid', keys)).toMatch(/^dns: /);
});

it('a proxy may send 100 Continue that nobody asked for before it opens the tunnel', async () => {
  const interim = await startProxy({
    interim: 'HTTP/1.1 100 Continue\r\nvia: x\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n',
  });
  expect(await outcome(secure.url, { proxy_url: interim.url, tls_config: trusting })).toBe('ok');
});

describe('a request through a failing proxy', () => {
  it('reports that the proxy refuses connections or its name does not resolve', async () => {
    for (const node of [plain, secure]) {
      expect(await outcome(node.url, { proxy_url: 'http://someone:hunter2@127.0.0.1:1' })).toBe(
        'connect: /state: request failed: proxy http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1',
      );
      expect(await outcome(node.url, { proxy_url: 'http://proxy.invalid:3128' })).toMatch(
        /^dns: \/state: request failed: proxy http:\/\/proxy\.invalid:3128: getaddrinfo /,
      );
    }
  });

  it('reports an invalid certificate of the proxy', async () => {
    const proxied = await startProxy({ tls: { cert: otherNameCertificate.cert, key: otherNameCertificate.key } });
    expect(await outcome(secure.url, { proxy_url: proxied.url, tls_config: trusting })).toMatch(
      /^tls: \/state: request failed: proxy https:\/\/127\.0\.0\.1:\d+: .*altnames/,
    );
  });

  it('reports an invalid certificate of the node', async () => {
    expect(await outcome(secure.url, { proxy_url: proxy.url })).toBe(
      'tls: /state: request failed: unable to verify the first certificate',
    );
  });

  it.each<[string, string, string]>([
    [
      'a proxy that cannot connect to the node',
      'HTTP/1.1 502 Bad Gateway\r\n\r\n',
      'status: … responded to CONNECT with status 502',
    ],
    [
      'a proxy that rejects CONNECT',
      'HTTP/1.1 403 Forbidden\r\n\r\n',
      'unauthorized: … responded to CONNECT with status 403',
    ],
    [
      'a proxy that requires credentials, after an interim response',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 407 Proxy Authentication Required\r\n\r\n',
      'status: … responded to CONNECT with status 407',
    ],
    [
      'a proxy that limits the rate',
      'HTTP/1.1 429 Too Many Requests\r\n\r\n',
      'rate_limited: … responded to CONNECT with status 429',
    ],
    ['a proxy that does not speak HTTP', '\x05\x01', 'aborted: … invalid HTTP response to CONNECT'],
    [
      'a proxy with interim responses without end',
      'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000),
      'aborted: … invalid HTTP response to CONNECT',
    ],
    ['a proxy that closes the connection', '', 'aborted: … connection lost during CONNECT'],
  ])('reports %s', async (_title, response, expected) => {
    const rejecting = await startProxy({ onConnect: (socket) => socket.end(response) });
    expect(await outcome(secure.url, { proxy_url: rejecting.url, tls_config: trusting })).toBe(
      expected.replace('…', `/state: request failed: proxy ${rejecting.url}:`),
    );
  });
});
