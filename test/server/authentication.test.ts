import { compareSync, hashSync } from 'bcryptjs';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createAuthenticator, type VerifyPassword } from '../../src/server/authentication.js';
import { get, type HttpResponse } from '../support/http.js';
import { startDaemon } from '../support/processes.js';
import { waitUntil } from '../support/wait-for.js';
import { rawClient, requestText } from './clients.js';
import { createTestApp, serve, webConfigOf } from './test-app.js';

/*
 * Basic authentication over real sockets. Passwords are verified on the main thread and counted; the last test runs the built
 * daemon, which verifies them on a thread of its own.
 */
/** At the lowest cost, because few tests are about the cost. */
const hashOf = (password: string, cost = 4): string => hashSync(password, cost);

const usersYaml = (users: Readonly<Record<string, string>>): string => `basic_auth_users: ${JSON.stringify(users)}\n`;

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

interface Started {
  readonly url: string;
  readonly file: string;
  /** The hashes that passwords were verified against. */
  readonly checked: readonly string[];
}

const verifyOnMainThread: VerifyPassword = async ({ hash, password }) => compareSync(password, hash);

async function start(yaml: string, verify = verifyOnMainThread, maxRequests = 40): Promise<Started> {
  const webConfig = await webConfigOf(yaml);
  const checked: string[] = [];
  const verifyAndCount: VerifyPassword = async (login) => {
    checked.push(login.hash);
    return verify(login);
  };
  const app = createTestApp({}, { maxRequests, enableLifecycle: true });
  const { url } = await serve(app, { webConfig, verify: verifyAndCount });
  return { url, file: webConfig.path, checked };
}

const getAs = async (url: string, authorization: string | undefined): Promise<HttpResponse> =>
  get(url, { headers: authorization === undefined ? {} : { authorization } });

const status = async (url: string, user: string, password: string): Promise<number> =>
  (await getAs(`${url}/metrics`, basic(user, password))).status;

describe('credentials', () => {
  it.each([
    ['of ASCII characters', 'alice', 'secret'],
    ['with colons in the password', 'alice', ':a:b:'],
    ['in UTF-8', 'Ælfrēd 😀', 'пароль 密码 é'],
    ['that are an empty password', 'alice', ''],
    ['with an empty user name', '', 'secret'],
    ['of a user named constructor', 'constructor', 'secret'],
    ['with a password longer than bcrypt uses', 'alice', 'x'.repeat(100)],
  ])('%s are accepted if they are right', async (_title, user, password) => {
    const { url } = await start(usersYaml({ [user]: hashOf(password) }));
    expect((await getAs(url, basic(user, password).replace('Basic', 'bASIC'))).status).toBe(200);
    expect(await status(url, user, `${password.slice(0, 20)}?`)).toBe(401);
    expect(await status(url, `${user}?`, password)).toBe(401);
  });

  it('are rejected if they are malformed or wrong', async () => {
    const { url } = await start(usersYaml({ alice: hashOf('secret') }));
    const rejected = [
      undefined,
      'Basic',
      `Bearer ${Buffer.from('alice:secret').toString('base64')}`,
      'Basic alice:secret',
      'Basic YWxpY2U6c2VjcmV0MQ',
      `${basic('alice', 'secret')}, Basic x`,
      'Basic __8=',
      `Basic ${Buffer.from('alice').toString('base64')}`,
      `Basic ${Buffer.from('alice:\xff', 'latin1').toString('base64')}`,
      basic('alice', 'Secret'),
      basic('alice', 'secre'),
      basic('alice', 'secret\0x'),
      basic('Alice', 'secret'),
      basic('alice', '$2y$04$'),
    ];
    for (const authorization of rejected) {
      expect(await getAs(`${url}/metrics`, authorization), authorization).toMatchObject({
        status: 401,
        text: 'unauthorized\n',
        headers: {
          'www-authenticate': 'Basic realm="metrics", charset="UTF-8"',
          'cache-control': 'no-store',
          connection: 'close',
        },
      });
    }
  });
});

it('a password is required for every path, however it is written', async () => {
  const { url } = await start(usersYaml({ alice: hashOf('secret') }));
  for (const path of ['/metrics', '/', '/none', '/%', '/-/healthy', '//-/healthy', '/-/../metrics', 'http://[']) {
    const anonymous = await rawClient(url, requestText(path));
    expect(await anonymous.closed, path).toMatch(/^HTTP\/1\.1 401 /);
    const headers = { Authorization: basic('alice', 'secret'), Connection: 'close' };
    const authenticated = await rawClient(url, requestText(path, headers));
    expect(await authenticated.closed, path).not.toMatch(/^HTTP\/1\.1 401 /);
  }
  expect((await get(`${url}/-/reload`, { method: 'POST' })).status).toBe(401);
});

describe('the cache of credentials', () => {
  it('verifies a right password once, also for concurrent requests', async () => {
    const verifySlowly: VerifyPassword = async (login) => {
      await sleep(100);
      return verifyOnMainThread(login);
    };
    const { url, checked } = await start(usersYaml({ alice: hashOf('secret') }), verifySlowly);
    const together = await Promise.all(Array.from({ length: 30 }, async () => status(url, 'alice', 'secret')));
    expect(new Set(together)).toEqual(new Set([200]));
    expect(await status(url, 'alice', 'secret')).toBe(200);
    expect(checked.length).toBe(1);
  });

  it('does not contain wrong passwords, so that they evict nothing', async () => {
    let checks = 0;
    const authenticate = createAuthenticator(async ({ password }) => {
      checks += 1;
      return password === 'secret';
    });
    const users = new Map([['alice', hashOf('secret')]]);
    expect(await authenticate(users, basic('alice', 'secret'))).toBe('accepted');
    for (let guess = 0; guess < 300; guess += 1) await authenticate(users, basic('alice', `${guess}`));
    expect(await authenticate(users, basic('alice', '7'))).toBe('rejected');
    expect(await authenticate(users, basic('alice', 'secret'))).toBe('accepted');
    expect(checks).toBe(302);
  });

  it('does not confuse credentials whose concatenation is equal (CVE-2022-46146)', async () => {
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

  it('is invalid for a user whose password was changed or who was removed', async () => {
    const { url, file } = await start(usersYaml({ alice: hashOf('old'), bob: hashOf('secret') }));
    expect(await status(url, 'alice', 'old')).toBe(200);
    expect(await status(url, 'bob', 'secret')).toBe(200);
    writeFileSync(file, usersYaml({ alice: hashOf('new') }));
    await waitUntil(async () => (await status(url, 'alice', 'old')) !== 200);
    expect(await status(url, 'alice', 'new')).toBe(200);
    expect(await status(url, 'bob', 'secret')).toBe(401);
  });
});

describe('untrusted clients', () => {
  it('cannot detect by timing whether a user exists: unknown users get a hash of the same cost that no password has', async () => {
    const { url, checked } = await start(usersYaml({ alice: hashOf('secret', 5) }));
    expect(await status(url, 'unknown', '')).toBe(401);
    expect(checked).toEqual(['$2b$05$'.padEnd(60, '.')]);
  });

  it('are rejected while sixteen passwords are being verified; cached credentials are still accepted', async () => {
    let holds = false;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const check: VerifyPassword = async (login) => {
      if (holds) await held;
      return verifyOnMainThread(login);
    };
    const { url, checked } = await start(usersYaml({ alice: hashOf('secret') }), check);
    expect(await status(url, 'alice', 'secret')).toBe(200);
    holds = true;
    const guesses = Array.from({ length: 16 }, async (_, guess) => status(url, 'alice', `${guess}`));
    await waitUntil(() => checked.length >= 17);
    expect(await getAs(`${url}/metrics`, basic('alice', 'one more'))).toMatchObject({
      status: 503,
      text: 'too many logins at once\n',
      headers: { 'retry-after': '1', connection: 'close' },
    });
    expect(await status(url, 'alice', 'secret')).toBe(200);
    release();
    expect(new Set(await Promise.all(guesses))).toEqual(new Set([401]));
  });

  it('that leave during the verification are not counted as requests in flight', async () => {
    let release = (): void => undefined;
    const held = new Promise<boolean>((resolve) => {
      release = () => resolve(true);
    });
    const { url, checked } = await start(usersYaml({ alice: hashOf('secret') }), async () => held, 1);
    const headers = { Authorization: basic('alice', 'secret') };
    const leaving = await rawClient(url, requestText('/metrics', headers).repeat(2));
    await waitUntil(() => checked.length >= 1);
    leaving.socket.destroy();
    await leaving.closed;
    // The server may notice later that the client has left.
    await sleep(50);
    release();
    expect(await status(url, 'alice', 'secret')).toBe(200);
  });

  it('are rejected with an internal error when the verification fails', async () => {
    const { url } = await start(usersYaml({ alice: hashOf('secret') }), () => Promise.reject(new Error('broken')));
    expect(await getAs(`${url}/metrics`, basic('alice', 'secret'))).toMatchObject({
      status: 500,
      text: 'internal error\n',
    });
  });
});

describe('headers', () => {
  it('of the file are in every response and replace the defaults', async () => {
    const { url } = await start(
      `http_server_config: {headers: {X-Frame-Options: sameorigin, Strict-Transport-Security: max-age=1}}\n${usersYaml({ alice: hashOf('x') })}`,
    );
    for (const authorization of [undefined, basic('alice', 'x')]) {
      expect((await getAs(url, authorization)).headers).toMatchObject({
        'x-frame-options': 'sameorigin',
        'strict-transport-security': 'max-age=1',
        'referrer-policy': 'no-referrer',
      });
    }
  });
});

describe('the built daemon', () => {
  it('serves without delay while fifty passwords are tried at once', async () => {
    const { path } = await webConfigOf(usersYaml({ alice: hashOf('secret', 10) }));
    const daemon = await startDaemon([`--web.config.file=${path}`], { BRIDGE_URL: 'http://127.0.0.1:1' });
    try {
      expect(await status(daemon.url, 'alice', 'secret')).toBe(200);
      const began = performance.now();
      const ended = new AbortController();
      const guesses = Array.from({ length: 50 }, async (_, guess) => status(daemon.url, 'alice', `${guess}`));
      const tries = Promise.all(guesses).finally(() => ended.abort());
      const delays: number[] = [];
      while (!ended.signal.aborted) {
        const started = performance.now();
        expect(await status(daemon.url, 'alice', 'secret')).toBe(200);
        delays.push(performance.now() - started);
      }
      const statuses = await tries;
      const wrong = statuses.filter((code) => code === 401).length;
      const checkMs = (performance.now() - began) / wrong;
      expect(new Set(statuses)).toEqual(new Set([401, 503]));
      expect(wrong).toBeGreaterThanOrEqual(16);
      expect(delays.length).toBeGreaterThan(10);
      // On the main thread, every response would wait for the verification before it.
      const median = delays.toSorted((left, right) => left - right)[Math.floor(delays.length / 2)];
      expect(median).toBeLessThan(checkMs / 2);
      const { code, ms } = await daemon.stop();
      expect(code).toBe(0);
      expect(ms).toBeLessThan(10_000);
    } finally {
      await daemon.stop('SIGKILL');
    }
  });
});
