import { resolve } from 'node:path';
import { checkCertificates, isKeyPair, checkPrivateKey } from './kit/pem.js';
import type {
  Authorization,
  BasicAuth,
  Header,
  HttpClientConfig,
  SecretSource,
  Tls,
  TlsRules,
} from './http-client-config.js';
import { reveal } from './kit/secret.js';
import { readSmallFile } from './kit/small-file.js';
import { checkHeaderValue, checkSecret, checkUsername } from './kit/sources.js';
import type { Path } from './kit/yaml-source.js';

/** What a reach comes to at a moment, all texts in the clear: for one poll, and for nobody else. */
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
  /** Those of the values that are not to be seen. */
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
  /** Below the endpoint. */
  readonly path: Path;
  /** Names the file; never says what is in it. */
  readonly message: string;
}

/** Reads all the files of a reach. */
export async function resolveHttpConfig(reach: HttpClientConfig): Promise<ResolveResult> {
  const problems: ResolveProblem[] = [];
  const read = reader(reach.directory, problems);
  const [basicAuth, authorization, headers, tls] = await Promise.all([
    reach.basicAuth && readBasicAuth(reach.basicAuth, read),
    reach.authorization && readAuthorization(reach.authorization, read),
    Promise.all((reach.headers ?? []).map((header) => readHeader(header, read))),
    reach.tls && readTls(reach.tls, read, problems),
  ]);
  if (problems.length > 0) return { ok: false, problems: problems.toSorted(byPath) };
  const proxy = reach.proxy && { url: reach.proxy.url, userInfo: reach.proxy.userInfo && reveal(reach.proxy.userInfo) };
  return { ok: true, resolved: { basicAuth, authorization, headers, tls, proxy } };
}

/** `path` is that of the text itself; the one of its file ends in `_file`, but for files in a list. */
type Read = (source: SecretSource, path: Path, problemOf: (text: string) => string | undefined) => Promise<string>;

/** Texts of the configuration were checked when it was read; those of files are checked here. */
function reader(directory: string, problems: ResolveProblem[]): Read {
  return async (source, path, problemOf) => {
    if ('text' in source) return source.text;
    if ('secret' in source) return reveal(source.secret);
    const file = resolve(directory, source.file);
    const reading = await readSmallFile(file);
    const wrong = reading.ok ? problemOf(reading.value) : reading.problem;
    if (wrong !== undefined) problems.push({ path: filePath(path), message: `${file} ${wrong}` });
    return reading.ok ? reading.value : '';
  };
}

function filePath(path: Path): Path {
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
    problems.push({ path: ['tls_config'], message: 'the key is not that of the certificate' });
  }
  return tls;
}

function byPath(left: ResolveProblem, right: ResolveProblem): number {
  return left.path.join('.') < right.path.join('.') ? -1 : 1;
}
