import type { Result } from '../result.js';
import type { HttpClientConfig } from './http-client-config.js';
import { checkCertificates, checkPrivateKey, isKeyPair } from './pem.js';
import { checkHeaderValue, checkSecret, reveal } from './secret.js';
import { createFileReader } from './small-file.js';
import type { PathMessage } from './yaml.js';

/** HTTP client settings with the content of all files and secrets. Kept for one poll only. */
export interface ResolvedHttpConfig {
  /** Request headers for the node. Names are in lower case, so that a configured header replaces a default one. */
  readonly headers: Headers;
  readonly tls: ResolvedTls | undefined;
  readonly proxy: ResolvedProxy | undefined;
  /**
   * The strings to redact, because the node or the proxy may send them back. Includes whole header values, which may come back
   * encoded.
   */
  readonly secrets: readonly string[];
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface ResolvedTls {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly server_name?: string | undefined;
  readonly insecure_skip_verify: boolean;
}

export interface ResolvedProxy {
  readonly url: string;
  /** Request headers for the proxy, which the node never receives. */
  readonly headers: Headers;
}

type Read = ReturnType<typeof createFileReader>;

/** Reads all files of an HTTP client configuration. Problems have paths relative to the endpoint, and do not quote the content of a file. */
export async function resolveHttpConfig(
  config: HttpClientConfig,
): Promise<Result<{ readonly resolved: ResolvedHttpConfig }, { readonly problems: readonly PathMessage[] }>> {
  const problems: PathMessage[] = [];
  const read = createFileReader(problems);
  const credentials = [
    await readBasicAuth(config, read),
    await readAuthorization(config, read),
    ...(await readHeaders(config, read)),
  ];
  const tls = await readTls(config, read, problems);
  const proxy = proxyOf(config);
  if (problems.length > 0) return { ok: false, problems: problems.toSorted(byPath) };
  const headers = Object.fromEntries(credentials.flatMap((each) => Object.entries(each.headers)));
  const secrets = [...credentials, proxy].flatMap((each) => each?.secrets ?? []);
  return { ok: true, resolved: { headers, tls, proxy, secrets } };
}

/** Files of headers are read at once. */
function byPath(left: PathMessage, right: PathMessage): number {
  return left.path.join('.') < right.path.join('.') ? -1 : 1;
}

interface Credentials {
  readonly headers: Headers;
  readonly secrets: readonly string[];
}

const noCredentials: Credentials = { headers: {}, secrets: [] };

async function readBasicAuth({ basic_auth: basic }: HttpClientConfig, read: Read): Promise<Credentials> {
  if (basic === undefined) return noCredentials;
  const { username, password, password_file } = basic;
  const fromFile = await read(password_file, ['basic_auth', 'password_file'], checkSecret);
  return basicCredentials('authorization', username, password === undefined ? (fromFile ?? '') : reveal(password));
}

function basicCredentials(header: string, username: string, password: string): Credentials {
  const userInfo = `${username}:${password}`;
  const value = `Basic ${Buffer.from(userInfo).toString('base64')}`;
  return { headers: { [header]: value }, secrets: [password, userInfo, value] };
}

async function readAuthorization({ authorization }: HttpClientConfig, read: Read): Promise<Credentials> {
  if (authorization === undefined) return noCredentials;
  const { type, credentials, credentials_file } = authorization;
  const fromFile = await read(credentials_file, ['authorization', 'credentials_file'], checkHeaderValue);
  const secret = credentials === undefined ? (fromFile ?? '') : reveal(credentials);
  const value = `${type} ${secret}`;
  return { headers: { authorization: value }, secrets: [secret, value] };
}

async function readHeaders({ http_headers: headers = {} }: HttpClientConfig, read: Read): Promise<Credentials[]> {
  return Promise.all(
    Object.entries(headers).map(async ([name, { values = [], secrets = [], files = [] }]) => {
      const contents = await Promise.all(
        files.map(async (file, index) => read(file, ['http_headers', name, 'files', index], checkHeaderValue)),
      );
      const redacted = [...secrets.map(reveal), ...contents.filter((content) => content !== undefined)];
      return { headers: { [name.toLowerCase()]: [...values, ...redacted] }, secrets: redacted };
    }),
  );
}

async function readTls(
  { tls_config: config }: HttpClientConfig,
  read: Read,
  problems: PathMessage[],
): Promise<ResolvedTls | undefined> {
  if (config === undefined) return undefined;
  const { ca_file, cert_file, key_file, ...rules } = config;
  const ca = await read(ca_file, ['tls_config', 'ca_file'], checkCertificates);
  const cert = await read(cert_file, ['tls_config', 'cert_file'], checkCertificates);
  const key = await read(key_file, ['tls_config', 'key_file'], checkPrivateKey);
  if (cert !== undefined && key !== undefined && !isKeyPair(cert, key)) {
    problems.push({ path: ['tls_config', 'key_file'], message: `${key_file} is not the key of the certificate` });
  }
  return { ...rules, ca, cert, key };
}

/** The user name of a proxy is a secret too, because some proxies take a token there. */
function proxyOf({ proxy_url: proxy }: HttpClientConfig): (ResolvedProxy & Credentials) | undefined {
  if (proxy === undefined) return undefined;
  const { url, userInfo } = proxy;
  if (userInfo === undefined) return { url, ...noCredentials };
  const [username = '', ...password] = reveal(userInfo).split(':');
  const { headers, secrets } = basicCredentials('proxy-authorization', username, password.join(':'));
  return { url, headers, secrets: [username, ...secrets] };
}
