import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../support/certificates.js';
import { startProxy, type Proxy } from './proxy.js';
import { client, outcome, startNode, type Listening, type Node } from './nodes.js';

const authority = createAuthority();
const here = authority.issue('node', ['IP:127.0.0.1']);
const elsewhere = authority.issue('node', ['DNS:node.example']);
const trusting = { ca_file: authority.certFile };

const open: Listening[] = [];
let plain: Node;
let secure: Node;
let proxy: Proxy;

function opened<T extends Listening>(listening: T): T {
  open.push(listening);
  return listening;
}

beforeAll(async () => {
  plain = opened(await startNode());
  secure = opened(await startNode({ tls: { cert: here.cert, key: here.key } }));
  proxy = opened(await startProxy());
});

afterAll(async () => {
  await client.close();
  await Promise.all(open.map((listening) => listening.close()));
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const withUser = (url: string, userInfo: string): string => url.replace('//', `//${userInfo}@`);

describe('through a proxy', () => {
  it('an http address is asked for in whole', async () => {
    expect(await outcome(plain.url, { proxy_url: proxy.url })).toBe('ok');
    expect(proxy.asked.at(-1)).toBe(`GET ${plain.url}/state`);
    expect(plain.requests.at(-1)).toMatchObject({ url: '/state', headers: { host: `127.0.0.1:${plain.port}` } });
  });

  it('an https address is asked for a tunnel, and the proxy sees nothing of what is said in it', async () => {
    const keys = { proxy_url: proxy.url, tls_config: trusting, authorization: { credentials: 'tok' } };
    expect(await outcome(secure.url, keys)).toBe('ok');
    expect(proxy.asked.at(-1)).toBe(`CONNECT 127.0.0.1:${secure.port}`);
    expect(proxy.requests.at(-1)?.headers).not.toHaveProperty('authorization');
    expect(secure.requests.at(-1)?.headers).toMatchObject({ authorization: 'Bearer tok' });
  });

  it.each([
    ['user and password', 'user:p%40ss', 'user:p@ss'],
    ['a user without password', 'token', 'token:'],
  ])('with %s that the proxy alone sees', async (_title, userInfo, sent) => {
    const careful = opened(await startProxy({ authorization: `Basic ${base64(sent)}` }));
    for (const [node, tls] of [
      [plain, {}],
      [secure, { tls_config: trusting }],
    ] as const) {
      expect(await outcome(node.url, { proxy_url: withUser(careful.url, userInfo), ...tls })).toBe('ok');
      expect(node.requests.at(-1)?.headers).not.toHaveProperty('proxy-authorization');
      expect(await outcome(node.url, { proxy_url: withUser(careful.url, 'other:one'), ...tls })).toMatch(
        /^status: .*407/,
      );
    }
  });

  it('that speaks TLS itself, by the same tls_config but for the name', async () => {
    const proxied = opened(await startProxy({ tls: { cert: here.cert, key: here.key } }));
    const node = opened(await startNode({ tls: { cert: elsewhere.cert, key: elsewhere.key } }));
    const keys = { proxy_url: proxied.url, tls_config: { ...trusting, server_name: 'node.example' } };
    expect(await outcome(node.url, keys)).toBe('ok');
    expect(await outcome(plain.url, keys)).toBe('ok');
    expect(proxied.asked).toEqual([`CONNECT 127.0.0.1:${node.port}`, `GET ${plain.url}/state`]);
  });
});

describe('a proxy', () => {
  it('that nobody listens at, or that has no name', async () => {
    for (const node of [plain, secure]) {
      expect(await outcome(node.url, { proxy_url: 'http://someone:hunter2@127.0.0.1:1' })).toBe(
        'connect: /state could not be asked: proxy http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1',
      );
      expect(await outcome(node.url, { proxy_url: 'http://proxy.invalid:3128' })).toMatch(
        /^dns: \/state could not be asked: proxy http:\/\/proxy\.invalid:3128: getaddrinfo /,
      );
    }
  });

  it('whose certificate is not good', async () => {
    const proxied = opened(await startProxy({ tls: { cert: elsewhere.cert, key: elsewhere.key } }));
    expect(await outcome(secure.url, { proxy_url: proxied.url, tls_config: trusting })).toMatch(
      /^tls: \/state could not be asked: proxy https:\/\/127\.0\.0\.1:\d+: .*altnames/,
    );
  });

  it('behind which the certificate of the node is not good', async () => {
    expect(await outcome(secure.url, { proxy_url: proxy.url })).toBe(
      'tls: /state could not be asked: unable to verify the first certificate',
    );
  });

  it.each<[string, string, string]>([
    [
      'cannot reach the node',
      'HTTP/1.1 502 Bad Gateway\r\n\r\n',
      'status: … answered status 502 when asked for a tunnel',
    ],
    ['forbids it', 'HTTP/1.1 403 Forbidden\r\n\r\n', 'unauthorized: … answered status 403 when asked for a tunnel'],
    ['hangs up', '', 'aborted: … lost while it opens a tunnel: socket hang up'],
  ])('that %s', async (_title, answer, expected) => {
    const refusing = opened(await startProxy({ onTunnel: (socket) => socket.end(answer) }));
    expect(await outcome(secure.url, { proxy_url: refusing.url, tls_config: trusting })).toBe(
      expected.replace('…', `/state could not be asked: proxy ${refusing.url}:`),
    );
  });

  it('that never answers does not outlast the deadline', async () => {
    const silent = opened(await startProxy({ onTunnel: () => undefined }));
    const keys = { proxy_url: silent.url, tls_config: trusting };
    expect(await outcome(secure.url, keys, { timeoutMs: 300 })).toBe('timeout: /state took over 300 ms (poll.timeout)');
  });

  it('that answers for the node shows nothing of its own user and password', async () => {
    const password = 'hunter2/hunter2';
    const userInfo = `someone:${encodeURIComponent(password)}`;
    const seen = `Basic ${base64(`someone:${password}`)}`;
    const echoing = opened(
      await startNode({
        answer: (_request, response) => {
          response.writeHead(400).end(JSON.stringify({ message: `${seen} is someone with ${password} (${userInfo})` }));
        },
      }),
    );
    expect(await outcome(plain.url, { proxy_url: withUser(echoing.url, userInfo) })).toBe(
      'bad_request: /state was answered with status 400: <secret> is <secret> with <secret> (<secret>)',
    );
  });
});
