import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashSync } from 'bcryptjs';
import { pino } from 'pino';
import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { createRoutes } from '../../src/server/routes.js';
import { createAuthenticator } from '../../src/server/auth.js';
import { isPasswordOf } from '../../src/server/password.js';
import type { PasswordCheck } from '../../src/server/password-thread.js';
import { compressedText } from '../../src/exposition/compressed-text.js';
import { serverLimits, startWebServer, type WebServer } from '../../src/server/server.js';
import { loadWebConfig } from '../../src/server/web-config-files.js';
import { startDaemon } from '../support/processes.js';
import { rawClient, requestText } from './raw-client.js';

/*
 * Basic authentication over real sockets. Checks are counted and run in place; the thread they run on in the product is
 * tested with the built daemon, at the end.
 */
const log = pino({ level: 'silent' });
const folder = mkdtempSync(join(tmpdir(), 'auth-'));
let servers: WebServer[] = [];
let files = 0;

afterEach(async () => {
  await Promise.all(servers.map(async (server) => server.close()));
  servers = [];
});

/** Cheap, as nearly all tests are about something else than its cost. */
const hashOf = (password: string, cost = 4): string => hashSync(password, cost);

const usersYaml = (users: Readonly<Record<string, string>>): string => `basic_auth_users: ${JSON.stringify(users)}\n`;

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

interface Started {
  readonly url: string;
  readonly file: string;
  /** The hashes passwords were compared with. */
  readonly checked: readonly string[];
}

const inPlace: PasswordCheck = async (hash, password) => isPasswordOf(hash, password);

async function start(yaml: string, check = inPlace, maxRequests = 40): Promise<Started> {
  files += 1;
  const file = join(folder, `${files}.yml`);
  writeFileSync(file, yaml);
  const loaded = await loadWebConfig(file);
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  const checked: string[] = [];
  const passwords = {
    check: async (hash: string, password: string) => {
      checked.push(hash);
      return check(hash, password);
    },
    close: async () => undefined,
  };
  const app = createRoutes(
    {
      metrics: async () => compressedText('metrics\n'),
      statusPage: () => 'page',
      pendingPage: () => 'page',
      pendingDocument: () => ({ generatedAt: '', endpoints: [] }),
      notReady: () => [],
      reload: async () => ({ ok: true }),
    },
    { telemetryPath: '/metrics', maxRequests, enableLifecycle: true },
    log,
  );
  const parts = { log, webConfig: loaded.file, passwords, limits: { ...serverLimits, drainMs: 300 } };
  const server = await startWebServer(app, { host: '127.0.0.1', port: 0 }, parts);
  servers.push(server);
  return { url: server.url, file, checked };
}

async function get(url: string, authorization?: string, method: 'GET' | 'POST' = 'GET') {
  const headers = authorization === undefined ? {} : { authorization };
  const { statusCode, headers: received, body } = await request(url, { method, headers });
  return { status: statusCode, headers: received, text: await body.text() };
}

const status = async (url: string, user: string, password: string): Promise<number> =>
  (await get(`${url}/metrics`, basic(user, password))).status;

describe('who is let in', () => {
  it.each([
    ['a plain one', 'alice', 'secret'],
    ['with colons', 'alice', ':a:b:'],
    ['in UTF-8', 'Ælfrēd 😀', 'пароль 密码 é'],
    ['that is empty', 'alice', ''],
    ['of a user without a name', '', 'secret'],
    ['of a user named as things of JavaScript are', '__proto__', 'secret'],
    ['longer than bcrypt looks at', 'alice', 'x'.repeat(100)],
  ])('a user with the right password, %s', async (_title, user, password) => {
    const { url } = await start(usersYaml({ [user]: hashOf(password) }));
    expect(await status(url, user, password)).toBe(200);
    expect(await status(url, user, `${password.slice(0, 20)}?`)).toBe(401);
    expect(await status(url, `${user}?`, password)).toBe(401);
  });

  it.each(['$2a$', '$2b$', '$2y$'])('a hash of the kind %s', async (kind) => {
    const { url } = await start(usersYaml({ alice: kind + hashOf('secret').slice(4) }));
    expect(await status(url, 'alice', 'secret')).toBe(200);
    expect(await status(url, 'alice', 'Secret')).toBe(401);
  });

  it.each([
    ['nothing', undefined],
    ['nothing behind the scheme', 'Basic'],
    ['another scheme', `Bearer ${Buffer.from('alice:secret').toString('base64')}`],
    ['the scheme run together', `Basic${Buffer.from('alice:secret').toString('base64')}`],
    ['no base64', 'Basic alice:secret'],
    ['base64 without its padding', 'Basic YWxpY2U6c2VjcmV0MQ'],
    ['base64 with something behind it', `${basic('alice', 'secret')}, Basic x`],
    ['the base64 of URLs', 'Basic __8='],
    ['no colon', `Basic ${Buffer.from('alice').toString('base64')}`],
    ['bytes that are not UTF-8', `Basic ${Buffer.from('alice:\xff', 'latin1').toString('base64')}`],
    ['a wrong password', basic('alice', 'Secret')],
    ['a password cut short', basic('alice', 'secre')],
    ['a password with more behind it', basic('alice', 'secret\0x')],
    ['a name in another case', basic('Alice', 'secret')],
    ['the hash for the password', basic('alice', '$2y$04$')],
  ])('not who sends %s', async (_title, authorization) => {
    const { url } = await start(usersYaml({ alice: hashOf('secret') }));
    const answer = await get(`${url}/metrics`, authorization);
    expect(answer).toMatchObject({
      status: 401,
      text: 'unauthorized\n',
      headers: {
        'www-authenticate': 'Basic realm="metrics", charset="UTF-8"',
        'cache-control': 'no-store',
        connection: 'close',
      },
    });
  });

  it('the scheme is good in any case', async () => {
    const { url } = await start(usersYaml({ alice: hashOf('secret') }));
    expect((await get(`${url}/metrics`, basic('alice', 'secret').replace('Basic', 'bASIC'))).status).toBe(200);
  });

  it('everybody, where no user is named', async () => {
    const { url } = await start('basic_auth_users: {}');
    expect((await get(`${url}/metrics`)).status).toBe(200);
  });
});

describe('which paths are behind the password', () => {
  const paths = ['/metrics', '/', '/pending', '/none', '/%', '/-/healthy', '/-/ready', '/-/healthy/', '/-/Healthy'];

  it.each([...paths, '/-/healthy?x=1', '//-/healthy', '/-/healthy/../../metrics'])('%s', async (path) => {
    const { url } = await start(usersYaml({ alice: hashOf('secret') }));
    const stranger = await rawClient(url, requestText(path));
    expect(await stranger.closed).toMatch(/^HTTP\/1\.1 401 /);
    const known = await get(url + path, basic('alice', 'secret'));
    expect(known.status).not.toBe(401);
  });

  it('with health_paths_without_auth, all but the two', async () => {
    const { url } = await start(`${usersYaml({ alice: hashOf('secret') })}health_paths_without_auth: true`);
    const open = ['/-/healthy', '/-/ready', '/-/healthy?x=1'];
    for (const path of open) expect((await get(url + path)).status, path).toBe(200);
    const closed = [
      '/-/healthy/',
      '/-/Healthy',
      '/-/healthy%3f',
      '/-/healthyx',
      '//-/healthy',
      '/-/healthy/../../metrics',
    ];
    for (const path of [...closed, '/', '/metrics', '/pending', '/none']) {
      const stranger = await rawClient(url, requestText(path));
      expect(await stranger.closed, path).toMatch(/^HTTP\/1\.1 401 /);
    }
    expect((await get(`${url}/-/reload`, undefined, 'POST')).status).toBe(401);
  });
});

describe('what is remembered', () => {
  it('a right password is checked once, and once also when it comes many times at the same time', async () => {
    const slowly: PasswordCheck = async (hash, password) => {
      await sleep(100);
      return isPasswordOf(hash, password);
    };
    const { url, checked } = await start(usersYaml({ alice: hashOf('secret') }), slowly);
    const together = await Promise.all(Array.from({ length: 30 }, async () => status(url, 'alice', 'secret')));
    expect(new Set(together)).toEqual(new Set([200]));
    expect(await status(url, 'alice', 'secret')).toBe(200);
    expect(checked.length).toBe(1);
  });

  it('a wrong one is not, and pushes nothing out', async () => {
    const { url, checked } = await start(usersYaml({ alice: hashOf('secret') }));
    await status(url, 'alice', 'secret');
    for (let guess = 0; guess < 300; guess += 1) await status(url, 'alice', `${guess}`);
    expect(await status(url, 'alice', '7')).toBe(401);
    expect(await status(url, 'alice', 'secret')).toBe(200);
    expect(checked.length).toBe(302);
  });

  it('the parts of a login cannot be shifted to make another (CVE-2022-46146)', async () => {
    const hash = hashOf('secret');
    const { url } = await start(usersYaml({ alice: hash, ali: hash, '': hash }));
    expect(await status(url, 'alice', 'secret')).toBe(200);
    for (const [user, password] of [
      ['ali', 'cesecret'],
      ['', 'alicesecret'],
      ['alicesecret', ''],
      ['alice', `secret${hash}`],
      [`alice${hash}`, 'secret'],
      [`alice${hash}secret`, ''],
      ['alice","secret', ''],
    ] as const) {
      expect(await status(url, user, password), `${user} ${password}`).toBe(401);
    }
  });

  it('is bounded, and the last used stay', async () => {
    let checks = 0;
    const authenticate = createAuthenticator(async () => {
      checks += 1;
      return true;
    });
    const users = new Map([['alice', hashOf('secret')]]);
    const login = async (password: number) => authenticate(users, basic('alice', String(password)));
    for (let password = 0; password < 256; password += 1) await login(password);
    await login(0);
    await login(256);
    expect(checks).toBe(257);
    await login(0);
    expect(checks, 'used since').toBe(257);
    await login(1);
    expect(checks, 'the longest unused').toBe(258);
  });

  it('is forgotten when the file has another password, or the user no more', async () => {
    const { url, file } = await start(usersYaml({ alice: hashOf('old'), bob: hashOf('secret') }));
    expect(await status(url, 'alice', 'old')).toBe(200);
    expect(await status(url, 'bob', 'secret')).toBe(200);
    writeFileSync(file, usersYaml({ alice: hashOf('new') }));
    while ((await status(url, 'alice', 'old')) === 200) await sleep(50);
    expect(await status(url, 'alice', 'new')).toBe(200);
    expect(await status(url, 'bob', 'secret')).toBe(401);
  });
});

describe('what strangers learn and cost', () => {
  it('an unknown user costs as much as a known one, the same each time, and is never let in', async () => {
    const hashes = [hashOf('a', 4), hashOf('b', 5), hashOf('c', 6)] as const;
    const always: PasswordCheck = async () => true;
    const { url, checked } = await start(usersYaml({ a: hashes[0], b: hashes[1], c: hashes[2] }), always);
    for (let name = 0; name < 60; name += 1) expect(await status(url, `unknown ${name}`, 'x')).toBe(401);
    const costs = checked.map((hash) => hash.slice(4, 6));
    expect(new Set(costs)).toEqual(new Set(['04', '05', '06']));
    for (let name = 0; name < 60; name += 1) await status(url, `unknown ${name}`, 'y');
    expect(checked.slice(60).map((hash) => hash.slice(4, 6))).toEqual(costs);
    expect(isPasswordOf(checked[0] ?? '', '')).toBe(false);
  });

  it('beyond sixteen checks at once they are turned away, and whoever is remembered is not', async () => {
    let holds = false;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const check: PasswordCheck = async (hash, password) => {
      if (holds) await held;
      return isPasswordOf(hash, password);
    };
    const { url, checked } = await start(usersYaml({ alice: hashOf('secret') }), check);
    expect(await status(url, 'alice', 'secret')).toBe(200);
    holds = true;
    const guesses = Array.from({ length: 16 }, async (_, guess) => status(url, 'alice', `${guess}`));
    while (checked.length < 17) await sleep(5);
    expect(await get(`${url}/metrics`, basic('alice', 'one more'))).toMatchObject({
      status: 503,
      text: 'too many logins at once\n',
      headers: { 'retry-after': '1', connection: 'close' },
    });
    expect(await status(url, 'alice', 'secret')).toBe(200);
    release();
    expect(new Set(await Promise.all(guesses))).toEqual(new Set([401]));
  });

  it('a client that leaves while its password is checked takes no place away', async () => {
    let release = (): void => undefined;
    const held = new Promise<boolean>((resolve) => {
      release = () => resolve(true);
    });
    const { url, checked } = await start(usersYaml({ alice: hashOf('secret') }), async () => held, 1);
    const headers = { Authorization: basic('alice', 'secret') };
    const leaving = await rawClient(url, requestText('/metrics', headers).repeat(2));
    while (checked.length < 1) await sleep(5);
    leaving.socket.destroy();
    await leaving.closed;
    await sleep(50);
    release();
    expect(await status(url, 'alice', 'secret')).toBe(200);
  });

  it('a check that fails is a fault, and lets nobody in', async () => {
    const { url } = await start(usersYaml({ alice: hashOf('secret') }), () => Promise.reject(new Error('broken')));
    expect(await get(`${url}/metrics`, basic('alice', 'secret'))).toMatchObject({
      status: 500,
      text: 'internal error\n',
    });
  });
});

describe('rate_limit', () => {
  it('lets a burst pass and no more', async () => {
    const { url } = await start('rate_limit: {interval: 1h, burst: 3}');
    const answers = [];
    for (let asked = 0; asked < 5; asked += 1) answers.push(await get(`${url}/metrics`));
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 429, 429]);
    expect(answers[4]).toMatchObject({ headers: { 'retry-after': '1' }, text: 'too many requests\n' });
  });

  it('then lets one pass each interval', async () => {
    const { url } = await start('rate_limit: {interval: 300ms, burst: 1}');
    expect((await get(`${url}/metrics`)).status).toBe(200);
    const began = performance.now();
    while ((await get(`${url}/metrics`)).status === 429) await sleep(10);
    expect(performance.now() - began).toBeGreaterThan(200);
  });

  it('does not count the health paths when they are open to everybody', async () => {
    const { url } = await start('rate_limit: {interval: 1h, burst: 1}\nhealth_paths_without_auth: true');
    expect((await get(`${url}/metrics`)).status).toBe(200);
    expect((await get(`${url}/metrics`)).status).toBe(429);
    expect((await get(`${url}/-/healthy`)).status).toBe(200);
  });
});

describe('headers', () => {
  it('of the file stand in every answer, before our own', async () => {
    const { url } = await start(
      `http_server_config: {headers: {X-Frame-Options: sameorigin, Strict-Transport-Security: max-age=1}}\n${usersYaml({ alice: hashOf('x') })}`,
    );
    for (const authorization of [undefined, basic('alice', 'x')]) {
      expect((await get(url, authorization)).headers).toMatchObject({
        'x-frame-options': 'sameorigin',
        'strict-transport-security': 'max-age=1',
        'referrer-policy': 'no-referrer',
      });
    }
  });
});

describe('the built daemon', () => {
  it('serves without delay while strangers try fifty passwords at once', async () => {
    const file = join(folder, 'daemon.yml');
    writeFileSync(file, `${usersYaml({ alice: hashOf('secret', 10) })}health_paths_without_auth: true`);
    const daemon = await startDaemon([`--web.config.file=${file}`], { BRIDGE_URL: 'http://127.0.0.1:1' });
    try {
      expect(await status(daemon.url, 'alice', 'secret')).toBe(200);
      const began = performance.now();
      const ended = new AbortController();
      const guesses = Array.from({ length: 50 }, async (_, guess) => status(daemon.url, 'alice', `${guess}`));
      const tries = Promise.all(guesses).finally(() => ended.abort());
      const delays: number[] = [];
      while (!ended.signal.aborted) {
        const asked = performance.now();
        expect((await get(`${daemon.url}/-/healthy`)).status).toBe(200);
        expect(await status(daemon.url, 'alice', 'secret')).toBe(200);
        delays.push(performance.now() - asked);
      }
      const answers = await tries;
      const wrong = answers.filter((answer) => answer === 401).length;
      const checkMs = (performance.now() - began) / wrong;
      expect(new Set(answers)).toEqual(new Set([401, 503]));
      expect(wrong).toBeGreaterThanOrEqual(16);
      expect(delays.length).toBeGreaterThan(10);
      // On the main thread, each answer would wait for the check before it, and the first for all of them.
      const median = delays.toSorted((left, right) => left - right)[Math.floor(delays.length / 2)];
      expect(median).toBeLessThan(checkMs / 2);
      expect(Math.max(...delays)).toBeLessThan(checkMs * 10);
      const { code, ms } = await daemon.stop();
      expect(code).toBe(0);
      expect(ms).toBeLessThan(1_000);
    } finally {
      await daemon.stop('SIGKILL');
    }
  });
});
