import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { loadWebConfig } from '../../src/server/web-config.js';
import { withoutColumns } from '../config/sample-files.js';
import { webSettings } from '../../packaging/generate/settings.js';
import { createAuthority } from '../support/certificates.js';
import { runHere } from '../support/command-context.js';
import { createTempFolder } from '../support/temp-folder.js';

const HASH = '$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi';
const PAIR = 'cert_file: a.crt, key_file: a.key';

const folder = createTempFolder();
const authority = createAuthority();
const server = authority.issue('server');
folder.write('a.crt', server.cert);
folder.write('a.key', server.key);
folder.write('ca.crt', authority.cert);
folder.write('other.key', authority.issue('other').key);
folder.write('text', 'hunter2');

/** The configuration, or its problems without the folder and without columns. */
async function load(text: string) {
  const result = await loadWebConfig(folder.write('web.yml', text));
  if (result.ok) return result.config;
  const { problems } = withoutColumns(result);
  return problems.map((problem) => problem.replaceAll(`${folder.path}/`, ''));
}

const TOP_LEVEL = 'tls_server_config, http_server_config, basic_auth_users';
const TLS_KEYS = 'cert_file, key_file, client_ca_file, client_auth_type, min_version, max_version';
const HEADERS =
  'Content-Security-Policy, X-Frame-Options, X-Content-Type-Options, X-XSS-Protection, Strict-Transport-Security';
const NO_HASH = 'expected a bcrypt hash as `htpasswd -nBC 10 user` prints, without the user';

describe('an invalid web configuration', () => {
  it.each<[text: string, ...problems: string[]]>([
    ['', ': is empty'],
    ['basic_auth_users:', ':1: basic_auth_users: is empty'],
    ['basic_auth_users: {}', ':1: basic_auth_users: has no user: there would be no authentication'],
    ['tls_server_config: {cert_file: a.crt}', ':1: tls_server_config.key_file: is missing'],
    [
      `tls_server_config: {${PAIR}, client_ca_file: ca.crt}`,
      ':1: tls_server_config.client_ca_file: has no effect with client_auth_type NoClientCert — expected RequireAndVerifyClientCert',
    ],
    [
      `tls_server_config: {${PAIR}, client_auth_type: RequireAndVerifyClientCert}`,
      ':1: tls_server_config.client_ca_file: is missing — certificates of all public authorities would be accepted',
    ],
    [
      `tls_server_config: {${PAIR}, client_ca_file: ca.crt, client_auth_type: VerifyClientCertIfGiven}`,
      ':1: tls_server_config.client_auth_type: Invalid option: expected one of "NoClientCert"|"RequireAndVerifyClientCert"',
    ],
    [`tls_server_config: {${PAIR}, max_version: TLS11}`, ':1: tls_server_config.max_version: is below min_version'],
    [
      'http_server_config: {headers: {X-Frame-Options: DENY, X-Content-Type-Options: sniff}}',
      ':1: http_server_config.headers["X-Frame-Options"]: Invalid option: expected one of "deny"|"sameorigin"',
      ':1: http_server_config.headers["X-Content-Type-Options"]: Invalid input: expected "nosniff"',
    ],
    [
      String.raw`http_server_config: {headers: {Content-Security-Policy: "a\r\nSet-Cookie: b"}}`,
      `:1: http_server_config.headers["Content-Security-Policy"]: expected one line of Latin characters, as a header can hold`,
    ],
    // Messages never contain a hash, or a password in its place.
    ['basic_auth_users: hunter2', ':1: basic_auth_users: Invalid input: expected record, received string'],
    [
      `basic_auth_users:\n  alice: hunter2\n  erin: ""\n  carol: ${HASH.slice(0, -1)}\n  dave: ${HASH.replace('2y', '2x')}`,
      ...['alice', 'erin', 'carol', 'dave'].map((name, index) => `:${index + 2}: basic_auth_users.${name}: ${NO_HASH}`),
    ],
    // A key that every object has: it must not be lost, because without users there is no authentication.
    [`basic_auth_users: {__proto__: ${HASH}}`, ':1: __proto__ is not a supported key'],
    ...[3, 31].map((cost): [string, string] => [
      `basic_auth_users: {alice: ${HASH.replace('10', String(cost).padStart(2, '0'))}}`,
      ':1: basic_auth_users.alice: expected a hash of a cost from 4 to 18, such as 10',
    ]),
    [
      `basic_auth_users: {"a:b": ${HASH}}`,
      ':1: basic_auth_users["a:b"]: has a colon, which Basic authentication cannot send',
    ],
    [
      'tls_server_config: {cert_file: missing.crt, key_file: text}',
      ':1: tls_server_config.cert_file: missing.crt cannot be read: no such file or directory',
      ':1: tls_server_config.key_file: text contains no unencrypted PEM private key',
    ],
    [
      'tls_server_config: {cert_file: a.crt, key_file: other.key}',
      ':1: tls_server_config.key_file: other.key is not the key of the certificate',
    ],
    [
      `tls_server_config: {${PAIR}, client_auth_type: RequireAndVerifyClientCert, client_ca_file: text}`,
      ':1: tls_server_config.client_ca_file: text cannot be read as PEM certificates: error:0480006C:PEM routines::no start line',
    ],
    // Several problems, and the keys that other exporters have.
    [
      `
tls_server_config:
  cert_file: a.crt
  min_version: TLS9
  cipher_suites: [TLS_AES_128_GCM_SHA256]
http_server_config:
  http2: true
  headers: {Server: mine}
basic_auth_users:
  alice: x
rate_limit: {interval: 1s, burst: 20}
`,
      ':2: tls_server_config.key_file: is missing',
      ':4: tls_server_config.min_version: Invalid option: expected one of "TLS10"|"TLS11"|"TLS12"|"TLS13"',
      `:5: tls_server_config.cipher_suites: is not a supported key — expected one of ${TLS_KEYS}`,
      `:8: http_server_config.headers.Server: is not a supported key — expected one of ${HEADERS}`,
      ':7: http_server_config.http2: is not a supported key — expected one of headers',
      `:10: basic_auth_users.alice: ${NO_HASH}`,
      `:11: rate_limit: is not a supported key — expected one of ${TOP_LEVEL}`,
    ],
  ])('is rejected with all problems and their lines: %s', async (text, ...problems) => {
    expect(await load(text)).toEqual(problems.map((problem) => `web.yml${problem}`));
  });

  test('is rejected at startup and by --config.check, together with the configuration', async () => {
    const file = folder.write('bad.yml', 'basic_auth_users: {alice: hunter2}\nrate_limit: {}');
    for (const flags of [[], ['--config.check']]) {
      const { code, stderr } = await runHere([`--web.config.file=${file}`, ...flags], { BRIDGE_URL: 'ftp://x' });
      expect(code).toBe(2);
      expect(stderr.trim().split('\n')).toEqual([
        expect.stringContaining('BRIDGE_URL: expected an http or https URL'),
        `bridge-exporter: ${file}:1:20: basic_auth_users.alice: ${NO_HASH}`,
        `bridge-exporter: ${file}:2:1: rate_limit: is not a supported key — expected one of ${TOP_LEVEL}`,
      ]);
    }
  });
});

test('a web configuration is loaded with the files that it names', async () => {
  // From the documentation of node_exporter and exporter-toolkit.
  const config = await load(`
# TLS and basic authentication example
tls_server_config:
  cert_file: a.crt
  key_file: ${folder.path}/a.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca.crt
  min_version: TLS12
  max_version: TLS13
http_server_config:
  headers:
    Content-Security-Policy: default-src 'self'
    X-Frame-Options: deny
    X-Content-Type-Options: nosniff
    X-XSS-Protection: 0
basic_auth_users:
  alice: $2y$12$1DpfPeqF9HzHJt.EWswy1exHluGfbhnn3yXhR7Xes6m3WJqFg0Wby
  "": ${HASH}
`);
  expect(config).toEqual({
    tls: {
      verifiesClients: true,
      files: ['a.crt', 'a.key', 'ca.crt'].map((name) => `${folder.path}/${name}`),
      context: {
        cert: server.cert.trim(),
        key: server.key.trim(),
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
      ['', HASH],
    ]),
  });
});

test('docs/security.md names every key', () => {
  const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
  const keys = webSettings.map(({ path }) => path.split('.').at(-1) ?? '');
  expect(keys.length).toBeGreaterThan(12);
  expect(keys.filter((key) => !page.includes(key))).toEqual([]);
});
