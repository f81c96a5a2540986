import { resolve } from 'node:path';
import type {
  Authorization,
  BasicAuth,
  Header,
  HttpClientConfig,
  SecretSource,
  Tls,
  TlsRules,
} from './http-client-config.js';
import { checkCertificates, checkPrivateKey, isKeyPair } from './kit/pem.js';
import type { Path } from './kit/problems.js';
import { checkHeaderValue, checkSecret, checkUsername, reveal } from './kit/secret.js';
import { readSmallFile } from './kit/small-file.js';

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

export interface ResolvedTls extends TlsRules {
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
    Promise.all((config.headers ?? []).map((header) => readHeader(header, read))),
    config.tls && readTls(config.tls, read, problems),
  ]);
  if (problems.length > 0) return { ok: false, problems: problems.toSorted(byPath) };
  const proxy = config.proxy && { ...config.proxy, userInfo: config.proxy.userInfo && reveal(config.proxy.userInfo) };
  return { ok: true, resolved: { basicAuth, authorization, headers, tls, proxy } };
}

/** `path` is the key of the value. The key of its file ends in `_file`, except in a list. */
type Read = (source: SecretSource, path: Path, check: (text: string) => string | undefined) => Promise<string>;

/** Checks the content of files; the schema has checked all other values. */
function createReader(directory: string, problems: ResolveProblem[]): Read {
  return async (source, path, check) => {
    if ('text' in source) return source.text;
    if ('secret' in source) return reveal(source.secret);
    const file = resolve(directory, source.file);
    const content = await readSmallFile(file);
    const problem = content.ok ? check(content.value) : content.problem;
    if (problem !== undefined) problems.push({ path: pathOfFile(path), message: `${file} ${problem}` });
    return content.ok ? content.value : '';
  };
}

function pathOfFile(path: Path): Path {
  const last = path.at(-1);
  return typeof last === 'string' ? [...path.slice(0, -1), `${last}_file`] : path;
}

async function readBasicAuth({ username, password }: BasicAuth, read: Read): Promise<ResolvedHttpConfig['basicAuth']> {
  return {
    username: await read(username, ['basic_auth', 'username'], checkUsername),
    password: password === undefined ? '' : await read(password, ['basic_auth', 'password'], checkSecret),
  };
}

async function readAuthorization(
  { type, credentials }: Authorization,
  read: Read,
): Promise<ResolvedHttpConfig['authorization']> {
  return { type, credentials: await read(credentials, ['authorization', 'credentials'], checkHeaderValue) };
}

async function readHeader({ name, values: sources }: Header, read: Read): Promise<ResolvedHeader> {
  const firstFile = sources.findIndex((source) => 'file' in source);
  const values = await Promise.all(
    sources.map((source, index) => read(source, ['http_headers', name, 'files', index - firstFile], checkHeaderValue)),
  );
  return { name, values, secrets: values.filter((_, index) => !('text' in (sources[index] ?? {}))) };
}

async function readTls({ ca, cert, key, ...rules }: Tls, read: Read, problems: ResolveProblem[]): Promise<ResolvedTls> {
  const tls = {
    ...rules,
    ca: ca && (await read(ca, ['tls_config', 'ca'], checkCertificates)),
    cert: cert && (await read(cert, ['tls_config', 'cert'], checkCertificates)),
    key: key && (await read(key, ['tls_config', 'key'], checkPrivateKey)),
  };
  if (tls.cert !== undefined && tls.key !== undefined && !isKeyPair(tls.cert, tls.key)) {
    problems.push({ path: ['tls_config'], message: 'the private key does not match the certificate' });
  }
  return tls;
}

function byPath(left: ResolveProblem, right: ResolveProblem): number {
  return left.path.join('.') < right.path.join('.') ? -1 : 1;
}
