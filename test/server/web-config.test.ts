import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { loadWebConfig, parseWebConfig, webSettings, type WebConfig } from '../../src/server/web-config.js';
import { createAuthority } from '../support/certificates.js';
import { runExporter } from '../support/processes.js';
import { withoutColumns } from '../config/sample-files.js';
import { createTempFolder } from '../support/temp-folder.js';

const HASH = '$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi';
const PAIR = 'cert_file: a.crt, key_file: a.key';

function problems(text: string): readonly string[] {
  const result = parseWebConfig(text, 'web.yml');
  return result.ok ? [] : result.problems;
}

const TLS_KEYS =
  'cert, key, client_ca, cert_file, key_file, client_ca_file, client_auth_type, client_allowed_sans, min_version, max_version, cipher_suites, prefer_server_cipher_suites, curve_preferences';
const CLIENT_AUTH =
  'NoClientCert, RequestClientCert, RequireAnyClientCert, VerifyClientCertIfGiven, RequireAndVerifyClientCert';
const NO_HASH = 'is not a bcrypt hash — expected one as `htpasswd -nBC 10 user` prints, without the user';

describe('an invalid web configuration', () => {
  it.each<[text: string, ...problems: string[]]>([
    // The file.
    [
      '- a',
      'web.yml:1:1: is a list — expected a mapping with tls_server_config, http_server_config, rate_limit, basic_auth_users, health_paths_without_auth',
    ],
    ['a: b: c', 'web.yml:1:4: a value contains ": " — put the value in quotes'],
    ['tls_server_confg: {}', 'web.yml:1:1: tls_server_confg: unknown key — did you mean tls_server_config?'],
    [
      'bogus:',
      'web.yml:1:1: bogus: unknown key — expected one of tls_server_config, http_server_config, rate_limit, basic_auth_users, health_paths_without_auth',
    ],
    ['basic_auth_users: {}\nbasic_auth_users: {}', 'web.yml:2:1: duplicate key — expected each key once'],
    ['{}\n---\n{}', 'web.yml:2:1: a second document starts here — expected a single document'],
    // TLS.
    ['tls_server_config: [a]', `web.yml:1:1: tls_server_config: is a list — expected a mapping with ${TLS_KEYS}`],
    [
      'tls_server_config: -----BEGIN PRIVATE KEY-----',
      `web.yml:1:1: tls_server_config: is a string — expected a mapping with ${TLS_KEYS}`,
    ],
    [
      `tls_server_config:\n  ${PAIR.replace(', ', '\n  ')}\n  certfile: x`,
      'web.yml:4:3: tls_server_config.certfile: unknown key — did you mean cert_file?',
    ],
    [
      'tls_server_config: {cert_file: a.crt}',
      'web.yml:1:1: tls_server_config.key_file: is missing — expected key_file or key',
    ],
    [
      'tls_server_config: {key: abc}',
      'web.yml:1:1: tls_server_config.cert_file: is missing — expected cert_file or cert',
    ],
    [
      'tls_server_config: {client_auth_type: NoClientCert}',
      'web.yml:1:1: tls_server_config.cert_file: is missing — expected cert_file or cert',
      'web.yml:1:1: tls_server_config.key_file: is missing — expected key_file or key',
    ],
    [
      'tls_server_config: {cert_file: [a], key_file: b}',
      'web.yml:1:21: tls_server_config.cert_file: is a list — expected the name of a file',
    ],
    [
      `tls_server_config: {${PAIR}, client_auth_type: Always}`,
      `web.yml:1:56: tls_server_config.client_auth_type: "Always" — expected one of ${CLIENT_AUTH}`,
    ],
    [
      `tls_server_config: {${PAIR}, client_auth_type: requireandverifyclientcert}`,
      `web.yml:1:56: tls_server_config.client_auth_type: "requireandverifyclientcert" — expected one of ${CLIENT_AUTH}`,
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
      `tls_server_config: {${PAIR}, client_auth_type: VerifyClientCertIfGiven, client_allowed_sans: [a]}`,
      'web.yml:1:99: tls_server_config.client_allowed_sans: has no effect with client_auth_type VerifyClientCertIfGiven — expected RequireAndVerifyClientCert or RequireAnyClientCert',
    ],
    [
      `tls_server_config: {${PAIR}, client_auth_type: RequireAnyClientCert, client_allowed_sans: []}`,
      'web.yml:1:96: tls_server_config.client_allowed_sans: is empty — expected at least one name, or no such key',
    ],
    [
      `tls_server_config: {${PAIR}, client_auth_type: RequireAnyClientCert, client_allowed_sans: a}`,
      'web.yml:1:96: tls_server_config.client_allowed_sans: "a" — did you mean [a]?',
    ],
    [
      `tls_server_config: {${PAIR}, min_version: TLS14}`,
      'web.yml:1:56: tls_server_config.min_version: "TLS14" — expected one of TLS10, TLS11, TLS12, TLS13',
    ],
    [
      `tls_server_config: {${PAIR}, min_version: 1.2}`,
      'web.yml:1:56: tls_server_config.min_version: "1.2" — expected one of TLS10, TLS11, TLS12, TLS13',
    ],
    [
      `tls_server_config: {${PAIR}, max_version: TLS11}`,
      'web.yml:1:56: tls_server_config.max_version: TLS11 is below min_version — expected at least TLS12',
    ],
    [
      `tls_server_config: {${PAIR}, min_version: TLS13, max_version: TLS12}`,
      'web.yml:1:76: tls_server_config.max_version: TLS12 is below min_version — expected at least TLS13',
    ],
    [
      `tls_server_config: {${PAIR}, cipher_suites: [TLS_RSA_WITH_RC4_128_SHA]}`,
      'web.yml:1:72: tls_server_config.cipher_suites[0]: "TLS_RSA_WITH_RC4_128_SHA" — expected the Go name of a cipher suite, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
    ],
    [
      `tls_server_config: {${PAIR}, cipher_suites: TLS_AES_128_GCM_SHA256}`,
      'web.yml:1:56: tls_server_config.cipher_suites: "TLS_AES_128_GCM_SHA256" — did you mean [TLS_AES_128_GCM_SHA256]?',
    ],
    [
      `tls_server_config: {${PAIR}, curve_preferences: [X25519, P256]}`,
      'web.yml:1:84: tls_server_config.curve_preferences[1]: "P256" — expected one of CurveP256, CurveP384, CurveP521, X25519',
    ],
    [
      `tls_server_config: {${PAIR}, prefer_server_cipher_suites: maybe}`,
      'web.yml:1:56: tls_server_config.prefer_server_cipher_suites: "maybe" — expected true or false',
    ],
    // Headers.
    ['http_server_config: {http2: 2}', 'web.yml:1:22: http_server_config.http2: "2" — expected true or false'],
    ['http_server_config: {http3: true}', 'web.yml:1:22: http_server_config.http3: unknown key — did you mean http2?'],
    [
      'http_server_config: {headers: {X-Frame-Option: deny}}',
      'web.yml:1:32: http_server_config.headers.X-Frame-Option: unknown key — did you mean X-Frame-Options?',
    ],
    [
      'http_server_config: {headers: {Server: mine}}',
      'web.yml:1:32: http_server_config.headers.Server: unknown key — expected one of Content-Security-Policy, X-Frame-Options, X-Content-Type-Options, X-XSS-Protection, Strict-Transport-Security',
    ],
    [
      'http_server_config: {headers: {X-Frame-Options: DENY}}',
      'web.yml:1:32: http_server_config.headers.X-Frame-Options: "DENY" — expected one of deny, sameorigin',
    ],
    [
      'http_server_config: {headers: {X-Content-Type-Options: sniff}}',
      'web.yml:1:32: http_server_config.headers.X-Content-Type-Options: "sniff" — expected nosniff',
    ],
    [
      String.raw`http_server_config: {headers: {Content-Security-Policy: "a\r\nSet-Cookie: b"}}`,
      String.raw`web.yml:1:32: http_server_config.headers.Content-Security-Policy: "a\r\nSet-Cookie: b" — expected one line of Latin characters, as a header can hold`,
    ],
    // Users: messages never contain a hash, or a password in its place.
    [
      'basic_auth_users: [alice]',
      'web.yml:1:1: basic_auth_users: is not a mapping — expected names of users and their bcrypt hashes',
    ],
    [
      'basic_auth_users: hunter2',
      'web.yml:1:1: basic_auth_users: is not a mapping — expected names of users and their bcrypt hashes',
    ],
    ['basic_auth_users: {alice: hunter2}', `web.yml:1:20: basic_auth_users.alice: ${NO_HASH}`],
    [
      'basic_auth_users:\n  alice:\n  bob: ""',
      `web.yml:2:3: basic_auth_users.alice: ${NO_HASH}`,
      `web.yml:3:3: basic_auth_users.bob: ${NO_HASH}`,
    ],
    ['basic_auth_users: {__proto__: x}', `web.yml:1:20: basic_auth_users.__proto__: ${NO_HASH}`],
    [`basic_auth_users: {alice: ${HASH.slice(0, -1)}}`, `web.yml:1:20: basic_auth_users.alice: ${NO_HASH}`],
    [`basic_auth_users: {alice: ${HASH.replace('2y', '2x')}}`, `web.yml:1:20: basic_auth_users.alice: ${NO_HASH}`],
    [
      `basic_auth_users: {alice: ${HASH.replace('10', '03')}}`,
      'web.yml:1:20: basic_auth_users.alice: is a hash of cost 3 — expected a cost from 4 to 18, such as 10',
    ],
    [
      `basic_auth_users: {alice: ${HASH.replace('10', '31')}}`,
      'web.yml:1:20: basic_auth_users.alice: is a hash of cost 31 — expected a cost from 4 to 18, such as 10',
    ],
    [
      `basic_auth_users: {"a:b": ${HASH}}`,
      'web.yml:1:20: basic_auth_users["a:b"]: is a name with a colon, which Basic authentication cannot send — expected another',
    ],
    // Rate limit and health paths.
    [
      'rate_limit: {interval: 1}',
      'web.yml:1:14: rate_limit.interval: "1" — expected a duration up to 1h, such as 100ms, 1.5s or 1m30s; 0 for none',
    ],
    [
      'rate_limit: {interval: -1s, burst: 1}',
      'web.yml:1:14: rate_limit.interval: "-1s" — expected a duration up to 1h, such as 100ms, 1.5s or 1m30s; 0 for none',
    ],
    ['rate_limit: {interval: 1s}', 'web.yml:1:1: rate_limit.burst: is 0: no request would pass — expected 1 or more'],
    [
      'rate_limit: {interval: 1s, burst: many}',
      'web.yml:1:28: rate_limit.burst: "many" — expected an integer from 0 to 1000000',
    ],
    [
      'health_paths_without_auth: /metrics',
      'web.yml:1:1: health_paths_without_auth: "/metrics" — expected true or false',
    ],
    // Several problems, each with its line.
    [
      'tls_server_config:\n  cert_file: a.crt\n  min_version: TLS9\nhttp_server_config:\n  headers:\n    X-Frame-Options: no\nbasic_auth_users:\n  alice: x\n',
      'web.yml:3:3: tls_server_config.min_version: "TLS9" — expected one of TLS10, TLS11, TLS12, TLS13',
      'web.yml:1:1: tls_server_config.key_file: is missing — expected key_file or key',
      'web.yml:6:5: http_server_config.headers.X-Frame-Options: "no" — expected one of deny, sameorigin',
      `web.yml:8:3: basic_auth_users.alice: ${NO_HASH}`,
    ],
  ])('is rejected with all problems and their positions: %s', (text, ...expected) => {
    expect(problems(text)).toEqual(expected);
  });
});

const NO_HTTP2 = 'http_server_config.http2: has no effect: HTTP/2 is not supported, clients fall back to HTTP/1.1';

/** From the documentation of node_exporter and exporter-toolkit, with keys without a value. */
const nodeExporterFile = `
# TLS and basic authentication example
tls_server_config:
  cert_file: node_exporter.crt
  key_file: node_exporter.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: /etc/ssl/client_ca.crt
  client_allowed_sans:
    - prometheus.example.org
    - 10.0.0.1
  min_version: TLS12
  max_version: TLS13
  cipher_suites:
    - TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
    - TLS_AES_128_GCM_SHA256
  prefer_server_cipher_suites: yes
  curve_preferences: [X25519, CurveP256]
http_server_config:
  http2: true
  headers:
    Content-Security-Policy: default-src 'self'
    X-Frame-Options: deny
    X-Content-Type-Options: nosniff
    X-XSS-Protection: 0
    Strict-Transport-Security:
basic_auth_users:
  alice: $2y$12$1DpfPeqF9HzHJt.EWswy1exHluGfbhnn3yXhR7Xes6m3WJqFg0Wby
  bob: $2a$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi
rate_limit:
  interval: 1m0.5s
  burst: 20
`;

describe('a valid web configuration', () => {
  it('for node_exporter is accepted unchanged', () => {
    expect(parseWebConfig(nodeExporterFile, 'web.yml')).toMatchObject({
      ok: true,
      warnings: [`web.yml:19:3: ${NO_HTTP2}`],
    });
  });

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
        clients: { type: 'RequireAndVerifyClientCert', allowedSans: ['prometheus.example.org', '10.0.0.1'] },
        context: {
          cert: cert.trim(),
          key: key.trim(),
          ca: authority.cert.trim(),
          minVersion: 'TLSv1.2',
          maxVersion: 'TLSv1.3',
          honorCipherOrder: true,
          ciphers:
            'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE-ECDSA-AES256-GCM-SHA384',
          ecdhCurve: 'X25519:P-256',
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
      healthPathsWithoutAuth: false,
      rateLimit: { intervalMs: 60_500, burst: 20 },
    });
  });

  const defaults = { headers: {}, users: new Map(), healthPathsWithoutAuth: false };

  it.each<[text: string, rules: WebConfig]>([
    ['', defaults],
    ['# nothing yet', defaults],
    ['tls_server_config:\nhttp_server_config:\nrate_limit:', defaults],
    ['tls_server_config: {}', defaults],
    ['tls_server_config: {cert_file: "", key_file: "", client_auth_type: ""}', defaults],
    ['http_server_config: {headers: {X-Frame-Options: ""}}', defaults],
    ['rate_limit: {interval: 0, burst: 0}', defaults],
    ['health_paths_without_auth: true', { ...defaults, healthPathsWithoutAuth: true }],
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
    ['http_server_config: {http2: yes}', `web.yml:1:22: ${NO_HTTP2}`],
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

  it('are resolved against its folder', async () => {
    const file = write(`tls_server_config: {${PAIR}}`);
    const result = await loadWebConfig(file);
    expect(result).toMatchObject({
      ok: true,
      webConfig: { config: { tls: { context: { cert: server.cert.trim() } } } },
    });
  });

  it.each([
    ['TLS10', true],
    ['TLS11', true],
    ['TLS12', false],
    ['TLS13', false],
  ])('with min_version %s lowers the security level of OpenSSL: %s', async (version, isLowered) => {
    const result = await loadWebConfig(write(`tls_server_config: {${PAIR}, min_version: ${version}}`));
    const ciphers = result.ok ? result.webConfig.config.tls?.context.ciphers : 'invalid';
    expect(ciphers?.endsWith(':@SECLEVEL=0') ?? false).toBe(isLowered);
  });

  it('can be inline PEM text', async () => {
    const indented = (pem: string): string => `|\n${pem.replaceAll(/^/gm, '    ')}`;
    const file = write(`tls_server_config:\n  cert: ${indented(server.cert)}\n  key: ${indented(server.key)}\n`);
    expect(await loadWebConfig(file)).toMatchObject({ ok: true });
  });

  it.each([
    [
      `cert_file: missing.crt, key_file: gone.key`,
      [
        'cert_file: FOLDER/missing.crt cannot be read: ENOENT: no such file or directory',
        'key_file: FOLDER/gone.key cannot be read: ENOENT: no such file or directory',
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

  test('may be missing with an error; an empty file is valid', async () => {
    const missing = join(folder.path, 'missing.yml');
    expect(await loadWebConfig(missing)).toMatchObject({
      ok: false,
      problems: [`${missing}: cannot be read: ENOENT: no such file or directory`],
    });
    expect(await loadWebConfig(write(''))).toMatchObject({ ok: true });
  });

  test('are checked at startup and by --config.check, together with the configuration', async () => {
    const bad = write('basic_auth_users: {alice: hunter2}\nrate_limits: {}');
    for (const flags of [[], ['--config.check']]) {
      const { code, stderr } = await runExporter([`--web.config.file=${bad}`, ...flags], { BRIDGE_URL: 'ftp://x' });
      expect(code).toBe(2);
      expect(stderr.trim().split('\n')).toEqual([
        expect.stringContaining('BRIDGE_URL: "ftp://x" is not an http or https URL'),
        `bridge-exporter: ${bad}:1:20: basic_auth_users.alice: ${NO_HASH}`,
        `bridge-exporter: ${bad}:2:1: rate_limits: unknown key — did you mean rate_limit?`,
      ]);
    }
    const good = write(`tls_server_config: {${PAIR}}\nhttp_server_config: {http2: true}`);
    const checked = await runExporter(['--config.check'], { BRIDGE_URL: 'http://x', WEB_CONFIG_FILE: good });
    expect(checked).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^warning: .*HTTP\/2 is not supported/) as string,
    });
  });
});

describe('docs/security.md', () => {
  const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');

  it('has an example that is valid without a warning', () => {
    const [, example = ''] = /```yaml\n(tls_server_config:[^]*?)```/.exec(page) ?? [];
    expect(parseWebConfig(example, 'web.yml')).toMatchObject({ ok: true, warnings: [] });
  });

  it('names every key', () => {
    const keys = webSettings.map(({ path }) => path.split('.').at(-1) ?? '');
    expect(keys.length).toBeGreaterThan(20);
    expect(keys.filter((key) => !page.includes(key))).toEqual([]);
  });
});
