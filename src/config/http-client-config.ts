import { BlockList, isIP } from 'node:net';
import { resolve } from 'node:path';
import * as z from 'zod';
import {
  atLeastOne,
  checkHeaderValue,
  checkSecret,
  checkUsername,
  createSecret,
  fileNameSetting,
  notBoth,
  REDACTED,
  reveal,
  type Secret,
  stringSetting,
  whenMapping,
} from './values.js';
import { checkCertificates, createFileReader, readKeyPair, type TextCheck } from './text-files.js';
import { type EndpointUrl, type Proxy, proxyUrl } from './urls.js';
import type { PathMessage, Result } from './text-files.js';

/* HTTP client settings of an endpoint, with the keys of Prometheus. A secret is a value or a file. */

const checked = (title: string, check: TextCheck) =>
  stringSetting
    .superRefine((text, context) => {
      const problem = check(text);
      if (problem !== undefined) context.addIssue(problem);
    })
    .meta({ title });

const secretSetting = (check: TextCheck) =>
  z
    .codec(checked('secret', check), z.custom<Secret>(), { decode: createSecret, encode: () => REDACTED })
    .meta({ title: 'secret' });

const basicAuth = z
  .strictObject({
    username: checked('text', checkUsername).describe('User name.'),
    password: secretSetting(checkSecret).optional().describe('Password; empty if not set.'),
    password_file: fileNameSetting.optional().describe('File with the password.'),
  })
  .check(notBoth('password', 'password_file'));

/** A token of RFC 9110. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

const authorizationHeader = z
  .strictObject({
    type: stringSetting
      .refine(
        (text) => TOKEN.test(text) && text.toLowerCase() !== 'basic',
        'expected an authentication scheme such as Bearer; for Basic, use basic_auth',
      )
      .meta({ title: 'text' })
      .prefault('Bearer')
      .describe('Authentication scheme; for Basic, use `basic_auth`.'),
    credentials: secretSetting(checkHeaderValue).optional().describe('Credentials after the scheme, such as a token.'),
    credentials_file: fileNameSetting.optional().describe('File with the credentials.'),
  })
  .check(atLeastOne('credentials', 'credentials_file'), notBoth('credentials', 'credentials_file'));

/** The header is sent once for each value. */
const headerValues = z
  .strictObject({
    values: z.array(checked('text', checkHeaderValue)).min(1).optional().describe('Header values.'),
    secrets: z
      .array(secretSetting(checkHeaderValue))
      .min(1)
      .optional()
      .describe('Secret header values, redacted in all output.'),
    files: z.array(fileNameSetting).min(1).optional().describe('Files that each contain one secret header value.'),
  })
  .check(atLeastOne('values', 'secrets', 'files'));

/** Headers of a connection, which Node.js does not send, and that of the compression. */
const RESERVED_HEADER =
  /^(?:accept-encoding|connection|content-length|expect|host|keep-alive|transfer-encoding|upgrade)$/i;

const headerName = z
  .string()
  .regex(TOKEN, 'expected a header name such as X-Api-Key')
  .refine((name) => name.toLowerCase() !== 'authorization', 'cannot be set here, use basic_auth or authorization')
  .refine((name) => !RESERVED_HEADER.test(name), 'is a reserved header');

/** Certificates and keys are PEM. */
const tlsConfig = z
  .strictObject({
    ca_file: fileNameSetting.optional().describe('File with CA certificates to trust instead of those of Node.js.'),
    cert_file: fileNameSetting.optional().describe('File with the client certificate; requires `key_file`.'),
    key_file: fileNameSetting.optional().describe('File with the private key of the client certificate.'),
    server_name: stringSetting
      .refine((text) => /^[\w-]+(?:\.[\w-]+)*$/.test(text) || isIP(text) > 0, 'expected a host name or an IP address')
      .meta({ title: 'name' })
      .optional()
      .describe('Expected name in the certificate of the node, if not the host of `url`.'),
    insecure_skip_verify: z
      .boolean()
      .prefault(false)
      .describe('Accept any certificate. Logs a warning at startup. `NODE_TLS_REJECT_UNAUTHORIZED` has no effect.'),
  })
  .refine(({ cert_file, key_file }) => (cert_file === undefined) === (key_file === undefined), {
    error: 'expected both cert_file and key_file',
  });

/** The keys of an endpoint that configure the HTTP client. */
export const httpClient = z.strictObject({
  basic_auth: basicAuth.optional().describe('Basic authentication, instead of `authorization`.'),
  authorization: authorizationHeader.optional().describe('`Authorization` header.'),
  http_headers: z.record(headerName, headerValues).optional().describe('Additional request headers by name.'),
  tls_config: tlsConfig.optional().describe('TLS settings for an https node or an https proxy.'),
  proxy_url: proxyUrl.optional().describe('HTTP proxy. The URL may contain a user and a password.'),
  proxy_from_environment: z
    .boolean()
    .optional()
    .describe('Use the proxy of `HTTPS_PROXY` or `HTTP_PROXY`, except for hosts in `NO_PROXY`.'),
  no_proxy: stringSetting
    .refine(isNoProxy, 'expected names, domains, addresses and CIDR blocks, separated by commas')
    .meta({ title: 'text' })
    .optional()
    .describe('Hosts to request without `proxy_url`, separated by commas.'),
});

export const httpClientChecks = [
  notBoth('basic_auth', 'authorization'),
  notBoth('proxy_url', 'proxy_from_environment'),
  z.refine<{ readonly no_proxy?: unknown; readonly proxy_url?: unknown }>(
    ({ no_proxy, proxy_url }) => no_proxy === undefined || proxy_url !== undefined,
    { error: 'requires proxy_url', path: ['no_proxy'], ...whenMapping },
  ),
] as const;

/** Structured-cloneable, like the whole configuration. File names are absolute. Files are read again for every poll. */
export type HttpClientConfig = z.output<typeof httpClient>;

/** How a node is requested. */
export interface NodeConnection extends HttpClientConfig {
  readonly url: EndpointUrl;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Makes the names of files absolute: they are relative to the directory of the configuration file. */
export function resolveFiles(
  { basic_auth: basic, authorization: auth, http_headers: headers = {}, tls_config: tls }: HttpClientConfig,
  directory: string,
): void {
  const absolute = (file: string | undefined) => file && resolve(directory, file);
  if (basic) basic.password_file = absolute(basic.password_file);
  if (auth) auth.credentials_file = absolute(auth.credentials_file);
  for (const each of Object.values(headers)) each.files = each.files?.map((file) => resolve(directory, file));
  if (!tls) return;
  tls.ca_file = absolute(tls.ca_file);
  tls.cert_file = absolute(tls.cert_file);
  tls.key_file = absolute(tls.key_file);
}

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

/* The proxy of a node, as in Prometheus, which uses golang.org/x/net/http/httpproxy. */

/** The proxy, if any; or the problem of a variable, as a text that does not quote its value. */
export function selectProxy(
  { url: { origin }, proxy_url, proxy_from_environment = false, no_proxy }: NodeConnection,
  env: Environment,
): Proxy | string | undefined {
  const url = new URL(origin);
  if (!proxy_from_environment) return no_proxy !== undefined && isExempt(url, no_proxy) ? undefined : proxy_url;
  const variable = (name: string): string => env[name] || env[name.toLowerCase()] || '';
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = variable(name);
  if (value === '' || isExempt(url, variable('NO_PROXY'))) return undefined;
  const parsed = proxyUrl.safeParse(value.includes('://') ? value : `http://${value}`);
  return parsed.success ? parsed.data : `${name}: ${parsed.error.issues[0]?.message}`;
}

type Matches = (host: string, port: string) => boolean;

const LOOPBACK = ['localhost', '127.0.0.0/8', '::1'];

/** Whether a host is requested without a proxy. Entries that are not valid match nothing. */
function isExempt({ protocol, hostname, port }: URL, noProxy: string): boolean {
  const host = hostname.replaceAll(/[[\]]|\.$/g, '');
  const ownPort = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return [...LOOPBACK, ...noProxy.split(',')].some((entry) => parseEntry(entry)?.(host, ownPort));
}

function isNoProxy(text: string): boolean {
  return text.split(',').every((entry) => parseEntry(entry) !== undefined);
}

/**
 * An entry: `*`, a name with its subdomains, a domain without its own name (`.example.org`), an address or a CIDR
 * block. All but blocks may have a port.
 */
function parseEntry(entry: string): Matches | undefined {
  const text = entry.trim().toLowerCase();
  if (text === '' || text === '*') return () => text === '*';
  const [, name = text, port] = (isIP(text) === 0 && /^(.+):(\d{1,5})$/.exec(text)) || [];
  const isOnPort = (other: string): boolean => port === undefined || port === other;
  const addresses = parseAddresses(name.replaceAll(/[[\]]/g, ''));
  if (addresses !== undefined) return (host, other) => isOnPort(other) && contains(addresses, host);
  if (!/^(?:\*?\.)?[\w-]+(?:\.[\w-]+)*$/.test(name)) return undefined;
  const domain = name.replace('*', '');
  const suffix = domain.startsWith('.') ? domain : `.${domain}`;
  return (host, other) => isOnPort(other) && (host === domain || host.endsWith(suffix));
}

const addressFamily = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

function contains(addresses: BlockList, host: string): boolean {
  return isIP(host) > 0 && addresses.check(host, addressFamily(host));
}

/** The addresses of an address or a CIDR block. */
function parseAddresses(text: string): BlockList | undefined {
  const [, address = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bits = isIP(address) === 6 ? 128 : 32;
  const prefix = length === undefined ? bits : Number(length);
  if (isIP(address) === 0 || prefix > bits) return undefined;
  const addresses = new BlockList();
  addresses.addSubnet(address, prefix, addressFamily(address));
  return addresses;
}
