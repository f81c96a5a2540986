import type { Result } from '../result.js';
import type { HttpClientConfig, TextCheck } from './http-client-config.js';
import { checkHeaderValue, checkSecret, checkUsername, reveal, type Secret } from './secret.js';
import { readSmallFile } from './small-file.js';
import { checkCertificates, checkPrivateKey, isKeyPair } from './tls.js';
import type { Path, PathMessage } from './yaml.js';

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

type Headers = Readonly<Record<string, string | string[]>>;

type Section<Key extends keyof HttpClientConfig> = NonNullable<HttpClientConfig[Key]>;

export interface ResolvedTls extends Pick<
  Section<'tls_config'>,
  'server_name' | 'insecure_skip_verify' | 'min_version' | 'max_version'
> {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

export interface ResolvedProxy {
  readonly url: string;
  /** Request headers for the proxy, which the node never receives. */
  readonly headers: Headers;
}

/** Reads all files of an HTTP client configuration. Problems have paths relative to the endpoint, and do not quote the content of a file. */
export async function resolveHttpConfig(
  config: HttpClientConfig,
): Promise<Result<{ readonly resolved: ResolvedHttpConfig }, { readonly problems: readonly PathMessage[] }>> {
  const problems: PathMessage[] = [];
  const read = createReader(problems);
  const [tls, ...credentials] = await Promise.all([
    config.tls_config && readTls(config.tls_config, read, problems),
    ...Object.entries(config.http_headers ?? {}).map(async ([name, values]) => readHeader(name, values, read)),
    config.basic_auth && readBasicAuth(config.basic_auth, read),
    config.authorization && readAuthorization(config.authorization, read),
  ]);
  if (problems.length > 0) return { ok: false, problems: problems.toSorted(byPath) };
  const { url: proxyUrl, userInfo } = config.proxy_url ?? {};
  const proxy = userInfo && proxyCredentials(reveal(userInfo));
  return {
    ok: true,
    resolved: {
      headers: Object.fromEntries(credentials.flatMap((one) => Object.entries(one?.headers ?? {}))),
      tls,
      proxy: proxyUrl === undefined ? undefined : { url: proxyUrl, headers: proxy?.headers ?? {} },
      secrets: [...credentials, proxy].flatMap((one) => one?.secrets ?? []),
    },
  };
}

/** A value, or the content of its file. `path` is the key of the file. */
type Read = (
  value: string | Secret | undefined,
  file: string | undefined,
  path: Path,
  check: TextCheck,
) => Promise<string | undefined>;

/** Checks the content of files; the schema has checked all other values. */
function createReader(problems: PathMessage[]): Read {
  return async (value, file, path, check) => {
    if (value !== undefined) return typeof value === 'string' ? value : reveal(value);
    if (file === undefined) return undefined;
    const content = await readSmallFile(file);
    const problem = content.ok ? check(content.text) : content.problem;
    if (problem !== undefined) problems.push({ path, message: `${file} ${problem}` });
    return content.ok ? content.text : undefined;
  };
}

type Credentials = Pick<ResolvedHttpConfig, 'headers' | 'secrets'>;

async function readBasicAuth(config: Section<'basic_auth'>, read: Read): Promise<Credentials> {
  const { username, username_file, password, password_file } = config;
  const name = await read(username, username_file, ['basic_auth', 'username_file'], checkUsername);
  const secret = await read(password, password_file, ['basic_auth', 'password_file'], checkSecret);
  return basicCredentials('authorization', name ?? '', secret ?? '');
}

function basicCredentials(header: string, username: string, password: string): Credentials {
  const userInfo = `${username}:${password}`;
  const value = `Basic ${Buffer.from(userInfo).toString('base64')}`;
  return { headers: { [header]: value }, secrets: [password, userInfo, value] };
}

/** `userInfo` is `user:password`. The user name is a secret too, because some proxies take a token there. */
function proxyCredentials(userInfo: string): Credentials {
  const [username = ''] = userInfo.split(':', 1);
  const { headers, secrets } = basicCredentials('proxy-authorization', username, userInfo.slice(username.length + 1));
  return { headers, secrets: [username, ...secrets] };
}

async function readAuthorization(config: Section<'authorization'>, read: Read): Promise<Credentials> {
  const { type, credentials, credentials_file } = config;
  const path = ['authorization', 'credentials_file'];
  const secret = (await read(credentials, credentials_file, path, checkHeaderValue)) ?? '';
  const value = `${type} ${secret}`;
  return { headers: { authorization: value }, secrets: [secret, value] };
}

async function readHeader(
  name: string,
  { values = [], secrets = [], files = [] }: Section<'http_headers'>[string],
  read: Read,
): Promise<Credentials> {
  const contents = await Promise.all(
    files.map(async (file, index) => read(undefined, file, ['http_headers', name, 'files', index], checkHeaderValue)),
  );
  const redacted = [...secrets.map(reveal), ...contents.filter((content) => content !== undefined)];
  return { headers: { [name.toLowerCase()]: [...values, ...redacted] }, secrets: redacted };
}

async function readTls(
  { ca, ca_file, cert, cert_file, key, key_file, ...rules }: Section<'tls_config'>,
  read: Read,
  problems: PathMessage[],
): Promise<ResolvedTls> {
  const tls = {
    ...rules,
    ca: await read(ca, ca_file, ['tls_config', 'ca_file'], checkCertificates),
    cert: await read(cert, cert_file, ['tls_config', 'cert_file'], checkCertificates),
    key: await read(key, key_file, ['tls_config', 'key_file'], checkPrivateKey),
  };
  if (tls.cert !== undefined && tls.key !== undefined && !isKeyPair(tls.cert, tls.key)) {
    problems.push({ path: ['tls_config'], message: 'the private key does not match the certificate' });
  }
  return tls;
}

function byPath(left: PathMessage, right: PathMessage): number {
  return left.path.join('.') < right.path.join('.') ? -1 : 1;
}
