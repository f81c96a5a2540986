import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAgents } from '../../src/http/agents.js';
import { createRedactor } from '../../src/http/redact.js';
import { client, folder, outcome, startNode, type Node } from './nodes.js';

let node: Node;

beforeAll(async () => {
  node = await startNode();
});

afterAll(async () => {
  await client.close();
  await node.close();
});

function write(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content);
  return name;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const seen = (name: string) => node.requests.at(-1)?.headers[name];

describe('who asks', () => {
  it('is nobody when nothing is configured', async () => {
    expect(await outcome(node.url, {})).toBe('ok');
    expect(Object.keys(node.requests.at(-1)?.headers ?? {}).toSorted()).toEqual(
      ['accept', 'accept-encoding', 'cache-control', 'connection', 'host', 'user-agent'].toSorted(),
    );
  });

  it.each([
    ['a user with a password', { basic_auth: { username: 'ü', password: ' p:ä ' } }, `Basic ${base64('ü: p:ä ')}`],
    ['a user without one', { basic_auth: { username: 'u' } }, `Basic ${base64('u:')}`],
    ['a token', { authorization: { credentials: 'tok' } }, 'Bearer tok'],
    ['another scheme', { authorization: { type: 'ApiKey', credentials: 'a b' } }, 'ApiKey a b'],
  ])('is %s', async (_title, keys, expected) => {
    expect(await outcome(node.url, keys)).toBe('ok');
    expect(seen('authorization')).toBe(expected);
  });

  it('is a user and a password of files beside the configuration file, without the line breaks at their ends', async () => {
    const keys = { basic_auth: { username_file: write('user', 'u\r\n'), password_file: write('password', 'p \n\n') } };
    expect(await outcome(node.url, keys)).toBe('ok');
    expect(seen('authorization')).toBe(`Basic ${base64('u:p ')}`);
  });

  it('is a token of a file with an absolute name', async () => {
    const file = join(folder, write('token', '\u{feff}tok\n'));
    expect(await outcome(node.url, { authorization: { credentials_file: file } })).toBe('ok');
    expect(seen('authorization')).toBe('Bearer tok');
  });

  it('is what further headers say, which may replace ours', async () => {
    const keys = {
      http_headers: {
        'X-Api-Key': { values: ['open'], secrets: ['hidden'], files: [write('key', 'filed\n')] },
        ACCEPT: { values: ['application/json'] },
      },
    };
    expect(await outcome(node.url, keys)).toBe('ok');
    expect(seen('x-api-key')).toBe('open, hidden, filed');
    expect(seen('accept')).toBe('application/json');
  });

  it('is not told to the place a redirect points to', async () => {
    const [other, redirecting] = await Promise.all([
      startNode(),
      startNode({
        answer: (_request, response) => {
          response.writeHead(307, { location: `${other.url}/state` }).end();
        },
      }),
    ]);
    const keys = { authorization: { credentials: 'tok' } };
    expect(await outcome(redirecting.url, keys)).toBe('status: /state was answered with status 307');
    expect(other.requests).toEqual([]);
    await Promise.all([other.close(), redirecting.close()]);
  });
});

describe('the file of a password', () => {
  const keys = { basic_auth: { username: 'u', password_file: 'changing' } };
  const path = join(folder, 'changing');

  it('is read again for every poll', async () => {
    write('changing', 'first');
    expect(await outcome(node.url, keys)).toBe('ok');
    write('changing', 'other');
    expect(await outcome(node.url, keys)).toBe('ok');
    expect(node.requests.slice(-2).map(({ headers }) => headers.authorization)).toEqual(
      ['first', 'other'].map((password) => `Basic ${base64(`u:${password}`)}`),
    );
  });

  const bad: readonly (readonly [title: string, make: () => unknown, message: string])[] = [
    ['is missing', () => undefined, 'cannot be read: ENOENT: no such file or directory'],
    ['is empty', () => write('changing', '\n'), 'is empty'],
    ['is a folder', () => mkdirSync(path), 'is not a file'],
    ['is a pipe nobody writes to', () => execFileSync('mkfifo', [path]), 'is not a file'],
    ['is longer than any header', () => write('changing', 'x'.repeat(8193)), 'is longer than 8192 characters'],
    ['is longer than any such file', () => write('changing', 'x'.repeat(1024 * 1024 + 1)), 'is larger than 1MiB'],
    ['is not text', () => write('changing', Buffer.from([0xff, 0xfe])), 'is not UTF-8'],
  ];

  it.each(bad)('that %s fails the poll before the node is asked, until it is right', async (_title, make, message) => {
    rmSync(path, { recursive: true, force: true });
    make();
    const asked = node.requests.length;
    expect(await outcome(node.url, keys)).toBe(`bad_request: /state was not asked: ${path} ${message}`);
    expect(node.requests.length).toBe(asked);
    rmSync(path, { recursive: true, force: true });
    write('changing', 'right');
    expect(await outcome(node.url, keys)).toBe('ok');
  });

  it('and those of others fail it with all that is wrong', async () => {
    const several = {
      basic_auth: { username_file: write('colon', 'a:b'), password_file: 'none' },
      http_headers: { 'X-Key': { values: ['v'], files: [write('lines', 'a\nb'), 'nowhere'] } },
    };
    const missing = 'cannot be read: ENOENT: no such file or directory';
    expect(await outcome(node.url, several)).toBe(
      `bad_request: /state was not asked: ${[
        `${join(folder, 'none')} ${missing}`,
        `${join(folder, 'colon')} contains a colon or control characters`,
        `${join(folder, 'lines')} is not a header value of at most 8192 visible ASCII characters, spaces or tabs`,
        `${join(folder, 'nowhere')} ${missing}`,
      ].join('; ')}`,
    );
  });
});

describe('a node that sends back what it was sent', () => {
  const password = 'pa/ss+wörd "1"';
  const token = 'tok3n/+=~(x)';
  const ways: readonly (readonly [title: string, keys: Readonly<Record<string, unknown>>, sent: readonly string[]])[] =
    [
      [
        'a password',
        { basic_auth: { username: 'u', password } },
        [password, `u:${password}`, `Basic ${base64(`u:${password}`)}`],
      ],
      ['a token', { authorization: { credentials: token } }, [token, `Bearer ${token}`]],
      ['a header', { http_headers: { 'X-Key': { secrets: [token] } } }, [token]],
      ['a header of a file', { http_headers: { 'X-Key': { files: [write('echoed', token)] } } }, [token]],
    ];

  const encodings: readonly ((text: string) => string)[] = [
    (text) => text,
    (text) => text.toUpperCase(),
    base64,
    (text) => Buffer.from(text).toString('base64url'),
    (text) => Buffer.from(text).toString('hex'),
    encodeURIComponent,
    (text) => encodeURIComponent(text).toLowerCase(),
    (text) => new URLSearchParams({ text }).toString().slice('text='.length),
    (text) => JSON.stringify(text).slice(1, -1),
    (text) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&'),
  ];

  it.each(ways)('as text or encoded shows nothing of %s', async (_title, keys, sent) => {
    for (const text of sent) {
      for (const encode of encodings) {
        const echo = encode(text);
        const echoing = await startNode({
          answer: (_request, response) => {
            response
              .writeHead(400)
              .end(JSON.stringify({ code: 3, message: `who is ${echo}? ${'x'.repeat(150)} ${echo}` }));
          },
        });
        const said = await outcome(echoing.url, keys);
        expect(said).toMatch(/^bad_request: \/state was answered with status 400: who is /);
        expect(said).toContain('<secret>');
        expect(said).not.toContain(echo.slice(0, 10));
        await echoing.close();
      }
    }
  });
});

describe('the mask', () => {
  it('leaves a text without secrets as it is', () => {
    expect(createRedactor([])('window must be positive')).toBe('window must be positive');
    expect(createRedactor([''])('window must be positive')).toBe('window must be positive');
    expect(createRedactor(['hunter2'])('window must be positive')).toBe('window must be positive');
  });

  it('hides secrets that begin each other, and those of odd characters', () => {
    expect(createRedactor(['abc', 'abcdef'])('abcdef abc ABCDE')).toBe('<secret> <secret> <secret>DE');
    expect(createRedactor(['a.c', '$&', '\\d'])(String.raw`abc a.c $& \d 1`)).toBe('abc <secret> <secret> <secret> 1');
  });

  it('hides what follows the beginning of a very long one', () => {
    const long = Array.from({ length: 8192 }, (_, index) => String.fromCodePoint(0x100 + index)).join('');
    expect(createRedactor([long, 'u'])(`you are u:${long.slice(0, 100)}…`)).toBe('yo<secret> are <secret>:<secret>');
    expect(createRedactor([long])(`you are ${encodeURIComponent(long)}!`)).toBe('you are <secret>');
    expect(createRedactor([long])(`you are ${base64(long)}!`)).toBe('you are <secret>');
  });

  it('never lets through a secret, whatever it is and stands in', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary' }), fc.string(), fc.string(), (secret, before, after) => {
        const rest = createRedactor([secret])(`${before}${secret}${after}`).replaceAll('<secret>', '');
        return secret.length < 2 || !rest.includes(secret) || `${before}${after}`.includes(secret);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the ways to nodes', () => {
  const route = { tls: undefined, proxy: undefined };
  const proxied = { tls: undefined, proxy: { url: 'http://127.0.0.1:1', userInfo: undefined } };

  it('are shared by those that are alike, and closed when nobody takes them any more', async () => {
    const dispatchers = createAgents(0);
    const first = await dispatchers.use(route, async (dispatcher) => {
      expect(await dispatchers.use({ ...route }, async (same) => same)).toBe(dispatcher);
      return dispatcher;
    });
    const second = await dispatchers.use(proxied, async (dispatcher) => dispatcher);
    expect(second).not.toBe(first);
    await expect(first.request({ origin: node.url, path: '/', method: 'GET' })).rejects.toThrow('destroyed');
    await dispatchers.close();
  });

  it('stay open while they are in use', async () => {
    const dispatchers = createAgents(0);
    await dispatchers.use(route, async (dispatcher) => {
      await dispatchers.use(proxied, async () => undefined);
      const { statusCode, body } = await dispatcher.request({ origin: node.url, path: '/', method: 'GET' });
      await body.dump();
      expect(statusCode).toBe(200);
    });
    await dispatchers.close();
  });
});
