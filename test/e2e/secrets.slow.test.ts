import { hash } from 'bcryptjs';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createAuthority } from '../support/certificates.js';
import { get } from '../support/http.js';
import { listenOnFreePort } from '../support/ports.js';
import { startReverseProxy } from '../support/reverse-proxy.js';
import { runExporter, startDaemon } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { waitUntil } from '../support/wait-for.js';
import { createCanary, createHeaderCanary, revealedSecrets, tracesOf } from './canaries.js';

const folder = createTempFolder();
const certificate = createAuthority().issue('exporter');

/** A secret for each setting of the HTTP client that can hold one. */
const secrets = {
  password: createCanary(),
  passwordFile: createCanary(),
  credentials: createHeaderCanary(),
  credentialsFile: createHeaderCanary(),
  header: createHeaderCanary(),
  headerFile: createHeaderCanary(),
  proxyUser: createCanary(),
  proxyPassword: createCanary(),
  // Hosted nodes have the API key in the path, and providers of JSON-RPC in the path or in the query.
  nodePath: createCanary(),
  /** Of letters that no encoder changes, as keys usually are. */
  plainPath: createCanary().replaceAll(/\W/g, '-'),
  rpcPath: createCanary(),
  rpcQuery: createCanary(),
  // The first lines of a key contain the algorithm and the public part, as certificates do.
  key: certificate.key.split('\n')[20] ?? '',
};

function writeSecret(name: string, content: string): string {
  folder.write(name, content);
  return name;
}

type Settings = Readonly<Record<string, unknown>>;

/** HTTP client settings that hold their secrets in different places. `proxy` is an address without credentials. */
const clientSettings = (proxy: string): readonly Settings[] => [
  { basic_auth: { username: 'u', password: secrets.password } },
  { basic_auth: { username: 'u', password_file: writeSecret('password', `${secrets.passwordFile}\n`) } },
  { authorization: { credentials: secrets.credentials } },
  { authorization: { type: 'ApiKey', credentials_file: writeSecret('token', secrets.credentialsFile) } },
  { http_headers: { 'X-Key': { secrets: [secrets.header], files: [writeSecret('header', secrets.headerFile)] } } },
  {
    proxy_url: proxy.replace(
      '//',
      `//${[secrets.proxyUser, secrets.proxyPassword].map(encodeURIComponent).join(':')}@`,
    ),
  },
  { tls_config: { cert_file: certificate.certFile, key_file: certificate.keyFile } },
];

let echoRequests = 0;
/** A node or proxy whose error messages contain the credentials of the request as they were sent, each time another part. */
const echoServer = createServer((incoming, response) => {
  echoRequests += 1;
  const echoes = echoesOf(incoming);
  const message = `who is ${echoes[echoRequests % echoes.length] ?? 'nobody'}?`;
  response.writeHead(400).end(JSON.stringify({ code: 3, message }));
});

function echoesOf({ headers, url = '' }: IncomingMessage): string[] {
  const keys = String(headers['x-key'] ?? '').split(', ');
  const authorizations = [headers.authorization, headers['proxy-authorization']].filter((text) => text !== undefined);
  const parts = authorizations.flatMap((text) => {
    const [scheme = '', ...credentials] = text.split(' ');
    const user = scheme === 'Basic' ? Buffer.from(credentials.join(' '), 'base64').toString() : '';
    return [text, credentials.join(' '), user, ...user.split(':')];
  });
  const [, key = ''] = /^\/lcd\/v1\/([^/]*)/.exec(url) ?? [];
  const paths = /^\/(?:v3|lcd)\//.test(url) ? [url, decodeURIComponent(url), decodeURIComponent(key)] : [];
  return [...parts, ...keys, ...paths].filter((text) => text.length > 8);
}

const simulator = await startTestSimulator();
const echoUrl = `http://127.0.0.1:${await listenOnFreePort(echoServer)}`;
/** Serves the simulator to those who have the key in the path. */
const gateway = await startReverseProxy(simulator.url, `/lcd/v1/${encodeURIComponent(secrets.nodePath)}`);

/** All client settings, each for a node that responds, one that echoes credentials, and two that are down. */
function allSettingsConfig(): string {
  const nodes = {
    responding: simulator.url,
    echoing: echoUrl,
    down: 'http://127.0.0.1:1',
    'down-tls': 'https://127.0.0.1:1',
  };
  const targets = Object.entries(nodes).flatMap(([node, url]) =>
    clientSettings(echoUrl).map((settings, index) => ({ name: `${node}-${index}`, bridge: { url, ...settings } })),
  );
  const key = `${encodeURIComponent(secrets.rpcPath)}?key=${encodeURIComponent(secrets.rpcQuery)}`;
  const rpcNodes = { ...nodes, responding: `${simulator.url}/external` };
  const contracts = Object.entries(rpcNodes).map(([node, url]) => ({
    name: `contract-${node}`,
    bridge: { url: simulator.url, external: { url: node === 'responding' ? `${url}?${key}` : `${url}/v3/${key}` } },
  }));
  const path = `/lcd/v1/${encodeURIComponent(secrets.nodePath)}`;
  const hosted = Object.entries(nodes).map(([node, url]) => ({
    name: `hosted-${node}`,
    bridge: { url: node === 'responding' ? gateway : url + path },
  }));
  return stringify({
    poll: { interval: '100ms', timeout: '2s' },
    recorder: { directory: 'recording', interval: '1s' },
    targets: [...targets, ...contracts, ...hosted],
  });
}

/** The names and the content of the files of a recording. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json.gz'))
    .map((name) => `${name}\n${gunzipSync(readFileSync(join(directory, name))).toString()}`);
}

const configFlag = (text: string): string => `--config.file=${folder.write('bridge.yaml', text)}`;

const rpcPath = encodeURIComponent(secrets.rpcPath);
/** A secret in a value of the wrong type or format. test/config has every way in which a setting can be wrong. */
const invalidSettings: readonly Settings[] = [
  { url: `https://u@a.example/lcd/${encodeURIComponent(secrets.nodePath)}` },
  { url: `https//a.example/lcd/${secrets.plainPath}` },
  { url: [`https://a.example/lcd/${encodeURIComponent(secrets.nodePath)}`] },
  { external: secrets.rpcPath },
  { external: { url: `ftp://rpc.example/${rpcPath}` } },
  { external: { url: `https://rpc.example/${rpcPath}#${encodeURIComponent(secrets.rpcQuery)}` } },
  { basic_auth: [secrets.password] },
  { basic_auth: { username: `u:${secrets.password}`, password_file: `${secrets.password}\n` } },
  { authorization: { type: `Bearer ${secrets.credentials}`, credentials: `${secrets.credentials}\n` } },
  { http_headers: `X-Key: ${secrets.header}` },
  { http_headers: { 'X-Key': { secrets: secrets.header, values: [`${secrets.header}\n`] } } },
  { tls_config: { key: secrets.key, cert: secrets.key, ca: secrets.key } },
  { proxy_url: `socks5://u:${encodeURIComponent(secrets.proxyPassword)}@proxy` },
  { proxy_url: `http://u:${encodeURIComponent(secrets.proxyPassword)}@proxy/path` },
];

describe('revealedSecrets', () => {
  it('finds a secret in every encoding', () => {
    const { password } = secrets;
    const basic = Buffer.from(`user:${password}`).toString('base64');
    for (const text of [password, basic, encodeURIComponent(password), Buffer.from(password).toString('hex')]) {
      expect(revealedSecrets(`it is ${text}`, secrets)).toEqual(['password']);
    }
    expect(tracesOf(secrets.key)).toContain(secrets.key.slice(0, 20));
  });
});

describe('the secrets of the configuration', () => {
  it('are redacted by --config.check', async () => {
    const flags = [configFlag(allSettingsConfig()), '--config.check', '--log.level=trace'];
    const { code, stdout, stderr } = await runExporter(flags);
    expect(stderr).toContain('warning');
    expect(code).toBe(0);
    // For each of the four nodes: a password, credentials, a header and a proxy. The other secrets are in files. Four contracts and paths.
    expect(stdout.match(/<secret>/g)).toHaveLength(4 * 4 + 4 + 4);
    expect(revealedSecrets(stdout + stderr, secrets)).toEqual([]);
  });

  it('are not in the error messages about invalid settings', async () => {
    const targets = invalidSettings.map((settings, index) => ({
      name: `target-${index}`,
      bridge: { url: 'https://a.example', ...settings },
    }));
    for (const command of ['--config.check', 'once']) {
      const { code, stdout, stderr } = await runExporter([command, configFlag(stringify({ targets }))]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      for (const index of targets.keys()) expect(stderr).toContain(`targets[${index}].bridge.`);
      expect(revealedSecrets(stderr, secrets)).toEqual([]);
    }
  });

  it('are not in the error message about a file that is not YAML', async () => {
    const invalid = `basic_auth: {password: "${secrets.credentials.replaceAll(/[\\"]/g, '')}\\q"}\nkey: ${secrets.key}: ${secrets.key}`;
    const { code, stderr } = await runExporter([configFlag(invalid)]);
    expect(code).toBe(2);
    expect(revealedSecrets(stderr, secrets)).toEqual([]);
  });

  it('are redacted in the output of `once`', async () => {
    const { code, stdout, stderr } = await runExporter(['once', configFlag(allSettingsConfig())]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/bad_request: .*<secret>/);
    expect(revealedSecrets(stdout + stderr, secrets)).toEqual([]);
  });

  it('are redacted in the log, the pages and the metrics of the daemon, also after a failed reload', async () => {
    const daemon = await startDaemon([configFlag(allSettingsConfig()), '--log.level=trace', '--web.enable-lifecycle']);
    const { url, log, logged } = daemon;
    const outputs: string[] = [];
    const request = async (path: string, accept = '*/*', method = 'GET'): Promise<string> => {
      const { headers, text } = await get(url + path, { method, headers: { accept } });
      outputs.push(JSON.stringify(headers), text);
      return text;
    };
    await Promise.all(clientSettings('').map((_, index) => logged(new RegExp(`echoing-${index}`))));
    const enough = echoRequests + 300;
    await waitUntil(
      async () => {
        await request('/');
        return echoRequests >= enough;
      },
      { intervalMs: 200 },
    );
    expect(await request('/')).toContain('&lt;secret&gt;');
    for (const accept of ['text/html', 'application/json']) await request('/pending', accept);
    for (const path of ['/config', '/-/ready', '/-/healthy', '/nowhere']) await request(path);
    await request('/metrics', 'application/openmetrics-text');
    for (const settings of invalidSettings) {
      configFlag(stringify({ targets: [{ name: 'a', bridge: { url: 'https://a.example', ...settings } }] }));
      await request('/-/reload', '*/*', 'POST');
    }
    await daemon.stop();
    const recordings = filesIn(join(folder.path, 'recording'));
    expect(recordings.some((text) => text.includes('/…/peggy/v1/module_state: responded with status 400'))).toBe(true);
    outputs.push(...recordings);
    expect(revealedSecrets([...outputs, ...log].join('\n'), secrets)).toEqual([]);
    expect(log.join('\n')).toContain('<secret>');
    expect(outputs.join('\n')).toContain('bridge_batches{target="responding-0"}');
    expect(outputs.join('\n')).toContain('bridge_batches{target="hosted-responding"}');
    expect(outputs.join('\n')).toContain(new URL(gateway).host);
  });
});

describe('the secrets of the web configuration', () => {
  it('are in no output, whoever sends requests and however invalid the file is', async () => {
    const [password, wrongPassword] = [createHeaderCanary(), createHeaderCanary()];
    const passwordHash = await hash(password, 4);
    const { key } = certificate;
    const webSecrets = { password, wrongPassword, hash: passwordHash, key: key.split('\n')[5] ?? '' };
    const writeYaml = (name: string, content: unknown): string => folder.write(name, stringify(content));
    const config = writeYaml('config.yml', { targets: [{ name: 'a', bridge: { url: 'http://127.0.0.1:1' } }] });
    const web = writeYaml('web.yml', { basic_auth_users: { alice: passwordHash } });
    const outputs: string[] = [];

    const { url, log, logged, stop } = await startDaemon([
      `--config.file=${config}`,
      `--web.config.file=${web}`,
      '--log.level=trace',
    ]);
    for (const [user, secret] of [
      ['alice', password],
      ['alice', wrongPassword],
      ['bob', wrongPassword],
    ]) {
      for (const path of ['/metrics', '/', '/pending', '/config', '/-/reload', '/nowhere']) {
        const authorization = `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`;
        const { text, headers } = await get(url + path, { headers: { authorization } });
        outputs.push(JSON.stringify(headers), text);
      }
    }
    // The file becomes invalid: a password instead of a hash, and a key instead of a password.
    writeYaml('web.yml', {
      basic_auth_users: { alice: password, bob: key },
      tls_server_config: { key_file: passwordHash },
    });
    await logged(/web configuration/i);
    outputs.push(log.join('\n'));
    await stop();

    const invalid = writeYaml('invalid.yml', {
      basic_auth_users: { alice: password, bob: key },
      tls_server_config: { cert: passwordHash, key },
    });
    for (const flags of [
      [`--web.config.file=${web}`],
      [`--web.config.file=${invalid}`],
      [`--web.config.file=${invalid}`, '--config.check'],
    ]) {
      const { code, stdout, stderr } = await runExporter([
        `--config.file=${config}`,
        ...flags,
        '--web.listen-address=127.0.0.1:0',
      ]);
      expect(code).toBe(2);
      outputs.push(stdout, stderr);
    }
    expect(outputs.join('\n').length).toBeGreaterThan(5000);
    expect(revealedSecrets(outputs.join('\n'), webSecrets)).toEqual([]);
  });
});
