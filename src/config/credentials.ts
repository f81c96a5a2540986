import type { Result } from './result.js';
import type { NodeConnection } from './endpoint-config.js';
import type { Environment } from './environment.js';
import { checkCertificates, readKeyPair } from './pem.js';
import { selectProxy } from './proxy.js';
import { checkHeaderValue, checkSecret, reveal } from './secret.js';
import { createFileReader } from './text-file.js';
import type { Proxy } from './urls.js';
import type { PathMessage } from './yaml.js';

/** HTTP client settings with the content of all files and secrets. Kept for one poll only. */
export interface ResolvedHttpConfig {
  /** Request headers for the node. Names are in lower case, so that a configured header replaces a default one. */
  readonly headers: Headers;
  readonly tls: ResolvedTls | undefined;
  readonly proxy: ResolvedProxy | undefined;
  /**
   * The strings to redact, because the node or the proxy may send them back. Includes whole header values.
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

/**
 * Reads all files of the HTTP client configuration of a node, and the variables of a proxy. Problems have paths
 * relative to the endpoint, and do not quote the content of a file.
 */
export async function resolveHttpConfig(
  node: NodeConnection,
  env: Environment,
): Promise<Result<{ readonly resolved: ResolvedHttpConfig }, { readonly problems: readonly PathMessage[] }>> {
  const { basic_auth: basic, authorization, http_headers = {}, tls_config: tls } = node;
  const problems: PathMessage[] = [];
  const read = createFileReader(problems);
  const credentials: Credentials[] = [];
  if (basic) {
    const fromFile = await read(basic.password_file, ['basic_auth', 'password_file'], checkSecret);
    const password = basic.password === undefined ? (fromFile ?? '') : reveal(basic.password);
    credentials.push(basicCredentials('authorization', `${basic.username}:${password}`, [password]));
  }
  if (authorization) {
    const { type, credentials: secret, credentials_file } = authorization;
    const fromFile = await read(credentials_file, ['authorization', 'credentials_file'], checkHeaderValue);
    const token = secret === undefined ? (fromFile ?? '') : reveal(secret);
    credentials.push({ headers: { authorization: `${type} ${token}` }, secrets: [token, `${type} ${token}`] });
  }
  for (const [name, { values = [], secrets = [], files = [] }] of Object.entries(http_headers)) {
    const redacted = secrets.map(reveal);
    for (const [index, file] of files.entries()) {
      // oxlint-disable-next-line no-await-in-loop -- problems are in the order of the files
      redacted.push((await read(file, ['http_headers', name, 'files', index], checkHeaderValue)) ?? '');
    }
    credentials.push({ headers: { [name.toLowerCase()]: [...values, ...redacted] }, secrets: redacted });
  }
  const resolvedTls = tls && {
    ...tls,
    ca: await read(tls.ca_file, ['tls_config', 'ca_file'], checkCertificates),
    ...(await readKeyPair(tls, ['tls_config'], read, problems)),
  };
  const proxy = selectProxy(node, env);
  if (typeof proxy === 'string') problems.push({ path: ['proxy_from_environment'], message: proxy });
  const resolvedProxy = typeof proxy === 'object' ? proxyWithCredentials(proxy) : undefined;
  if (problems.length > 0) return { ok: false, problems };
  const headers = Object.fromEntries(credentials.flatMap((each) => Object.entries(each.headers)));
  const secrets = [...credentials, resolvedProxy].flatMap((each) => each?.secrets ?? []);
  return { ok: true, resolved: { headers, tls: resolvedTls, proxy: resolvedProxy, secrets } };
}

interface Credentials {
  readonly headers: Headers;
  readonly secrets: readonly string[];
}

function basicCredentials(header: string, userInfo: string, secrets: readonly string[]): Credentials {
  const encoded = Buffer.from(userInfo).toString('base64');
  const value = `Basic ${encoded}`;
  return { headers: { [header]: value }, secrets: [...secrets, userInfo, encoded, value] };
}

/** The user name of a proxy is a secret too, because some proxies take a token there. */
function proxyWithCredentials({ url, userInfo }: Proxy): ResolvedProxy & Credentials {
  if (userInfo === undefined) return { url, headers: {}, secrets: [] };
  const text = reveal(userInfo);
  const colon = text.indexOf(':');
  return { url, ...basicCredentials('proxy-authorization', text, [text.slice(0, colon), text.slice(colon + 1)]) };
}
