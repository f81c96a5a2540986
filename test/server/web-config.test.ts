import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { loadWebConfig, parseWebConfig, type WebConfig } from '../../src/server/web-config.js';
import { createAuthority } from '../support/certificates.js';
import { runHere } from '../support/command-context.js';
import { withoutColumns } from '../config/sample-files.js';
import { webSettings } from '../docs/settings.js';
import { createTempFolder } from '../support/temp-folder.js';

const HASH = '$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi';
const PAIR = 'cert_file: a.crt, key_file: a.key';

function problems(text: string): readonly string[] {
  const result = parseWebConfig(text, 'web.yml');
  return result.ok ? [] : result.problems;
}

const TOP_LEVEL = 'tls_server_config, http_server_config, basic_auth_users';
const TLS_KEYS =
  'cert, key, client_ca, cert_file, key_file, client_ca_file, client_auth_type, min_version, max_version';
const HEADERS =
  'Content-Security-Policy, X-Frame-Options, X-Content-Type-Options, X-XSS-Protection, Strict-Transport-Security';
const NO_HASH = 'expected a bcrypt hash as `htpasswd -nBC 10 user` prints, without the user';

describe('an invalid web configuration', () => {
  it.each<[text: string, ...problems: string[]]>([
    [
      'tls_server_config: {cert_file: a.crt}',
      'web.yml:1:1: tls_server_config.key_file: is missing — expected key_file or key',
    ],
    [
      'tls_server_config: {client_auth_type: NoClientCert}',
      'web.yml:1:1: tls_server_config.cert_file: is missing — expected cert_file or cert',
      'web.yml:1:1: tls_server_config.key_file: is missing — expected key_file or key',
    ],
    [
      `tls_server_config: {${PAIR}, client_ca_file: ca.crt}`,
      'web.yml:1:56: tls_server_config.client_ca_file: has no effect with client_auth_type NoClientCert — expected RequireAndVerifyClientCert',
    ],
    [
      `tls_server_config: {${PAIR}, client_ca: text, client_auth_type: NoClientCert}`,
      'web.yml:1:56: tls_server_config.client_ca: has no effect with client_auth_type NoClientCert — expected RequireAndVerifyClientCert',
    ],
    [
      `tls_server_config: {${PAIR}, max_version: TLS11}`,
      'web.yml:1:56: tls_server_config.max_version: is below min_version',
    ],
    // Headers.
    [
      'http_server_config: {headers: {X-Frame-Options: DENY, X-Content-Type-Options: sniff}}',
      'web.yml:1:32: http_server_config.headers.X-Frame-Options: Invalid option: expected one of "deny"|"sameorigin"',
      'web.yml:1:55: http_server_config.headers.X-Content-Type-Options: Invalid input: expected "nosniff"',
    ],
    [
      String.raw`http_server_config: {headers: {Content-Security-Policy: "a\r\nSet-Cookie: b"}}`,
      `web.yml:1:32: http_server_config.headers.Content-Security-Policy: expected one line of Latin characters, as a header can hold`,
    ],
    // Users: messages never contain a hash, or a password in its place.
    ['basic_auth_users: hunter2', 'web.yml:1:1: basic_auth_users: Invalid input: expected record, received string'],
    [
      `basic_auth_users:\n  alice: hunter2\n  bob:\n  erin: ""\n  carol: ${HASH.slice(0, -1)}\n  dave: ${HASH.replace('2y', '2x')}`,
      ...['alice', 'bob', 'erin', 'carol', 'dave'].map(
        (name, index) => `web.yml:${index + 2}:3: basic_auth_users.${name}: ${NO_HASH}`,
      ),
    ],
    // A key that every object has: it must not be lost, because without users there is no authentication.
    [`basic_auth_users: {__proto__: ${HASH}}`, 'web.yml:1:20: __proto__ is not a supported key'],
    ...[3, 31].map((cost): [string, string] => [
      `basic_auth_users: {alice: ${HASH.replace('10', String(cost).padStart(2, '0'))}}`,
      'web.yml:1:20: basic_auth_users.alice: expected a hash of a cost from 4 to 18, such as 10',
    ]),
    [
      `basic_auth_users: {"a:b": ${HASH}}`,
      'web.yml:1:20: basic_auth_users["a:b"]: has a colon, which Basic authentication cannot send',
    ],
    // Several problems, each with its line.
    [
      'tls_server_config:\n  cert_file: a.crt\n  min_version: TLS9\nbasic_auth_users:\n  alice: x\n',
      'web.yml:3:3: tls_server_config.min_version: Invalid option: expected one of "TLS10"|"TLS11"|"TLS12"|"TLS13"',
      'web.yml:1:1: tls_server_config.key_file: is missing — expected key_file or key',
      `web.yml:5:3: basic_auth_users.alice: ${NO_HASH}`,
    ],
  ])('is rejected with all problems and their positions: %s', (text, ...expected) => {
    expect(problems(text)).toEqual(expected);
  });

  it('is rejected with the name of every key that other exporters have', () => {
    const text = `
tls_server_config:
  cert_file: a.crt
  key_file: a.key
  client_allowed_sans: [prometheus.example.org]
  cipher_suites: [TLS_AES_128_GCM_SHA256]
  prefer_server_cipher_suites: true
  curve_preferences: [X25519]
http_server_config:
  http2: true
  headers: {Server: mine}
rate_limit: {interval: 1s, burst: 20}
health_paths_without_auth: true
`;
    const unsupported = (line: string, key: string, known: string): string =>
      `web.yml:${line}: ${key}: is not a supported key — expected one of ${known}`;
    expect(problems(text)).toEqual([
      unsupported('5:3', 'tls_server_config.client_allowed_sans', TLS_KEYS),
      unsupported('6:3', 'tls_server_config.cipher_suites', TLS_KEYS),
      unsupported('7:3', 'tls_server_config.prefer_server_cipher_suites', TLS_KEYS),
      unsupported('8:3', 'tls_server_config.curve_preferences', TLS_KEYS),
      unsupported('11:13', 'http_server_config.headers.Server', HEADERS),
      unsupported('10:3', 'http_server_config.http2', 'headers'),
      unsupported('12:1', 'rate_limit', TOP_LEVEL),
      unsupported('13:1', 'health_paths_without_auth', TOP_LEVEL),
    ]);
  });
});

/** From the documentation of node_exporter and exporter-toolkit, with a key without a value. */
const nodeExporterFile = `
# TLS and basic authentication example
tls_server_config:
  cert_file: node_exporter.crt
  key_file: node_exporter.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: /etc/ssl/client_ca.crt
  min_version: TLS12
  max_version: TLS13
http_server_config:
  headers:
    Content-Security-Policy: default-src 'self'
    X-Frame-Options: deny
    X-Content-Type-Options: nosniff
    X-XSS-Protection: 0
    Strict-Transport-Security:
basic_auth_users:
  alice: $2y$12$1DpfPeqF9HzHJt.EWswy1exHluGfbhnn3yXhR7Xes6m3WJqFg0Wby
  bob: $2a$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi
`;

describe('a valid web configuration', () => {
  it('is loaded with the files that it refers to', async () => {
    const folder = createTempFolder();
    const authority = createAuthority();
    const { cert, key } = authority.issue('server');
    folder.write('node_exporter.crt', cert);
    folder.write('node_exporter.key', key);
    folder.write('ca.crt', authority.cert);
    const file = folder.write('web.yml', nodeExporterFile.replace('/etc/ssl/client_ca.crt', 'ca.crt'));
    const result = await loadWebConfig(file);
    expect(result.ok && result.webConfig.config).toEqual({
      tls: {
        clientAuthType: 'RequireAndVerifyClientCert',
        context: {
          cert: cert.trim(),
          key: key.trim(),
          ca: authority.cert.trim(),
          minVersion: 'TLSv1.2',
          maxVersion: 'TLSv1.3',
        },
      },
      headers: {
        'Content-Security-Policy': "default-src 'self'",
        'X-Frame-Options': 'deny',
        'X-Content-Type-Options': 'nosniff',
        'X-XSS-Protection': '0',
      },
      users: new Map([
        ['alice', '$2y$12$1DpfPeqF9HzHJt.EWswy1exHluGfbhnn3yXhR7Xes6m3WJqFg0Wby'],
        ['bob', '$2a$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi'],
      ]),
    });
  });

  const defaults = { headers: {}, users: new Map() };

  it.each<[text: string, rules: WebConfig]>([
    ['', defaults],
    ['# nothing yet', defaults],
    ['tls_server_config:\nhttp_server_config: {}', defaults],
    ['tls_server_config: {cert_file: "", key_file: "", client_auth_type: ""}', defaults],
    ['http_server_config: {headers: {X-Frame-Options: ""}}', defaults],
    [`basic_auth_users: {"": ${HASH}}`, { ...defaults, users: new Map([['', HASH]]) }],
  ])('is parsed: %s', (text, rules) => {
    expect(parseWebConfig(text, 'web.yml')).toEqual({
      ok: true,
      rules,
      warnings: expect.any(Array),
      label: expect.any(Function),
    });
  });

  it.each([
    [
      'tls_server_config: {min_version: TLS13}',
      'web.yml:1:1: tls_server_config: has no effect without cert_file and key_file: plain HTTP is served',
    ],
    [
      `tls_server_config: {${PAIR}, cert: text}`,
      'web.yml:1:56: tls_server_config.cert: has no effect beside cert_file',
    ],
    [
      `tls_server_config: {${PAIR}, client_auth_type: RequireAndVerifyClientCert}`,
      'web.yml:1:56: tls_server_config.client_auth_type: accepts the certificates of all public authorities — client_ca_file restricts them',
    ],
    ['basic_auth_users:', 'web.yml:1:1: basic_auth_users: has no user: there is no authentication'],
  ])('can have a warning: %s', (text, warning) => {
    expect(parseWebConfig(text, 'web.yml')).toMatchObject({ ok: true, warnings: [warning] });
  });
});

describe('the files of a web configuration', () => {
  const folder = createTempFolder();
  const authority = createAuthority();
  const server = authority.issue('server');
  const other = authority.issue('other');
  folder.write('a.crt', server.cert);
  folder.write('a.key', server.key);
  folder.write('other.key', other.key);
  folder.write('text', 'hunter2');
  let written = 0;

  function write(text: string): string {
    written += 1;
    return folder.write(`${written}.yml`, text);
  }

  it('can be inline PEM text', async () => {
    const indented = (pem: string): string => `|\n${pem.replaceAll(/^/gm, '    ')}`;
    const file = write(`tls_server_config:\n  cert: ${indented(server.cert)}\n  key: ${indented(server.key)}\n`);
    expect(await loadWebConfig(file)).toMatchObject({ ok: true });
  });

  it.each([
    [
      `cert_file: missing.crt, key_file: gone.key`,
      [
        'cert_file: FOLDER/missing.crt cannot be read: no such file or directory',
        'key_file: FOLDER/gone.key cannot be read: no such file or directory',
      ],
    ],
    [
      `cert_file: text, key_file: text`,
      [
        'cert_file: FOLDER/text contains no PEM certificate',
        'key_file: FOLDER/text contains no unencrypted PEM private key',
      ],
    ],
    [
      `cert_file: a.key, key_file: a.crt`,
      [
        'cert_file: FOLDER/a.key contains no PEM certificate',
        'key_file: FOLDER/a.crt contains no unencrypted PEM private key',
      ],
    ],
    [`cert_file: a.crt, key_file: other.key`, ['key_file: is not the key of the certificate']],
    [
      `${PAIR}, client_auth_type: RequireAndVerifyClientCert, client_ca_file: text`,
      ['client_ca_file: FOLDER/text contains no PEM certificate'],
    ],
    [
      `cert: hunter2, key: hunter2`,
      ['cert: contains no PEM certificate', 'key: contains no unencrypted PEM private key'],
    ],
    [`cert_file: /, key_file: a.key`, ['cert_file: / is not a file']],
  ])('are named without their content when they are invalid: %s', async (keys, expected) => {
    const file = write(`tls_server_config: {${keys}}`);
    const result = await loadWebConfig(file);
    const shown = expected.map((problem) => `${file}:1: tls_server_config.${problem.replace('FOLDER', folder.path)}`);
    expect(withoutColumns(result)).toMatchObject({ ok: false, problems: shown });
  });

  test('are checked at startup and by --config.check, together with the configuration', async () => {
    const bad = write('basic_auth_users: {alice: hunter2}\nrate_limit: {}');
    for (const flags of [[], ['--config.check']]) {
      const { code, stderr } = await runHere([`--web.config.file=${bad}`, ...flags], { BRIDGE_URL: 'ftp://x' });
      expect(code).toBe(2);
      expect(stderr.trim().split('\n')).toEqual([
        expect.stringContaining('BRIDGE_URL: expected an http or https URL'),
        `bridge-exporter: ${bad}:1:20: basic_auth_users.alice: ${NO_HASH}`,
        `bridge-exporter: ${bad}:2:1: rate_limit: is not a supported key — expected one of ${TOP_LEVEL}`,
      ]);
    }
    const good = write(`tls_server_config: {${PAIR}}\nbasic_auth_users: {}`);
    const checked = await runHere(['--config.check'], { BRIDGE_URL: 'http://x', WEB_CONFIG_FILE: good });
    expect(checked).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^warning: .*there is no authentication/) as string,
    });
  });
});

describe('docs/security.md', () => {
  const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');

  it('names every key', () => {
    const keys = webSettings.map(({ path }) => path.split('.').at(-1) ?? '');
    expect(keys.length).toBeGreaterThan(15);
    expect(keys.filter((key) => !page.includes(key))).toEqual([]);
  });
});
