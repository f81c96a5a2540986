import { resolve } from 'node:path';
import { certificatesProblem, isPair, keyProblem } from './kit/pem.js';
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
import { headerProblem, secretProblem, usernameProblem } from './kit/sources.js';
import type { Path } from './kit/yaml-source.js';

/** An HttpClientConfig with the content of its files and secrets in plain text, for one poll. */
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
  | { readonly ok: true; readonly config: ResolvedHttpConfig }
  | { readonly ok: false; readonly problems: readonly ResolveProblem[] };

export interface ResolveProblem {
  /** Relative to the endpoint. */
  readonly path: Path;
  /** Contains the name of the file, never its content. */
  readonly message: string;
}

/** Reads all files of an HttpClientConfig. */
export async function resolveHttpConfig(config: HttpClientConfig): Promise<ResolveResult> {
  const problems: ResolveProblem[] = [];
  const read = reader(config.directory, problems);
  const [basicAuth, authorization, headers, tls] = await Promise.all([
    config.basicAuth && readBasicAuth(config.basicAuth, read),
    config.authorization && readAuthorization(config.authorization, read),
    Promise.all((config.headers ?? []).map((header) => readHeader(header, read))),
    config.tls && readTls(config.tls, read, problems),
  ]);
  if (problems.length > 0) return { ok: false, problems: problems.toSorted(byPath) };
  const proxy = config.proxy && {
    url: config.proxy.url,
    userInfo: config.proxy.userInfo && reveal(config.proxy.userInfo),
  };
  return { ok: true, config: { basicAuth, authorization, headers, tls, proxy } };
}

/** `path` is the key of the inline value. The key of its file ends in `_file`, except for files in a list. */
type Read = (source: SecretSource, path: Path, problemOf: (text: string) => string | undefined) => Promise<string>;

/** Inline values were validated with the configuration file; the content of files is validated here. */
function reader(directory: string, problems: ResolveProblem[]): Read {
  return async (source, path, problemOf) => {
    if ('text' in source) return source.text;
    if ('secret' in source) return reveal(source.secret);
    const file = resolve(directory, source.file);
    const reading = await readSmallFile(file);
    const wrong = reading.ok ? problemOf(reading.value) : reading.wrong;
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
    username: await read(username, ['basic_auth', 'username'], usernameProblem),
    password: password === undefined ? '' : await read(password, ['basic_auth', 'password'], secretProblem),
  };
}

async function readAuthorization(
  { type, credentials }: Authorization,
  read: Read,
): Promise<ResolvedHttpConfig['authorization']> {
  return { type, credentials: await read(credentials, ['authorization', 'credentials'], headerProblem) };
}

async function readHeader({ name, values: sources }: Header, read: Read): Promise<ResolvedHeader> {
  const firstFile = sources.findIndex((source) => 'file' in source);
  const values = await Promise.all(
    sources.map((source, index) => read(source, ['http_headers', name, 'files', index - firstFile], headerProblem)),
  );
  return { name, values, secrets: values.filter((_, index) => !('text' in (sources[index] ?? {}))) };
}

async function readTls({ ca, cert, key, ...rules }: Tls, read: Read, problems: ResolveProblem[]): Promise<ResolvedTls> {
  const tls = {
    ...rules,
    ca: ca && (await read(ca, ['tls_config', 'ca'], certificatesProblem)),
    cert: cert && (await read(cert, ['tls_config', 'cert'], certificatesProblem)),
    key: key && (await read(key, ['tls_config', 'key'], keyProblem)),
  };
  if (tls.cert !== undefined && tls.key !== undefined && !isPair(tls.cert, tls.key)) {
    problems.push({ path: ['tls_config'], message: 'the key is not that of the certificate' });
  }
  return tls;
}

function byPath(left: ResolveProblem, right: ResolveProblem): number {
  return left.path.join('.') < right.path.join('.') ? -1 : 1;
}
