import { z } from 'zod';
import type { Authorization, BasicAuth, Header, Proxy, HttpClientConfig, SecretSource } from './http-client-config.js';
import { keepSecret } from './kit/secret.js';
import { always, list, rejectBoth, requireOne, mapping, writtenKeys } from './kit/mapping.js';
import { file, headerSecret, headerValue, secret, username } from './kit/sources.js';
import { tlsConfig } from './tls-schema.js';
import * as value from './kit/values.js';

/*
 * How an endpoint is reached, in the keys of Prometheus' HTTP client configuration. No message shows a text that stands
 * here, since even one in the wrong place may be a secret.
 */

const quietSection = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => mapping(shape, value.describeType);

const basicAuth = quietSection({
  username: z.exactOptional(username()).describe('User name.'),
  username_file: z.exactOptional(file()).describe('File with the user name.'),
  password: z.exactOptional(secret()).describe('Password; without one it is empty.'),
  password_file: z.exactOptional(file()).describe('File with the password.'),
})
  .superRefine(requireOne('username'), always)
  .superRefine(rejectBoth('username', 'username_file'), always)
  .superRefine(rejectBoth('password', 'password_file'), always)
  .transform((keys): BasicAuth => {
    const password = keys.password ?? keys.password_file;
    return { username: required(keys.username ?? keys.username_file), ...(password && { password }) };
  });

const token = /^[\w!#$%&'*+.^`|~-]+$/;

const scheme = () =>
  value.secretKind({ type: 'text', expected: 'one word such as Bearer; for Basic there is basic_auth' }, (text) =>
    value.acceptIf(token.test(text) && text.toLowerCase() !== 'basic', text),
  );

const authorization = quietSection({
  type: scheme().prefault('Bearer').describe('Authentication scheme; for Basic there is `basic_auth`.'),
  credentials: z.exactOptional(headerSecret()).describe('What follows the scheme, such as a token.'),
  credentials_file: z.exactOptional(file()).describe('File with the credentials.'),
})
  .superRefine(requireOne('credentials'), always)
  .superRefine(rejectBoth('credentials', 'credentials_file'), always)
  .transform(({ type, ...keys }): Authorization => ({
    type,
    credentials: required(keys.credentials ?? keys.credentials_file),
  }));

/** What the checks before have made sure of. */
function required(source: SecretSource | undefined): SecretSource {
  if (source === undefined) throw new Error('a checked section lacks a key');
  return source;
}

const values = <Entry extends z.ZodType>(entry: Entry) =>
  z.exactOptional(
    list(entry, value.describeType).min(1, { error: 'is empty — expected at least one, or no such key' }),
  );

const header = quietSection({
  values: values(headerValue()).describe('Values anybody may see.'),
  secrets: values(headerSecret()).describe('Values nobody may see.'),
  files: values(file()).describe('Files, each with one value nobody may see.'),
}).superRefine((keys, context) => {
  if (writtenKeys(keys)?.size === 0) context.addIssue('has no value — expected values, secrets or files');
}, always);

const httpHeaders = z
  .record(z.string(), header, {
    error: ({ input }) => `${value.describeType(input)} — expected a mapping with names of headers`,
  })
  .superRefine(refuseHeaderNames, always)
  .transform((named) =>
    Object.entries(named).map(([name, keys]): Header => ({ name, values: Object.values(keys).flat() })),
  );

/** What Prometheus reserves, and what belongs to a single connection. */
const reservedHeaders: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'www-authenticate',
]);

function refuseHeaderNames(named: unknown, context: z.RefinementCtx): void {
  const seen = new Map<string, string>();
  for (const name of writtenKeys(named) ?? []) {
    const first = seen.get(name.toLowerCase());
    const message = first === undefined ? nameProblem(name) : `is the header ${first} again — expected it once`;
    if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
    seen.set(name.toLowerCase(), first ?? name);
  }
}

function nameProblem(name: string): string | undefined {
  if (!token.test(name)) return 'is not the name of a header — expected one such as X-Api-Key';
  if (name.toLowerCase() === 'authorization') return 'is not set here — expected basic_auth or authorization';
  return reservedHeaders.has(name.toLowerCase()) ? 'is not free to be set — expected another header' : undefined;
}

const proxyUrl = () =>
  value.secretKind(
    { type: 'URL', expected: 'an http or https address such as http://proxy.example.org:3128' },
    readProxyUrl,
  );

/** User and password may be in it, as in Prometheus, and are hidden. */
function readProxyUrl(text: string): value.ParseResult<Proxy> {
  if (text === '') return value.reject();
  if (!/^https?:\/\//i.test(text)) return value.reject('is not an http or https address');
  if (/[\s\\\p{Control}]/u.test(text) || !URL.canParse(text)) return value.reject('is not a well-formed address');
  const { origin, pathname, username: user, password, href } = new URL(text);
  if (pathname !== '/' || /[?#]/.test(href)) return value.reject(`${origin} is given with a path, query or fragment`);
  if (user === '' && password === '') return value.accept({ url: origin });
  try {
    const userInfo = keepSecret(`${decodeURIComponent(user)}:${decodeURIComponent(password)}`);
    return value.accept({ url: origin, userInfo });
  } catch {
    return value.reject(`${origin} is given with a user or password that is not well percent-encoded`);
  }
}

export const httpClientShape = {
  basic_auth: z.exactOptional(basicAuth).describe('User and password to send. Not beside `authorization`.'),
  authorization: z.exactOptional(authorization).describe('`Authorization` header to send.'),
  http_headers: z.exactOptional(httpHeaders).describe('Further headers to send, by name.'),
  tls_config: z.exactOptional(tlsConfig).describe('How to speak TLS with an https address, and with an https proxy.'),
  proxy_url: z.exactOptional(proxyUrl()).describe('HTTP proxy to go through; may have user and password in it.'),
};

export const rejectTwoAuthorizations = rejectBoth('basic_auth', 'authorization');

/** The directory is for whoever knows the file to say. */
export function httpClientConfigOf(keys: z.output<z.ZodObject<typeof httpClientShape>>): {
  httpClient?: HttpClientConfig;
} {
  const {
    basic_auth: basic,
    authorization: authorized,
    http_headers: headers,
    tls_config: tls,
    proxy_url: proxy,
  } = keys;
  const reach = {
    ...(basic && { basicAuth: basic }),
    ...(authorized && { authorization: authorized }),
    ...(headers && { headers }),
    ...(tls && { tls }),
    ...(proxy && { proxy }),
  };
  return Object.keys(reach).length === 0 ? {} : { httpClient: { directory: '', ...reach } };
}
