import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folder, outcome, startNode } from './nodes.js';

const node = await startNode();

function write(name: string, content: string | Uint8Array): string {
  folder.write(name, content);
  return name;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const received = (name: string) => node.requests.at(-1)?.headers[name];

describe('the request headers', () => {
  it('contain no credentials by default', async () => {
    expect(await outcome(node.url, {})).toBe('ok');
    expect(Object.keys(node.requests.at(-1)?.headers ?? {}).toSorted()).toEqual(
      ['accept', 'accept-encoding', 'cache-control', 'connection', 'host', 'user-agent'].toSorted(),
    );
  });

  it.each([
    ['a user name and password', { basic_auth: { username: 'ü', password: ' p:ä ' } }, `Basic ${base64('ü: p:ä ')}`],
    ['a token', { authorization: { credentials: 'tok' } }, 'Bearer tok'],
    ['another authorization type', { authorization: { type: 'ApiKey', credentials: 'a b' } }, 'ApiKey a b'],
  ])('contain %s', async (_title, keys, expected) => {
    expect(await outcome(node.url, keys)).toBe('ok');
    expect(received('authorization')).toBe(expected);
  });

  it('contain a password from a file relative to the configuration file, without trailing line breaks', async () => {
    const keys = { basic_auth: { username: 'u', password_file: write('password', 'p \n\r\n') } };
    expect(await outcome(node.url, keys)).toBe('ok');
    expect(received('authorization')).toBe(`Basic ${base64('u:p ')}`);
  });

  it('contain a token from a file with an absolute path', async () => {
    const file = join(folder.path, write('token', '\u{feff}tok\n'));
    expect(await outcome(node.url, { authorization: { credentials_file: file } })).toBe('ok');
    expect(received('authorization')).toBe('Bearer tok');
  });

  it('contain the configured headers, which replace default ones', async () => {
    const keys = {
      http_headers: {
        'X-Api-Key': { values: ['open'], secrets: ['hidden'], files: [write('key', 'filed\n')] },
        ACCEPT: { values: ['application/json'] },
      },
    };
    expect(await outcome(node.url, keys)).toBe('ok');
    expect(received('x-api-key')).toBe('open, hidden, filed');
    expect(received('accept')).toBe('application/json');
  });

  it('are not sent to the target of a redirect', async () => {
    const [other, redirecting] = await Promise.all([
      startNode(),
      startNode({
        respond: (_request, response) => {
          response.writeHead(307, { location: `${other.url}/state` }).end();
        },
      }),
    ]);
    const keys = { authorization: { credentials: 'tok' } };
    expect(await outcome(redirecting.url, keys)).toBe(
      `status: /state: responded with status 307, a redirect to ${other.url}/state, which is not followed`,
    );
    expect(other.requests).toEqual([]);
  });
});

describe('a password file', () => {
  const keys = { basic_auth: { username: 'u', password_file: 'changing' } };
  const path = join(folder.path, 'changing');

  it('is read again for every request', async () => {
    write('changing', 'first');
    expect(await outcome(node.url, keys)).toBe('ok');
    write('changing', 'other');
    expect(await outcome(node.url, keys)).toBe('ok');
    expect(node.requests.slice(-2).map(({ headers }) => headers.authorization)).toEqual(
      ['first', 'other'].map((password) => `Basic ${base64(`u:${password}`)}`),
    );
  });

  const bad: readonly (readonly [title: string, make: () => unknown, message: string])[] = [
    ['is missing', () => undefined, 'cannot be read: no such file or directory'],
    ['is empty', () => write('changing', '\n'), 'is empty'],
    ['is a pipe without a writer', () => execFileSync('mkfifo', [path]), 'is not a file'],
    ['is longer than any header', () => write('changing', 'x'.repeat(8193)), 'is longer than 8192 characters'],
    ['is larger than 1 MiB', () => write('changing', 'x'.repeat(1024 * 1024 + 1)), 'is larger than 1MiB'],
    ['is not text', () => write('changing', Buffer.from([0xc3, 0x28])), 'is not UTF-8'],
  ];

  it.each(bad)(
    'that %s fails the request before it is sent, until the file is valid',
    async (_title, make, message) => {
      rmSync(path, { recursive: true, force: true });
      make();
      const sent = node.requests.length;
      expect(await outcome(node.url, keys)).toBe(`bad_request: /state: invalid configuration: ${path} ${message}`);
      expect(node.requests.length).toBe(sent);
      rmSync(path, { recursive: true, force: true });
      write('changing', 'right');
      expect(await outcome(node.url, keys)).toBe('ok');
    },
  );

  it('is reported together with all other invalid files', async () => {
    const several = {
      basic_auth: { username: 'u', password_file: 'none' },
      http_headers: { 'X-Key': { values: ['v'], files: [write('lines', 'a\nb'), 'nowhere'] } },
    };
    const missing = 'cannot be read: no such file or directory';
    expect(await outcome(node.url, several)).toBe(
      `bad_request: /state: invalid configuration: ${[
        `${join(folder.path, 'none')} ${missing}`,
        `${join(folder.path, 'lines')} has characters that are not visible ASCII characters, spaces or tabs`,
        `${join(folder.path, 'nowhere')} ${missing}`,
      ].join('; ')}`,
    );
  });
});
