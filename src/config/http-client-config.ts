import { isIP } from 'node:net';
import { z } from 'zod';
import { checkCertificates, checkPrivateKey, checkTlsVersions, tlsVersionNames } from '../settings/tls.js';
import {
  type Check,
  expectation,
  key,
  list,
  optionalKey,
  presentKeys,
  rejectBoth,
  requireOneOf,
  scalar,
  type Settings,
  settings,
  withChecks,
} from '../settings/schema.js';
import {
  checkHeaderValue,
  checkSecret,
  checkUsername,
  createSecret,
  HEADER_VALUE,
  MAX_SECRET_LENGTH,
  REDACTED,
  type Secret,
} from '../settings/secret.js';
import * as types from '../settings/value-types.js';

/*
 * HTTP client settings of an endpoint, with the keys of Prometheus' HTTP client configuration. No message quotes a value
 * of this file, because a secret may have been written under the wrong key.
 */

/** A value that no message quotes. */
const privateValue = <T>(
  name: string,
  expected: string,
  parse: (text: string) => types.ParseResult<T>,
  format?: (value: T) => unknown,
) => scalar({ ...types.secretValueType(name, expected, parse), ...(format && { format }) });

const file = privateValue('file', 'a file name', (text) => types.acceptIf(/^\P{Control}{1,4096}$/u.test(text), text));

/** A checked string that is redacted in output. */
const secret = (expected: string, check: (text: string) => string | undefined) =>
  privateValue<Secret>(
    'secret',
    expected,
    (text) => (text === '' || check(text) !== undefined ? types.reject() : types.accept(createSecret(text))),
    () => REDACTED,
  );

/** A checked string that is not redacted in output. */
const plainText = (expected: string, check: (text: string) => string | undefined) =>
  privateValue('text', expected, (text) => types.acceptIf(check(text) === undefined, text));

const headerSecret = secret(HEADER_VALUE, checkHeaderValue);

const certificates = privateValue('PEM', 'PEM certificates', (text) => {
  const problem = text === '' ? 'is empty' : checkCertificates(text);
  return problem === undefined ? types.accept(text) : types.reject(problem);
});

const requireKeyOrFile = (name: string, fileKey: string): Check =>
  requireOneOf([name, fileKey], `is missing — expected ${name} or ${fileKey}`, [name]);

const basicAuth = settings(
  {
    username: optionalKey('username', plainText('a user name without colons and control characters', checkUsername), {
      description: 'User name.',
    }),
    usernameFile: optionalKey('username_file', file, { description: 'File with the user name.' }),
    password: optionalKey('password', secret(`at most ${MAX_SECRET_LENGTH} characters`, checkSecret), {
      description: 'Password; empty if not set.',
    }),
    passwordFile: optionalKey('password_file', file, { description: 'File with the password.' }),
  },
  {
    checks: [
      requireKeyOrFile('username', 'username_file'),
      rejectBoth('username', 'username_file'),
      rejectBoth('password', 'password_file'),
    ],
  },
);

/** A token of RFC 9110. */
const token = /^[\w!#$%&'*+.^`|~-]+$/;

const authenticationScheme = privateValue(
  'text',
  'an authentication scheme such as Bearer; for Basic, use basic_auth',
  (text) => types.acceptIf(token.test(text) && text.toLowerCase() !== 'basic', text),
);

const authorization = settings(
  {
    type: key('type', authenticationScheme, {
      default: 'Bearer',
      description: 'Authentication scheme; for Basic, use `basic_auth`.',
    }),
    credentials: optionalKey('credentials', headerSecret, {
      description: 'Credentials after the scheme, such as a token.',
    }),
    credentialsFile: optionalKey('credentials_file', file, { description: 'File with the credentials.' }),
  },
  {
    checks: [requireKeyOrFile('credentials', 'credentials_file'), rejectBoth('credentials', 'credentials_file')],
  },
);

const headerValues = <T>(value: z.ZodType<T>) =>
  list(value).min(1, { error: 'is empty — expected at least one value, or no such key' });

/** The header is sent once for each value. */
const header = settings(
  {
    values: optionalKey('values', headerValues(plainText(HEADER_VALUE, checkHeaderValue)), {
      description: 'Header values.',
    }),
    secrets: optionalKey('secrets', headerValues(headerSecret), {
      description: 'Secret header values, redacted in all output.',
    }),
    files: optionalKey('files', headerValues(file), {
      description: 'Files that each contain one secret header value.',
    }),
  },
  {
    expected: 'a mapping such as {secrets: […]}, with values, secrets or files',
    checks: [requireOneOf(['values', 'secrets', 'files'], 'has no value — expected values, secrets or files')],
  },
);

const httpHeaders = withChecks(
  z.record(z.string(), header, { error: expectation('a mapping with header names as keys') }),
  checkHeaderNames,
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

const serverName = types.valueType('name', 'a host name or an IP address', (text) =>
  types.acceptIf(/^[\w-]+(?:\.[\w-]+)*$/.test(text) || isIP(text) > 0, text),
);

/** Certificates and keys are PEM. The client certificate and its key are both set, or none. */
const tlsConfig = settings(
  {
    ca: optionalKey('ca', certificates, { description: 'CA certificates to trust instead of those of Node.js.' }),
    caFile: optionalKey('ca_file', file, { description: 'File with the CA certificates.' }),
    cert: optionalKey('cert', certificates, { description: 'Client certificate; requires a key.' }),
    certFile: optionalKey('cert_file', file, { description: 'File with the client certificate.' }),
    key: optionalKey('key', secret('an unencrypted PEM private key', checkPrivateKey), {
      description: 'Private key of the client certificate.',
    }),
    keyFile: optionalKey('key_file', file, { description: 'File with the private key.' }),
    serverName: optionalKey('server_name', serverName, {
      description: 'Expected name in the certificate of the node, if not the host of `url`.',
    }),
    insecureSkipVerify: key('insecure_skip_verify', types.boolean, {
      default: false,
      description: 'Accept any certificate. Logs a warning at startup.',
    }),
    minVersion: key('min_version', types.oneOf(...tlsVersionNames), {
      default: 'TLS12',
      description: 'Minimum TLS version.',
    }),
    maxVersion: key('max_version', types.oneOf(...tlsVersionNames), {
      default: 'TLS13',
      description: 'Maximum TLS version.',
    }),
  },
  {
    checks: [
      rejectBoth('ca', 'ca_file'),
      rejectBoth('cert', 'cert_file'),
      rejectBoth('key', 'key_file'),
      requireKeyPair,
      checkTlsVersions,
    ],
  },
);

function requireKeyPair(input: unknown, context: z.RefinementCtx): void {
  const present = presentKeys(input);
  const hasCertificate = present?.has('cert') || present?.has('cert_file');
  const hasKey = present?.has('key') || present?.has('key_file');
  if (hasCertificate === hasKey) return;
  const [missing, other] = hasCertificate ? ['key', 'certificate'] : ['cert', 'private key'];
  const message = `is missing — expected ${missing} or ${missing}_file for the ${other}`;
  context.addIssue({ code: 'custom', path: [missing], message });
}

interface Proxy {
  /** Scheme, host and port. */
  readonly url: string;
  /** `user:password`, percent-decoded. */
  readonly userInfo?: Secret;
}

const proxyUrl = privateValue<Proxy>(
  'URL',
  'an http or https URL such as http://proxy.example.org:3128',
  parseProxyUrl,
  ({ url, userInfo }) => (userInfo === undefined ? url : url.replace('//', `//${REDACTED}@`)),
);

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
export const httpClientKeys = {
  basicAuth: optionalKey('basic_auth', basicAuth, {
    description: 'Basic authentication. Cannot be combined with `authorization`.',
  }),
  authorization: optionalKey('authorization', authorization, { description: '`Authorization` header.' }),
  headers: optionalKey('http_headers', httpHeaders, { description: 'Additional request headers by name.' }),
  tls: optionalKey('tls_config', tlsConfig, { description: 'TLS settings for an https node or an https proxy.' }),
  proxy: optionalKey('proxy_url', proxyUrl, {
    description: 'HTTP proxy. The URL may contain a user and a password.',
  }),
};

/** Structured-cloneable, like the whole configuration. */
export interface HttpClientConfig extends Settings<typeof httpClientKeys> {
  /** Directory of the configuration file: relative file names are resolved against it. Files are read again for every poll. */
  readonly directory: string;
}
