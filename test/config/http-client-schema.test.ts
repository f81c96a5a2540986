import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { formatConfig, parseConfig, type Config } from '../../src/config/config.js';
import { loadConfig } from '../../src/config/load.js';
import { reveal } from '../../src/config/kit/secret.js';
import { createAuthority } from '../support/certificates.js';

/** A file with these lines for its endpoint; they begin in line 5. */
const withBridge = (lines: string, url = 'https://a.example') =>
  `targets:\n  - name: a\n    bridge:\n      url: ${url}\n${lines.replaceAll(/^/gm, '      ')}`;

const authority = createAuthority();
const own = authority.issue('exporter');
const block = (pem: string) => pem.trimEnd().replaceAll('\n', '\n    ');
const pemKey = (key: string, pem: string) => `  ${key}: |\n    ${block(pem)}`;

const AUTH = 'expected a mapping with username, username_file, password, password_file';
const AUTHORIZATION = 'expected a mapping with type, credentials, credentials_file';
const HEADER = 'expected a mapping with values, secrets, files';
const TLS =
  'expected a mapping with ca, ca_file, cert, cert_file, key, key_file, server_name, insecure_skip_verify, min_version, max_version';
const ASCII = 'expected at most 8192 visible ASCII characters, since a header carries them';
const USER = 'expected a user name, without colons and control characters';
const SCHEME = 'expected one word such as Bearer; for Basic there is basic_auth';
const CERTIFICATES = 'expected certificates in PEM form';
const PROXY = 'expected an http or https address such as http://proxy.example.org:3128';
const FILE = 'expected the name of a file';
const other = 'is text of another form';

const bad: readonly (readonly [title: string, lines: string, ...problems: string[]])[] = [
  ['user and password as text', 'basic_auth: u:hunter2', `5: basic_auth: ${other} — ${AUTH}`],
  ['a basic_auth left empty', 'basic_auth:', `5: basic_auth: is empty — ${AUTH}`],
  [
    'a basic_auth without anything',
    'basic_auth: {}',
    '5: basic_auth.username: is missing — expected username or username_file',
  ],
  [
    'everything twice',
    'basic_auth: {username: u, username_file: f, password: hunter2, password_file: f}',
    '5: basic_auth.username_file: is given beside username — expected one or the other',
    '5: basic_auth.password_file: is given beside password — expected one or the other',
  ],
  ['a colon in a user name', 'basic_auth: {username: "u:hunter2"}', `5: basic_auth.username: ${other} — ${USER}`],
  [
    'an empty password',
    'basic_auth: {username: u, password: ""}',
    '5: basic_auth.password: is empty — expected text of at most 8192 characters',
  ],
  [
    'a password that is a truth value, or a list',
    'basic_auth: {username: [u], password: true}',
    `5: basic_auth.username: is a list — ${USER}`,
    '5: basic_auth.password: is a truth value — expected text of at most 8192 characters',
  ],
  [
    'the name of a file in two lines',
    String.raw`basic_auth: {username: u, password_file: "hunter2\nhunter2"}`,
    `5: basic_auth.password_file: ${other} — ${FILE}`,
  ],
  [
    'a misspelt key',
    'basic_auth: {username: u, pasword: hunter2}',
    '5: basic_auth.pasword: unknown key — did you mean password?',
  ],
  ['a token as text', 'authorization: Bearer hunter2', `5: authorization: ${other} — ${AUTHORIZATION}`],
  [
    'no credentials',
    'authorization: {type: Bearer}',
    '5: authorization.credentials: is missing — expected credentials or credentials_file',
  ],
  [
    'two credentials',
    'authorization: {credentials: hunter2, credentials_file: f}',
    '5: authorization.credentials_file: is given beside credentials — expected one or the other',
  ],
  [
    'Basic by hand',
    'authorization: {type: basic, credentials: hunter2}',
    `5: authorization.type: ${other} — ${SCHEME}`,
  ],
  ['two words', 'authorization: {type: Bearer hunter2, credentials: x}', `5: authorization.type: ${other} — ${SCHEME}`],
  [
    'credentials in two lines',
    String.raw`authorization: {credentials: "a\r\nX-Evil: hunter2"}`,
    `5: authorization.credentials: ${other} — ${ASCII}`,
  ],
  [
    'two ways to say who asks',
    'basic_auth: {username: u}\nauthorization: {credentials: hunter2}',
    '6: authorization: is given beside basic_auth — expected one or the other',
  ],
  [
    'two ways, both wrong',
    'basic_auth: {}\nauthorization: hunter2',
    '5: basic_auth.username: is missing — expected username or username_file',
    `6: authorization: ${other} — ${AUTHORIZATION}`,
    '6: authorization: is given beside basic_auth — expected one or the other',
  ],
  [
    'headers as text',
    'http_headers: "X-Key: hunter2"',
    `5: http_headers: ${other} — expected a mapping with names of headers`,
  ],
  ['a header as text', 'http_headers: {X-Key: hunter2}', `5: http_headers.X-Key: ${other} — ${HEADER}`],
  [
    'a header without a value',
    'http_headers: {X-Key: {}}',
    '5: http_headers.X-Key: has no value — expected values, secrets or files',
  ],
  [
    'a header with an empty list',
    'http_headers: {X-Key: {values: []}}',
    '5: http_headers.X-Key.values: is empty — expected at least one, or no such key',
  ],
  [
    'a value that is no list',
    'http_headers: {X-Key: {secrets: hunter2}}',
    `5: http_headers.X-Key.secrets: ${other} — expected a list`,
  ],
  [
    'values that would begin other headers',
    String.raw`http_headers: {X-Key: {values: ["hunter2\n"], secrets: ["\rhunter2", "hünter2", ""], files: [""]}}`,
    `5: http_headers.X-Key.values[0]: ${other} — ${ASCII}`,
    `5: http_headers.X-Key.secrets[0]: ${other} — ${ASCII}`,
    `5: http_headers.X-Key.secrets[1]: ${other} — ${ASCII}`,
    `5: http_headers.X-Key.secrets[2]: is empty — ${ASCII}`,
    `5: http_headers.X-Key.files[0]: is empty — ${FILE}`,
  ],
  [
    'a misspelt key of a header',
    'http_headers: {X-Key: {secret: [hunter2]}}',
    '5: http_headers.X-Key.secret: unknown key — did you mean secrets?',
    '5: http_headers.X-Key: has no value — expected values, secrets or files',
  ],
  [
    'headers that are not for configurations to set',
    'http_headers: {Authorization: {secrets: [hunter2]}, HOST: {values: [a]}, content-length: {values: [0]}, "a b": {values: [x]}}',
    '5: http_headers.Authorization: is not set here — expected basic_auth or authorization',
    '5: http_headers.HOST: is not free to be set — expected another header',
    '5: http_headers.content-length: is not free to be set — expected another header',
    '5: http_headers["a b"]: is not the name of a header — expected one such as X-Api-Key',
  ],
  [
    'a header in two spellings',
    'http_headers: {X-Key: {values: [a]}, x-key: {values: [b]}}',
    '5: http_headers.x-key: is the header X-Key again — expected it once',
  ],
  ['TLS as text', 'tls_config: strict', `5: tls_config: ${other} — ${TLS}`],
  [
    'a certificate without a key',
    'tls_config: {cert_file: c}',
    '5: tls_config.key: is missing — expected key or key_file beside the certificate',
  ],
  [
    'a key without a certificate',
    'tls_config: {key_file: k}',
    '5: tls_config.cert: is missing — expected cert or cert_file beside the key',
  ],
  [
    'authorities twice',
    `tls_config:\n  ca_file: c\n${pemKey('ca', authority.cert)}`,
    '6: tls_config.ca_file: is given beside ca — expected one or the other',
  ],
  [
    'texts that are not PEM',
    'tls_config: {ca: hunter2, cert: hunter2, key: hunter2}',
    `5: tls_config.ca: holds no certificate in PEM form — ${CERTIFICATES}`,
    `5: tls_config.cert: holds no certificate in PEM form — ${CERTIFICATES}`,
    `5: tls_config.key: ${other} — expected a private key in PEM form, without passphrase`,
  ],
  [
    'a certificate that is damaged',
    `tls_config:\n${pemKey('ca', `${authority.cert}${authority.cert.replace('MII', 'MIX')}`)}`,
    `6: tls_config.ca: holds a certificate that cannot be read, at place 2 — ${CERTIFICATES}`,
  ],
  [
    'a server name that is an address on the web',
    'tls_config: {server_name: "https://a.example"}',
    '5: tls_config.server_name: "https://a.example" — expected a host name or an IP address',
  ],
  [
    'a truth value in other words',
    'tls_config: {insecure_skip_verify: yes}',
    '5: tls_config.insecure_skip_verify: "yes" — expected true or false',
  ],
  [
    'a version as others write it',
    'tls_config: {min_version: "1.2", max_version: TLS13}',
    '5: tls_config.min_version: "1.2" — expected one of TLS10, TLS11, TLS12, TLS13',
  ],
  [
    'versions the wrong way round',
    'tls_config: {max_version: TLS11}',
    '5: tls_config.max_version: TLS11 is below min_version (TLS12) — expected at least that',
  ],
  [
    'a proxy of another kind',
    'proxy_url: socks5://u:hunter2@p:1080',
    `5: proxy_url: is not an http or https address — ${PROXY}`,
  ],
  [
    'a proxy that is no address',
    'proxy_url: http://u:hunter2 @p',
    `5: proxy_url: is not a well-formed address — ${PROXY}`,
  ],
  [
    'a proxy with more than an address',
    'proxy_url: http://u:hunter2@p:3128/path?hunter2#hunter2',
    `5: proxy_url: http://p:3128 is given with a path, query or fragment — ${PROXY}`,
  ],
  [
    'a proxy with a broken password',
    'proxy_url: http://u:hunter2%@p',
    `5: proxy_url: http://p is given with a user or password that is not well percent-encoded — ${PROXY}`,
  ],
  ['no proxy', 'proxy_url: ""', `5: proxy_url: is empty — ${PROXY}`],
];

function accepted(text: string, source = 'b.yaml'): Config {
  const result = parseConfig(text, source);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.config;
}

const everyKey = withBridge(`authorization: {credentials: hunter2}
http_headers:
  X-Open: {values: [a, b]}
  X-Key: {values: [c], secrets: [hunter2], files: [keys/x, /keys/y]}
tls_config:
  ca_file: ca.crt
${pemKey('cert', own.cert)}
${pemKey('key', own.key)}
  server_name: node.example
  insecure_skip_verify: false
  min_version: TLS13
proxy_url: http://u%20x:hunter2@Proxy.Example:3128/`);

describe('how an endpoint is reached', () => {
  test.each(bad)('is refused for %s', (_title, lines, ...problems) => {
    const result = parseConfig(withBridge(lines), 'f');
    expect(result).toEqual({
      ok: false,
      problems: problems.map((problem) => `f:${problem.replace(': ', ': targets[0].bridge.')}`),
    });
    expect(inspect(result, { depth: 9 })).not.toMatch(/hunter2|hünter2/);
  });

  test('is refused in the same words for the other endpoint', () => {
    const text = 'targets: [{name: a, crosschain: {url: "https://a.example", authorization: {}, proxy_url: p}}]';
    expect(parseConfig(text, 'f')).toEqual({
      ok: false,
      problems: [
        'f:1: targets[0].crosschain.authorization.credentials: is missing — expected credentials or credentials_file',
        `f:1: targets[0].crosschain.proxy_url: is not an http or https address — ${PROXY}`,
      ],
    });
  });

  test('is not shown where an address with a password stands for an endpoint', () => {
    const result = parseConfig('targets: [{name: a, bridge: "https://u:hunter2@a.example"}]', 'f');
    expect(result).toMatchObject({ ok: false });
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });

  test('is read in full', () => {
    const { httpClient: reach } = accepted(everyKey, 'conf/b.yaml').targets[0]?.bridge ?? {};
    expect(reach).toMatchObject({
      directory: 'conf',
      authorization: { type: 'Bearer' },
      headers: [
        { name: 'X-Open', values: [{ text: 'a' }, { text: 'b' }] },
        { name: 'X-Key', values: [{ text: 'c' }, {}, { file: 'keys/x' }, { file: '/keys/y' }] },
      ],
      tls: {
        ca: { file: 'ca.crt' },
        cert: { text: own.cert },
        serverName: 'node.example',
        insecureSkipVerify: false,
        minVersion: 'TLS13',
        maxVersion: 'TLS13',
      },
      proxy: { url: 'http://proxy.example:3128' },
    });
    const { credentials } = reach?.authorization ?? {};
    expect(credentials && 'secret' in credentials && reveal(credentials.secret)).toBe('hunter2');
    expect(reach?.proxy?.userInfo && reveal(reach.proxy.userInfo)).toBe('u x:hunter2');
  });

  test('has a user, and a password or none', () => {
    expect(
      accepted(withBridge('basic_auth: {username_file: u, password_file: p}')).targets[0]?.bridge?.httpClient,
    ).toEqual({
      directory: '.',
      basicAuth: { username: { file: 'u' }, password: { file: 'p' } },
    });
    expect(accepted(withBridge('basic_auth: {username: 0123}')).targets[0]?.bridge?.httpClient).toEqual({
      directory: '.',
      basicAuth: { username: { text: '0123' } },
    });
  });

  test('is shown with all that is no secret', () => {
    expect(formatConfig(accepted(everyKey))).toContain(`
      authorization:
        type: Bearer
        credentials: <secret>
      http_headers:
        X-Open:
          values:
            - a
            - b
        X-Key:
          values:
            - c
          secrets:
            - <secret>
          files:
            - keys/x
            - /keys/y
      tls_config:
        ca_file: ca.crt
        cert: |
${own.cert.replaceAll(/^(?=.)/gm, '          ')}        key: <secret>
        server_name: node.example
        insecure_skip_verify: false
        min_version: TLS13
        max_version: TLS13
      proxy_url: http://<secret>@proxy.example:3128
`);
    const basic = formatConfig(accepted(withBridge('basic_auth: {username: u, password: hunter2}\ntls_config: {}')));
    expect(basic).toContain('basic_auth:\n        username: u\n        password: <secret>\n');
  });

  test('written as text reads as the same, where no secret is in it', () => {
    const config = accepted(
      withBridge(
        'basic_auth: {username: u, password_file: p}\nhttp_headers: {X: {files: [f]}}\ntls_config: {ca_file: c}',
      ),
    );
    expect(accepted(formatConfig(config))).toEqual(config);
  });

  test('crosses to another thread with its secrets, which nothing else shows', () => {
    const config = accepted(everyKey);
    const { credentials } = structuredClone(config).targets[0]?.bridge?.httpClient?.authorization ?? {};
    expect(credentials && 'secret' in credentials && reveal(credentials.secret)).toBe('hunter2');
    const shown = [JSON.stringify(config), inspect(config, { depth: 20, showHidden: true }), formatConfig(config)];
    expect(shown.filter((text) => /hunter2|PRIVATE/.test(text))).toEqual([]);
  });

  test.each([
    [
      'any certificate is taken',
      withBridge('tls_config:\n  insecure_skip_verify: true'),
      'b:6: targets[0].bridge.tls_config.insecure_skip_verify: whoever is between here and the node can pose as the node',
    ],
    [
      'TLS is configured, and the address is an http one',
      withBridge('tls_config: {server_name: a}', 'http://a.example'),
      'b:5: targets[0].bridge.tls_config: has no effect: url is not an https address',
    ],
  ])('is doubted when %s', (_title, text, warning) => {
    expect(parseConfig(text, 'b')).toMatchObject({ ok: true, warnings: [warning] });
  });

  test('is not doubted when the proxy is an https one', () => {
    const text = withBridge('tls_config: {server_name: a}\nproxy_url: https://p', 'http://a.example');
    expect(parseConfig(text, 'b')).toMatchObject({ ok: true, warnings: [] });
  });
});

describe('the files a configuration names', () => {
  const folder = mkdtempSync(join(tmpdir(), 'config-reach-'));
  const configFile = join(folder, 'bridge.yaml');
  mkdirSync(join(folder, 'folder'));
  writeFileSync(join(folder, 'good'), 'hunter2\n');
  writeFileSync(join(folder, 'empty'), '\n');

  async function load(lines: string, checkFiles: boolean) {
    writeFileSync(configFile, withBridge(lines));
    return loadConfig({ configFile, env: {}, readFile: (path) => readFile(path, 'utf8'), checkFiles });
  }

  const wrong = `basic_auth:
  username: u
  password_file: missing
http_headers:
  X-Key: {values: [v], files: [good, empty]}
tls_config:
  ca_file: good
  cert_file: ${own.certFile}
  key_file: ${authority.keyFile}`;
  const problems = [
    [7, 'basic_auth.password_file', `${join(folder, 'missing')} cannot be read: ENOENT: no such file or directory`],
    [9, 'http_headers.X-Key.files[1]', `${join(folder, 'empty')} is empty`],
    [10, 'tls_config', 'the key is not that of the certificate'],
    [11, 'tls_config.ca_file', `${join(folder, 'good')} holds no certificate in PEM form`],
  ].map(([line, path, problem]) => `${configFile}:${line}: targets[0].bridge.${path}: ${problem}`);

  test('are checked with the configuration', async () => {
    expect(await load(wrong, true)).toEqual({ ok: false, problems });
  });

  test('are warned about at the start, since all other endpoints are to go on', async () => {
    expect(await load(wrong, false)).toMatchObject({ ok: true, warnings: problems });
  });

  test('may all be right', async () => {
    const right = `authorization: {credentials_file: ./good}
tls_config: {ca_file: ${authority.certFile}, cert_file: ${own.certFile}, key_file: ${own.keyFile}}`;
    expect(await load(right, true)).toMatchObject({ ok: true, warnings: [] });
  });

  test.each([
    ['is a folder', 'folder', 'is not a file'],
    ['is in none', 'good/x', 'cannot be read: ENOTDIR: not a directory'],
  ])('one that %s', async (_title, name, problem) => {
    expect(await load(`authorization: {credentials_file: ${name}}`, true)).toEqual({
      ok: false,
      problems: [`${configFile}:5: targets[0].bridge.authorization.credentials_file: ${join(folder, name)} ${problem}`],
    });
  });
});

test('no configuration makes the reader throw or show a secret, wherever it stands', () => {
  const keys = fc.constantFrom(
    'basic_auth',
    'authorization',
    'http_headers',
    'tls_config',
    'proxy_url',
    'username',
    'password',
    'credentials',
    'type',
    'values',
    'secrets',
    'X-Key',
    'ca',
    'key',
    '__proto__',
  );
  const secret = fc.constantFrom('hunter2', 'u:hunter2', 'http://u:hunter2@p/', 'Bearer hunter2', 'hunter2\nhunter2');
  const { node } = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      secret,
      fc.constantFrom(null, true, 1),
      fc.array(tie('node'), { maxLength: 2 }),
      fc.dictionary(keys, tie('node'), { maxKeys: 4 }),
    ),
  }));
  const endpoint = fc.dictionary(keys, node, { maxKeys: 5 });
  fc.assert(
    fc.property(endpoint, (given) => {
      const text = stringify({ targets: [{ name: 'a', bridge: { url: 'https://a.example', ...given } }] });
      const result = parseConfig(text, 'b');
      // What is open by its nature: a user name, and the values of a header.
      const shown = result.ok ? formatConfig(result.config).replaceAll(/^ +(?:username:|-) .*$/gm, '') : '';
      return !`${inspect(result.ok ? result.warnings : result, { depth: 9 })}${shown}`.includes('hunter2');
    }),
    { numRuns: 5_000 },
  );
});
