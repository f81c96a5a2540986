import { isIP } from 'node:net';
import { z } from 'zod';
import { checkCertificates, checkPrivateKey } from './kit/pem.js';
import {
  checkHeaderValue,
  checkSecret,
  checkUsername,
  createSecret,
  HEADER_VALUE,
  MAX_SECRET_LENGTH,
  type Secret,
} from './kit/secret.js';
import * as types from './kit/value-types.js';
import { evenAfterOtherProblems, list, mapping, presentKeys, scalar } from './kit/yaml-schema.js';

/*
 * HTTP client settings of an endpoint, with the keys of Prometheus' HTTP client configuration. No message quotes a value
 * of this file, because a secret may have been written under the wrong key.
 */

/** Structured-cloneable, like the whole configuration. */
export interface HttpClientConfig {
  /** Directory of the configuration file: relative file names are resolved against it. */
  readonly directory: string;
  readonly basicAuth?: BasicAuth;
  readonly authorization?: Authorization;
  readonly headers?: readonly Header[];
  readonly tls?: Tls;
  readonly proxy?: Proxy;
}

/** A string, or the file that contains it. Files are read again for every poll. */
export type SecretSource = { readonly text: string } | { readonly secret: Secret } | { readonly file: string };

export interface BasicAuth {
  readonly username: SecretSource;
  /** If absent, the password is empty. */
  readonly password?: SecretSource;
}

export interface Authorization {
  readonly type: string;
  readonly credentials: SecretSource;
}

export interface Header {
  readonly name: string;
  /** The header is sent once for each value. Files come last. */
  readonly values: readonly SecretSource[];
}

/** Certificates and keys are PEM. `cert` and `key` are the client certificate; both are set, or none. */
export interface Tls extends TlsRules {
  readonly ca?: SecretSource;
  readonly cert?: SecretSource;
  readonly key?: SecretSource;
}

export interface TlsRules {
  /** Expected name in the server's certificate, if not the host of the URL. */
  readonly serverName?: string;
  readonly insecureSkipVerify: boolean;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
}

const tlsVersions = ['TLS10', 'TLS11', 'TLS12', 'TLS13'] as const;
export type TlsVersion = (typeof tlsVersions)[number];

export interface Proxy {
  /** Scheme, host and port. */
  readonly url: string;
  /** `user:password`, percent-decoded. */
  readonly userInfo?: Secret;
}

const secretScalar = <T>(name: string, expected: string, parse: (text: string) => types.ParseResult<T>) =>
  scalar(types.secretValueType(name, expected, parse));

const file = secretScalar('file', 'a file name', (text) =>
  types.acceptIf<SecretSource>(/^\P{Control}{1,4096}$/u.test(text), { file: text }),
);

/** A checked string that is redacted in output. */
const secret = (expected: string, check: (text: string) => string | undefined) =>
  secretScalar('secret', expected, (text) => {
    if (text === '' || check(text) !== undefined) return types.reject();
    return types.accept<SecretSource>({ secret: createSecret(text) });
  });

/** A checked string that is not redacted in output. */
const plainText = (expected: string, check: (text: string) => string | undefined) =>
  secretScalar('text', expected, (text) => types.acceptIf<SecretSource>(check(text) === undefined, { text }));

const headerSecret = secret(HEADER_VALUE, checkHeaderValue);

const certificates = secretScalar('PEM', 'PEM certificates', (text) => {
  const problem = text === '' ? 'is empty' : checkCertificates(text);
  return problem === undefined ? types.accept<SecretSource>({ text }) : types.reject(problem);
});

/** A mapping whose value is not quoted if it is something else. */
const privateMapping = <Shape extends z.core.$ZodLooseShape>(shape: Shape, expected?: string) =>
  mapping(shape, types.describeType, expected === undefined ? undefined : () => expected);

const rejectBoth = (first: string, second: string) => (input: unknown, context: z.RefinementCtx) => {
  const present = presentKeys(input);
  if (!present?.has(first) || !present.has(second)) return;
  const message = `cannot be combined with ${first} — expected only one of them`;
  context.addIssue({ code: 'custom', path: [second], message });
};

const requireKeyOrFile = (key: string) => (input: unknown, context: z.RefinementCtx) => {
  const present = presentKeys(input);
  if (!present || present.has(key) || present.has(`${key}_file`)) return;
  context.addIssue({ code: 'custom', path: [key], message: `is missing — expected ${key} or ${key}_file` });
};

/** For keys that `requireKeyOrFile` has checked. */
function required(source: SecretSource | undefined): SecretSource {
  if (source === undefined) throw new Error('neither the key nor its file is set');
  return source;
}

const basicAuth = privateMapping({
  username: z
    .exactOptional(plainText('a user name without colons and control characters', checkUsername))
    .describe('User name.'),
  username_file: z.exactOptional(file).describe('File with the user name.'),
  password: z
    .exactOptional(secret(`at most ${MAX_SECRET_LENGTH} characters`, checkSecret))
    .describe('Password; empty if not set.'),
  password_file: z.exactOptional(file).describe('File with the password.'),
})
  .superRefine(requireKeyOrFile('username'), evenAfterOtherProblems)
  .superRefine(rejectBoth('username', 'username_file'), evenAfterOtherProblems)
  .superRefine(rejectBoth('password', 'password_file'), evenAfterOtherProblems)
  .transform((keys): BasicAuth => {
    const password = keys.password ?? keys.password_file;
    return { username: required(keys.username ?? keys.username_file), ...(password && { password }) };
  });

/** A token of RFC 9110. */
const token = /^[\w!#$%&'*+.^`|~-]+$/;

const authenticationScheme = secretScalar(
  'text',
  'an authentication scheme such as Bearer; for Basic, use basic_auth',
  (text) => types.acceptIf(token.test(text) && text.toLowerCase() !== 'basic', text),
);

const authorization = privateMapping({
  type: authenticationScheme.prefault('Bearer').describe('Authentication scheme; for Basic, use `basic_auth`.'),
  credentials: z.exactOptional(headerSecret).describe('Credentials after the scheme, such as a token.'),
  credentials_file: z.exactOptional(file).describe('File with the credentials.'),
})
  .superRefine(requireKeyOrFile('credentials'), evenAfterOtherProblems)
  .superRefine(rejectBoth('credentials', 'credentials_file'), evenAfterOtherProblems)
  .transform(({ type, ...keys }): Authorization => ({
    type,
    credentials: required(keys.credentials ?? keys.credentials_file),
  }));

const headerValues = <Entry extends z.ZodType>(entry: Entry) =>
  z.exactOptional(
    list(entry, types.describeType).min(1, { error: 'is empty — expected at least one value, or no such key' }),
  );

const header = privateMapping(
  {
    values: headerValues(plainText(HEADER_VALUE, checkHeaderValue)).describe('Header values.'),
    secrets: headerValues(headerSecret).describe('Secret header values, redacted in all output.'),
    files: headerValues(file).describe('Files that each contain one secret header value.'),
  },
  'a mapping such as {secrets: […]}, with values, secrets or files',
).superRefine((input, context) => {
  if (presentKeys(input)?.size === 0) context.addIssue('has no value — expected values, secrets or files');
}, evenAfterOtherProblems);

const httpHeaders = z
  .record(z.string(), header, {
    error: ({ input }) => `${types.describeType(input)} — expected a mapping with header names as keys`,
  })
  .superRefine(checkHeaderNames, evenAfterOtherProblems)
  .transform((headers) =>
    Object.entries(headers).map(([name, keys]): Header => ({ name, values: Object.values(keys).flat() })),
  );

/** Headers that Prometheus reserves, and headers of a single connection. */
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

function checkHeaderNames(headers: unknown, context: z.RefinementCtx): void {
  const seen = new Map<string, string>();
  for (const name of presentKeys(headers) ?? []) {
    const first = seen.get(name.toLowerCase());
    const message = first === undefined ? checkHeaderName(name) : `duplicates the header ${first} — expected it once`;
    if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
    seen.set(name.toLowerCase(), first ?? name);
  }
}

function checkHeaderName(name: string): string | undefined {
  if (!token.test(name)) return 'is not a header name — expected one such as X-Api-Key';
  if (name.toLowerCase() === 'authorization') return 'cannot be set here — expected basic_auth or authorization';
  return reservedHeaders.has(name.toLowerCase()) ? 'is a reserved header — expected another one' : undefined;
}

const serverName = scalar(
  types.valueType('name', 'a host name or an IP address', (text) =>
    types.acceptIf(/^[\w-]+(?:\.[\w-]+)*$/.test(text) || isIP(text) > 0, text),
  ),
);

const tlsConfig = privateMapping({
  ca: z.exactOptional(certificates).describe('CA certificates to trust instead of those of Node.js.'),
  ca_file: z.exactOptional(file).describe('File with the CA certificates.'),
  cert: z.exactOptional(certificates).describe('Client certificate; requires a key.'),
  cert_file: z.exactOptional(file).describe('File with the client certificate.'),
  key: z
    .exactOptional(secret('an unencrypted PEM private key', checkPrivateKey))
    .describe('Private key of the client certificate.'),
  key_file: z.exactOptional(file).describe('File with the private key.'),
  server_name: z
    .exactOptional(serverName)
    .describe('Expected name in the certificate of the node, if not the host of `url`.'),
  insecure_skip_verify: scalar(types.boolean)
    .prefault(false)
    .describe('Accept any certificate. Logs a warning at startup.'),
  min_version: scalar(types.oneOf(...tlsVersions))
    .prefault('TLS12')
    .describe('Minimum TLS version.'),
  max_version: scalar(types.oneOf(...tlsVersions))
    .prefault('TLS13')
    .describe('Maximum TLS version.'),
})
  .superRefine(rejectBoth('ca', 'ca_file'), evenAfterOtherProblems)
  .superRefine(rejectBoth('cert', 'cert_file'), evenAfterOtherProblems)
  .superRefine(rejectBoth('key', 'key_file'), evenAfterOtherProblems)
  .superRefine(requireKeyPair, evenAfterOtherProblems)
  .superRefine(checkTlsVersions, evenAfterOtherProblems)
  .transform((keys): Tls => {
    const ca = keys.ca ?? keys.ca_file;
    const cert = keys.cert ?? keys.cert_file;
    const key = keys.key ?? keys.key_file;
    return {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(keys.server_name !== undefined && { serverName: keys.server_name }),
      insecureSkipVerify: keys.insecure_skip_verify,
      minVersion: keys.min_version,
      maxVersion: keys.max_version,
    };
  });

function requireKeyPair(input: unknown, context: z.RefinementCtx): void {
  const present = presentKeys(input);
  const hasCertificate = present?.has('cert') || present?.has('cert_file');
  const hasKey = present?.has('key') || present?.has('key_file');
  if (hasCertificate === hasKey) return;
  const [missing, other] = hasCertificate ? ['key', 'certificate'] : ['cert', 'private key'];
  const message = `is missing — expected ${missing} or ${missing}_file for the ${other}`;
  context.addIssue({ code: 'custom', path: [missing], message });
}

function checkTlsVersions(input: unknown, context: z.RefinementCtx): void {
  const version = z.enum(tlsVersions);
  const { data } = z.object({ min_version: version, max_version: version }).safeParse(input);
  if (!data || data.max_version >= data.min_version) return;
  const message = `${data.max_version} is below min_version — expected at least ${data.min_version}`;
  context.addIssue({ code: 'custom', path: ['max_version'], message });
}

const proxyUrl = secretScalar('URL', 'an http or https URL such as http://proxy.example.org:3128', parseProxyUrl);

/** As in Prometheus, the URL may contain a user and a password. No message quotes them. */
function parseProxyUrl(text: string): types.ParseResult<Proxy> {
  const result = types.parseHttpUrl(text);
  if (!result.ok) return result;
  const { origin, pathname, username, password, href } = result.value;
  if (pathname !== '/' || /[?#]/.test(href)) return types.reject(`${origin} has a path, query or fragment`);
  if (username === '' && password === '') return types.accept({ url: origin });
  try {
    const userInfo = createSecret(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    return types.accept({ url: origin, userInfo });
  } catch {
    return types.reject(`${origin} has a user or password with invalid percent-encoding`);
  }
}

/** The keys of an endpoint that configure the HTTP client. */
export const httpClientShape = {
  basic_auth: z.exactOptional(basicAuth).describe('Basic authentication. Cannot be combined with `authorization`.'),
  authorization: z.exactOptional(authorization).describe('`Authorization` header.'),
  http_headers: z.exactOptional(httpHeaders).describe('Additional request headers by name.'),
  tls_config: z.exactOptional(tlsConfig).describe('TLS settings for an https node or an https proxy.'),
  proxy_url: z.exactOptional(proxyUrl).describe('HTTP proxy. The URL may contain a user and a password.'),
};

export const rejectTwoAuthorizations = rejectBoth('basic_auth', 'authorization');

/** `directory` is left empty, to be set by the caller. */
export function toHttpClientConfig(keys: z.output<z.ZodObject<typeof httpClientShape>>): {
  httpClient?: HttpClientConfig;
} {
  const settings = {
    ...(keys.basic_auth && { basicAuth: keys.basic_auth }),
    ...(keys.authorization && { authorization: keys.authorization }),
    ...(keys.http_headers && { headers: keys.http_headers }),
    ...(keys.tls_config && { tls: keys.tls_config }),
    ...(keys.proxy_url && { proxy: keys.proxy_url }),
  };
  return Object.keys(settings).length === 0 ? {} : { httpClient: { directory: '', ...settings } };
}
