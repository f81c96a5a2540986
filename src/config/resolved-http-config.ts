import { resolve } from 'node:path';
import type { HttpClientConfig } from './http-client-config.js';
import { checkCertificates, checkPrivateKey, isKeyPair } from '../settings/pem.js';
import type { Path } from '../settings/problems.js';
import { checkHeaderValue, checkSecret, checkUsername, reveal, type Secret } from '../settings/secret.js';
import { readSmallFile } from '../settings/small-file.js';

/** HTTP client settings with the content of all files and secrets. Kept for one poll only. */
export interface ResolvedHttpConfig {
  readonly basicAuth: { readonly username: string; readonly password: string } | undefined;
  readonly authorization: { readonly type: string; readonly credentials: string } | undefined;
  readonly headers: readonly ResolvedHeader[];
  readonly tls: ResolvedTls | undefined;
  readonly proxy: ResolvedProxy | undefined;
}

export interface ResolvedHeader {
  readonly name: string;
  readonly values: readonly string[];
  /** The values to redact. */
  readonly secrets: readonly string[];
}

type Config<Key extends keyof HttpClientConfig> = NonNullable<HttpClientConfig[Key]>;

export interface ResolvedTls extends Pick<
  Config<'tls'>,
  'serverName' | 'insecureSkipVerify' | 'minVersion' | 'maxVersion'
> {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

export interface ResolvedProxy {
  readonly url: string;
  /** `user:password`. */
  readonly userInfo: string | undefined;
}

export type ResolveResult =
  | { readonly ok: true; readonly resolved: ResolvedHttpConfig }
  | { readonly ok: false; readonly problems: readonly ResolveProblem[] };

export interface ResolveProblem {
  /** Relative to the endpoint. */
  readonly path: Path;
  /** Names the file, without quoting its content. */
  readonly message: string;
}

/** Reads all files of an HTTP client configuration. */
export async function resolveHttpConfig(config: HttpClientConfig): Promise<ResolveResult> {
  const problems: ResolveProblem[] = [];
  const read = createReader(config.directory, problems);
  const [basicAuth, authorization, headers, tls] = await Promise.all([
    config.basicAuth && readBasicAuth(config.basicAuth, read),
    config.authorization && readAuthorization(config.authorization, read),
    Promise.all(Object.entries(config.headers ?? {}).map(([name, values]) => readHeader(name, values, read))),
    config.tls && readTls(config.tls, read, problems),
  ]);
  if (problems.length > 0) return { ok: false, problems: problems.toSorted(byPath) };
  const proxy = config.proxy && { ...config.proxy, userInfo: config.proxy.userInfo && reveal(config.proxy.userInfo) };
  return { ok: true, resolved: { basicAuth, authorization, headers, tls, proxy } };
}

/** A value, or the content of its file. `path` is the key of the file. */
type Read = (
  value: string | Secret | undefined,
  file: string | undefined,
  path: Path,
  check: (text: string) => string | undefined,
) => Promise<string | undefined>;

/** Checks the content of files; the schema has checked all other values. */
function createReader(directory: string, problems: ResolveProblem[]): Read {
  return async (value, file, path, check) => {
    if (value !== undefined) return typeof value === 'string' ? value : reveal(value);
    if (file === undefined) return undefined;
    const name = resolve(directory, file);
    const content = await readSmallFile(name);
    const problem = content.ok ? check(content.value) : content.problem;
    if (problem !== undefined) problems.push({ path, message: `${name} ${problem}` });
    return content.ok ? content.value : undefined;
  };
}

async function readBasicAuth(
  { username, usernameFile, password, passwordFile }: Config<'basicAuth'>,
  read: Read,
): Promise<ResolvedHttpConfig['basicAuth']> {
  return {
    username: (await read(username, usernameFile, ['basic_auth', 'username_file'], checkUsername)) ?? '',
    password: (await read(password, passwordFile, ['basic_auth', 'password_file'], checkSecret)) ?? '',
  };
}

async function readAuthorization(
  { type, credentials, credentialsFile }: Config<'authorization'>,
  read: Read,
): Promise<ResolvedHttpConfig['authorization']> {
  const path = ['authorization', 'credentials_file'];
  return { type, credentials: (await read(credentials, credentialsFile, path, checkHeaderValue)) ?? '' };
}

async function readHeader(
  name: string,
  { values = [], secrets = [], files = [] }: Config<'headers'>[string],
  read: Read,
): Promise<ResolvedHeader> {
  const contents = await Promise.all(
    files.map((file, index) => read(undefined, file, ['http_headers', name, 'files', index], checkHeaderValue)),
  );
  const redacted = [...secrets.map(reveal), ...contents.filter((content) => content !== undefined)];
  return { name, values: [...values, ...redacted], secrets: redacted };
}

async function readTls(
  { ca, caFile, cert, certFile, key, keyFile, ...rules }: Config<'tls'>,
  read: Read,
  problems: ResolveProblem[],
): Promise<ResolvedTls> {
  const tls = {
    ...rules,
    ca: await read(ca, caFile, ['tls_config', 'ca_file'], checkCertificates),
    cert: await read(cert, certFile, ['tls_config', 'cert_file'], checkCertificates),
    key: await read(key, keyFile, ['tls_config', 'key_file'], checkPrivateKey),
  };
  if (tls.cert !== undefined && tls.key !== undefined && !isKeyPair(tls.cert, tls.key)) {
    problems.push({ path: ['tls_config'], message: 'the private key does not match the certificate' });
  }
  return tls;
}

function byPath(left: ResolveProblem, right: ResolveProblem): number {
  return left.path.join('.') < right.path.join('.') ? -1 : 1;
}
