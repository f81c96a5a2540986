import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { startSimulator, type Simulator } from '../../src/simulator/simulator.js';
import { createAuthority } from '../support/certificates.js';
import { createCanary, createHeaderCanary, shownIn, tracesOf } from './canaries.js';
import { run, start, type Running } from '../support/processes.js';

const folder = mkdtempSync(join(tmpdir(), 'canary-'));
const own = createAuthority().issue('exporter');

/** A secret for every place of the configuration of a node that can have one. */
const secrets = {
  password: createCanary(),
  passwordFile: createCanary(),
  credentials: createHeaderCanary(),
  credentialsFile: createHeaderCanary(),
  header: createHeaderCanary(),
  headerFile: createHeaderCanary(),
  proxyUser: createCanary(),
  proxyPassword: createCanary(),
  // Not one of its first lines: those say the algorithm and the public part, as certificates do.
  key: own.key.split('\n')[20] ?? '',
};

function file(name: string, content: string): string {
  writeFileSync(join(folder, name), content);
  return name;
}

type Keys = Readonly<Record<string, unknown>>;

/** Each has its secrets in other places; `proxy` is an address without user. */
const reaches = (proxy: string): readonly Keys[] => [
  { basic_auth: { username: 'u', password: secrets.password } },
  { basic_auth: { username: 'u', password_file: file('password', `${secrets.passwordFile}\n`) } },
  { authorization: { credentials: secrets.credentials } },
  { authorization: { type: 'ApiKey', credentials_file: file('token', secrets.credentialsFile) } },
  { http_headers: { 'X-Key': { secrets: [secrets.header], files: [file('header', secrets.headerFile)] } } },
  {
    proxy_url: proxy.replace(
      '//',
      `//${[secrets.proxyUser, secrets.proxyPassword].map(encodeURIComponent).join(':')}@`,
    ),
  },
  { tls_config: { cert: own.cert, key: own.key } },
];

interface Echo {
  readonly url: string;
  readonly questions: () => number;
  readonly close: () => void;
}

/** A node, or a proxy, that says what it was sent, every time in another way, as only the beginning of a message is shown. */
async function startEcho(): Promise<Echo> {
  let questions = 0;
  const server = createServer((incoming, response) => {
    questions += 1;
    const echoes = echoesOf(incoming);
    const message = `who is ${echoes[questions % echoes.length] ?? 'nobody'}?`;
    response.writeHead(400).end(JSON.stringify({ code: 3, message }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, questions: () => questions, close: () => server.close() };
}

const encodings: readonly ((text: string) => string)[] = [
  (text) => text,
  encodeURIComponent,
  (text) => Buffer.from(text).toString('base64'),
  (text) => Buffer.from(text).toString('base64url'),
  (text) => Buffer.from(text).toString('hex'),
];

function echoesOf({ headers }: IncomingMessage): string[] {
  const keys = String(headers['x-key'] ?? '').split(', ');
  const authorizations = [headers.authorization, headers['proxy-authorization']].filter((text) => text !== undefined);
  const parts = authorizations.flatMap((text) => {
    const [scheme = '', ...credentials] = text.split(' ');
    const user = scheme === 'Basic' ? Buffer.from(credentials.join(' '), 'base64').toString() : '';
    return [text, credentials.join(' '), user, ...user.split(':')];
  });
  return [...parts, ...keys]
    .filter((text) => text.length > 8)
    .flatMap((text) => encodings.map((encode) => encode(text)));
}

let simulator: Simulator;
let echo: Echo;
let daemon: Running | undefined;

beforeAll(async () => {
  const options = { host: '127.0.0.1', port: 0, seed: 1, scenario: 'healthy', blockTimeMs: 2000, tick: false } as const;
  simulator = await startSimulator(options);
  echo = await startEcho();
});

afterAll(async () => {
  await daemon?.stop('SIGKILL');
  echo.close();
  await simulator.close();
});

/** Every way to reach a node, to one that answers, one that complains and one that is not there. */
function configuration(): string {
  const nodes = {
    answers: simulator.url,
    complains: echo.url,
    misses: 'http://127.0.0.1:1',
    secure: 'https://127.0.0.1:1',
  };
  const targets = Object.entries(nodes).flatMap(([node, url]) =>
    reaches(echo.url).map((keys, index) => ({ name: `${node}-${index}`, bridge: { url, ...keys } })),
  );
  return stringify({ poll: { interval: '100ms', timeout: '2s' }, targets });
}

function configFile(text: string): string {
  writeFileSync(join(folder, 'bridge.yaml'), text);
  return `--config.file=${join(folder, 'bridge.yaml')}`;
}

/** The places, each with a value of another kind than it takes, and a secret in it. */
const misplaced: readonly Keys[] = [
  { basic_auth: secrets.password },
  { basic_auth: [secrets.password] },
  {
    basic_auth: {
      username: `u:${secrets.password}`,
      password: [secrets.password],
      password_file: `${secrets.password}\n`,
    },
  },
  { authorization: `Bearer ${secrets.credentials}` },
  { authorization: { type: `Bearer ${secrets.credentials}`, credentials: `${secrets.credentials}\n` } },
  { http_headers: `X-Key: ${secrets.header}` },
  { http_headers: { 'X-Key': secrets.header } },
  {
    http_headers: {
      'X-Key': { secrets: secrets.header, values: [`${secrets.header}\n`], files: `${secrets.header}\n` },
    },
  },
  { tls_config: secrets.key },
  { tls_config: { key: secrets.key, cert: secrets.key, ca: secrets.key } },
  { proxy_url: secrets.proxyPassword },
  { proxy_url: `http://u:${secrets.proxyPassword}@proxy` },
  { proxy_url: `socks5://u:${encodeURIComponent(secrets.proxyPassword)}@proxy` },
  { proxy_url: `http://u:${encodeURIComponent(secrets.proxyPassword)}@proxy/path` },
];

describe('no secret of the configuration is in any output', () => {
  it('of which this test would find every one', () => {
    const [secret] = [secrets.password];
    const basic = Buffer.from(`user:${secret}`).toString('base64');
    for (const text of [secret, basic, encodeURIComponent(secret), Buffer.from(secret).toString('hex')]) {
      expect(shownIn(`it is ${text}`, secrets)).toEqual(['password']);
    }
    expect(tracesOf(secrets.key)).toContain(secrets.key.slice(0, 20));
  });

  it('of --config.check', async () => {
    const { code, stdout, stderr } = await run([configFile(configuration()), '--config.check', '--log.level=trace']);
    expect(stderr).toContain('warning');
    expect(code).toBe(0);
    // At each of the four nodes: a password, credentials, a header, a proxy and a key; all others are in files.
    expect(stdout.match(/<secret>/g)).toHaveLength(4 * 5);
    expect(shownIn(stdout + stderr, secrets)).toEqual([]);
  });

  it.each(misplaced.map((keys) => [Object.keys(keys).join(), keys] as const))('of a bad %s', async (_title, keys) => {
    const targets = [{ name: 'a', bridge: { url: 'https://a.example', ...keys } }];
    for (const more of [['--config.check'], ['once']]) {
      const { code, stdout, stderr } = await run([...more, configFile(stringify({ targets })), '--log.level=trace']);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('targets[0].bridge.');
      expect(shownIn(stderr, secrets)).toEqual([]);
    }
  });

  it('of a file that is not YAML', async () => {
    const broken = `basic_auth: {password: "${secrets.credentials.replaceAll(/[\\"]/g, '')}\\q"}\nkey: ${secrets.key}: ${secrets.key}`;
    const { code, stderr } = await run([configFile(broken)]);
    expect(code).toBe(2);
    expect(shownIn(stderr, secrets)).toEqual([]);
  });

  it('of once', async () => {
    const { code, stdout, stderr } = await run(['once', configFile(configuration()), '--log.level=trace']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/bad_request: .*<secret>/);
    expect(shownIn(stdout + stderr, secrets)).toEqual([]);
  });

  it('of the daemon: its log, its pages and its metrics, also when it is told to reload', async () => {
    daemon = await start([configFile(configuration()), '--log.level=trace', '--web.enable-lifecycle']);
    const { url, log, logged } = daemon;
    const outputs: string[] = [];
    const look = async (path: string, accept = '*/*', method: 'GET' | 'POST' = 'GET'): Promise<string> => {
      const { headers, body } = await request(url + path, { method, headers: { accept } });
      outputs.push(JSON.stringify(headers), await body.text());
      return outputs.at(-1) ?? '';
    };
    await Promise.all(reaches('').map((_, index) => logged(new RegExp(`complains-${index}`))));
    for (const wanted = echo.questions() + 300; echo.questions() < wanted; await sleep(50)) await look('/');
    expect(await look('/')).toContain('&lt;secret&gt;');
    for (const accept of ['text/html', 'application/json']) await look('/pending', accept);
    for (const path of ['/-/ready', '/-/healthy', '/nowhere']) await look(path);
    await look('/metrics', 'application/openmetrics-text');
    for (const keys of misplaced) {
      configFile(stringify({ targets: [{ name: 'a', bridge: { url: 'https://a.example', ...keys } }] }));
      await look('/-/reload', '*/*', 'POST');
    }
    await daemon.stop();
    expect(shownIn([...outputs, ...log].join('\n'), secrets)).toEqual([]);
    expect(log.join('\n')).toContain('<secret>');
    expect(outputs.join('\n')).toContain('bridge_batches{target="answers-0"}');
  });
});
