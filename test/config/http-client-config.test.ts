import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { reveal } from '../../src/config/values.js';
import { loadConfig, formatConfig } from '../../src/config/loader.js';
import { createAuthority } from '../support/certificates.js';
import { parseConfig, parseValidConfig } from '../support/config.js';
import { createTempFolder } from '../support/temp-folder.js';
import { withoutColumns } from './sample-files.js';

/** A configuration file with additional lines of the endpoint from line 5 on. */
const withBridge = (lines: string, url = 'https://a.example') =>
  `targets:\n  - name: a\n    bridge:\n      url: ${url}\n${lines.replaceAll(/^/gm, '      ')}`;

const authority = createAuthority();
const clientCertificate = authority.issue('exporter');

const ASCII = 'has characters that are not visible ASCII characters, spaces or tabs';
const SCHEME = 'expected an authentication scheme such as Bearer; for Basic, use basic_auth';
const PROXY =
  'expected an http or https URL such as http://user:password@proxy.example.org:3128, with user and password percent-encoded';
const noMapping = 'Invalid input: expected object, received string';

/** Each file is rejected with all of these problems; none quotes a value. */
const invalidConfigs: readonly (readonly [title: string, lines: string, ...problems: string[]])[] = [
  [
    'strings instead of mappings, and two keys that cannot be combined',
    'basic_auth: u:hunter2\nauthorization: Bearer hunter2\nhttp_headers: "X-Key: hunter2"\ntls_config: hunter2',
    `5: basic_auth: ${noMapping}`,
    `6: authorization: ${noMapping}`,
    '7: http_headers: Invalid input: expected record, received string',
    `8: tls_config: ${noMapping}`,
    '6: authorization: cannot be combined with basic_auth',
  ],
  [
    'keys that are missing',
    'basic_auth: {}\nhttp_headers: {X-Key: {}}\ntls_config: {cert_file: c}',
    '5: basic_auth.username: is missing',
    '6: http_headers["X-Key"]: expected values or secrets or files',
    '7: tls_config: expected both cert_file and key_file',
  ],
  [
    'credentials and a certificate that are missing',
    'authorization: {type: Bearer}\ntls_config: {key_file: k}',
    '5: authorization: expected credentials or credentials_file',
    '6: tls_config: expected both cert_file and key_file',
  ],
  [
    'values that are also in files, and unknown keys',
    'basic_auth: {username: u, pasword: hunter2, password: hunter2, password_file: f}\ntls_config: {ca: hunter2}',
    '5: basic_auth.pasword: is not a supported key — expected one of username, password, password_file',
    '5: basic_auth.password_file: cannot be combined with password',
    '6: tls_config.ca: is not a supported key — expected one of ca_file, cert_file, key_file, server_name, insecure_skip_verify',
  ],
  [
    'malformed users, passwords, files and names',
    String.raw`basic_auth: {username: "u:hunter2", password: "", password_file: "hunter2\nhunter2"}
tls_config: {server_name: "https://a.example"}`,
    '5: basic_auth.username: has a colon or a control character',
    '5: basic_auth.password: is empty',
    '5: basic_auth.password_file: expected a file name',
    '5: basic_auth.password_file: cannot be combined with password',
    '6: tls_config.server_name: expected a host name or an IP address',
  ],
  [
    'malformed schemes and credentials',
    String.raw`authorization: {type: Bearer hunter2, credentials: "a\r\nX-Evil: hunter2", credentials_file: f}`,
    `5: authorization.type: ${SCHEME}`,
    `5: authorization.credentials: ${ASCII}`,
    '5: authorization.credentials_file: cannot be combined with credentials',
  ],
  ['the scheme Basic', 'authorization: {type: basic, credentials: x}', `5: authorization.type: ${SCHEME}`],
  [
    'a password that is too long',
    `basic_auth: {username: u, password: ${'hunter2'.repeat(1171)}}`,
    '5: basic_auth.password: is longer than 8192 characters',
  ],
  [
    'malformed header values',
    String.raw`http_headers: {X-Key: {values: ["hunter2\n"], secrets: ["\rhunter2", "hünter2", ""], files: [""]}, X-None: {values: []}}`,
    `5: http_headers["X-Key"].values[0]: ${ASCII}`,
    `5: http_headers["X-Key"].secrets[0]: ${ASCII}`,
    `5: http_headers["X-Key"].secrets[1]: ${ASCII}`,
    '5: http_headers["X-Key"].secrets[2]: is empty',
    '5: http_headers["X-Key"].files[0]: expected a file name',
    '5: http_headers["X-None"].values: Too small: expected array to have >=1 items',
  ],
  [
    'reserved and invalid header names',
    'http_headers: {Authorization: {secrets: [hunter2]}, HOST: {values: [a]}, "a b": {values: [x]}}',
    '5: http_headers.Authorization: cannot be set here, use basic_auth or authorization',
    '5: http_headers.HOST: is a reserved header',
    '5: http_headers["a b"]: expected a header name such as X-Api-Key',
  ],
  ...[
    'socks5://u:hunter2@p:1080',
    'http://u:hunter2 @p',
    'http://u:hunter2@p:3128/path?hunter2#hunter2',
    'http://u:hunter2%@p',
  ].map((url): [string, string, string] => [`the proxy ${url}`, `proxy_url: ${url}`, `5: proxy_url: ${PROXY}`]),
  [
    'a proxy of its own and that of the environment',
    'proxy_url: http://p\nproxy_from_environment: true',
    '6: proxy_from_environment: cannot be combined with proxy_url',
  ],
  ['exceptions without a proxy', 'no_proxy: a.example', '5: no_proxy: requires proxy_url'],
  ...['http://a.example', 'a.example b.example', '10.0.0.0/33', '10.0.0.0/-1', 'a/b', '*.*', '..'].map(
    (text): [string, string, string] => [
      `exceptions such as ${text}`,
      `proxy_url: http://p\nno_proxy: "c.example, ${text}"`,
      '6: no_proxy: expected names, domains, addresses and CIDR blocks, separated by commas',
    ],
  ),
];

const everyKey = withBridge(`authorization: {credentials: hunter2}
http_headers:
  X-Open: {values: [a, b]}
  X-Key: {values: [c], secrets: [hunter2], files: [keys/x, /keys/y]}
tls_config: {ca_file: ca.crt, cert_file: own.crt, key_file: own.key, server_name: node.example}
proxy_url: http://u%20x:hunter2@Proxy.Example:3128/
no_proxy: .internal.example, 10.0.0.0/8`);

describe('the HTTP client configuration of an endpoint', () => {
  test.each(invalidConfigs)('is rejected with %s', (_title, lines, ...problems) => {
    const result = parseConfig(withBridge(lines), 'f');
    expect(withoutColumns(result)).toEqual({
      ok: false,
      problems: problems.map((problem) => `f:${problem.replace(': ', ': targets[0].bridge.')}`),
    });
    expect(inspect(result, { depth: 9 })).not.toMatch(/hunter2|hünter2/);
  });

  test('is parsed with all keys', () => {
    const bridge = parseValidConfig(everyKey, '/conf/b.yaml').targets[0]?.bridge;
    expect(bridge).toMatchObject({
      authorization: { type: 'Bearer' },
      http_headers: {
        'X-Open': { values: ['a', 'b'] },
        'X-Key': { values: ['c'], files: ['/conf/keys/x', '/keys/y'] },
      },
      tls_config: {
        ca_file: '/conf/ca.crt',
        cert_file: '/conf/own.crt',
        key_file: '/conf/own.key',
        server_name: 'node.example',
        insecure_skip_verify: false,
      },
      proxy_url: { url: 'http://proxy.example:3128' },
      no_proxy: '.internal.example, 10.0.0.0/8',
    });
    const { credentials } = bridge?.authorization ?? {};
    expect(credentials && reveal(credentials)).toBe('hunter2');
    const { userInfo } = bridge?.proxy_url ?? {};
    expect(userInfo && reveal(userInfo)).toBe('u x:hunter2');
  });

  test('can have a password from a file, or none', () => {
    const basicAuth = (lines: string) => parseValidConfig(withBridge(lines), '/b').targets[0]?.bridge?.basic_auth;
    expect(basicAuth('basic_auth: {username: u, password_file: p}')).toEqual({ username: 'u', password_file: '/p' });
    expect(basicAuth('basic_auth: {username: 0123}')).toEqual({ username: '0123' });
  });

  test('is printed with secrets redacted', () => {
    const printed = formatConfig(parseValidConfig(everyKey, '/conf/b.yaml'));
    expect(printed).toContain('        type: Bearer\n        credentials: <secret>\n');
    expect(printed).toContain('          values:\n            - c\n          secrets:\n            - <secret>\n');
    expect(printed).toContain('proxy_url: http://<secret>@proxy.example:3128\n');
    const basic = formatConfig(parseValidConfig(withBridge('basic_auth: {username: u, password: hunter2}')));
    expect(basic).toContain('basic_auth:\n        username: u\n        password: <secret>\n');
  });

  test.each([
    [
      'certificates are not verified',
      withBridge('tls_config:\n  insecure_skip_verify: true'),
      'b:6:9: targets[0].bridge.tls_config.insecure_skip_verify: the certificate of the node is not verified, so the connection can be intercepted',
    ],
    [
      'TLS is configured for an http URL',
      withBridge('tls_config: {server_name: a}', 'http://a.example'),
      'b:5:7: targets[0].bridge.tls_config: has no effect: neither url nor proxy_url is an https URL',
    ],
  ])('causes a warning if %s', (_title, text, warning) => {
    expect(parseConfig(text, 'b')).toMatchObject({ ok: true, warnings: [warning] });
  });

  test.each([
    ['a proxy of the environment, which may be https', 'proxy_from_environment: true'],
    ['an https proxy', 'proxy_url: https://p'],
  ])('causes no warning if TLS is configured for %s', (_title, proxy) => {
    const text = withBridge(`tls_config: {server_name: a}\n${proxy}`, 'http://a.example');
    expect(parseConfig(text, 'b')).toMatchObject({ ok: true, warnings: [] });
  });
});

describe('the files of an HTTP client configuration', () => {
  const folder = createTempFolder();
  const configFile = join(folder.path, 'bridge.yaml');
  const good = folder.write('good', 'hunter2\n');
  const empty = folder.write('empty', '\n');
  mkdirSync(join(folder.path, 'folder'));

  async function load(lines: string, checkFiles: boolean, env = {}) {
    folder.write('bridge.yaml', withBridge(lines));
    return loadConfig({ configFile, env, checkFiles });
  }

  const invalidLines = `basic_auth:
  username: u
  password_file: missing
http_headers:
  X-Key: {values: [v], files: [good, empty]}
tls_config:
  ca_file: good
  cert_file: ${clientCertificate.certFile}
  key_file: ${authority.keyFile}`;
  const problems = [
    [7, 'basic_auth.password_file', `${join(folder.path, 'missing')} cannot be read: no such file or directory`],
    [9, 'http_headers["X-Key"].files[1]', `${empty} is empty`],
    [
      11,
      'tls_config.ca_file',
      `${good} cannot be read as PEM certificates: error:0480006C:PEM routines::no start line`,
    ],
    [13, 'tls_config.key_file', `${authority.keyFile} is not the key of the certificate`],
  ].map(([line, path, problem]) => `${configFile}:${line}: targets[0].bridge.${path}: ${problem}`);

  test('cause problems if they are invalid and files are checked', async () => {
    expect(withoutColumns(await load(invalidLines, true))).toEqual({ ok: false, problems });
  });

  test('cause warnings if they are invalid and files are not checked', async () => {
    expect(withoutColumns(await load(invalidLines, false))).toMatchObject({ ok: true, warnings: problems });
  });

  test('are checked together with the variables of a proxy', async () => {
    const env = { HTTPS_PROXY: 'socks5://u:hunter2@proxy.example' };
    expect(withoutColumns(await load('proxy_from_environment: true', true, env))).toEqual({
      ok: false,
      problems: [`${configFile}:5: targets[0].bridge.proxy_from_environment: HTTPS_PROXY: ${PROXY}`],
    });
    expect(await load('proxy_from_environment: true', true, { HTTP_PROXY: 'socks5://p' })).toMatchObject({ ok: true });
  });

  test('cause no warnings if they are valid', async () => {
    const validLines = `authorization: {credentials_file: ./good}
tls_config: {ca_file: ${authority.certFile}, cert_file: ${clientCertificate.certFile}, key_file: ${clientCertificate.keyFile}}`;
    expect(await load(validLines, true)).toMatchObject({ ok: true, warnings: [] });
  });

  test.each([
    ['a directory', 'folder', 'is not a file'],
    ['a path below a file', 'good/x', 'cannot be read: not a directory'],
  ])('cannot be %s', async (_title, name, problem) => {
    expect(withoutColumns(await load(`authorization: {credentials_file: ${name}}`, true))).toEqual({
      ok: false,
      problems: [
        `${configFile}:5: targets[0].bridge.authorization.credentials_file: ${join(folder.path, name)} ${problem}`,
      ],
    });
  });
});
