import { isIP } from 'node:net';
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
  type Secret,
  stringSetting,
  whenMapping,
} from './values.js';
import type { TextCheck } from './text-files.js';
import { isNoProxy } from './resolved-http-config.js';
import { proxyUrl } from './urls.js';

/* HTTP client settings of an endpoint, with the keys of Prometheus. A secret is a value or a file. */

const checked = (title: string, check: TextCheck) =>
  stringSetting
    .superRefine((text, context) => {
      const problem = check(text);
      if (problem !== undefined) context.addIssue(problem);
    })
    .meta({ title });

const secret = (check: TextCheck) =>
  z
    .codec(checked('secret', check), z.custom<Secret>(), { decode: createSecret, encode: () => REDACTED })
    .meta({ title: 'secret' });

const basicAuth = z
  .strictObject({
    username: checked('text', checkUsername).describe('User name.'),
    password: secret(checkSecret).optional().describe('Password; empty if not set.'),
    password_file: fileNameSetting.optional().describe('File with the password.'),
  })
  .check(notBoth('password', 'password_file'));

/** A token of RFC 9110. */
const token = /^[\w!#$%&'*+.^`|~-]+$/;

const authorization = z
  .strictObject({
    type: stringSetting
      .refine(
        (text) => token.test(text) && text.toLowerCase() !== 'basic',
        'expected an authentication scheme such as Bearer; for Basic, use basic_auth',
      )
      .meta({ title: 'text' })
      .prefault('Bearer')
      .describe('Authentication scheme; for Basic, use `basic_auth`.'),
    credentials: secret(checkHeaderValue).optional().describe('Credentials after the scheme, such as a token.'),
    credentials_file: fileNameSetting.optional().describe('File with the credentials.'),
  })
  .check(atLeastOne('credentials', 'credentials_file'), notBoth('credentials', 'credentials_file'));

/** The header is sent once for each value. */
const header = z
  .strictObject({
    values: z.array(checked('text', checkHeaderValue)).min(1).optional().describe('Header values.'),
    secrets: z
      .array(secret(checkHeaderValue))
      .min(1)
      .optional()
      .describe('Secret header values, redacted in all output.'),
    files: z.array(fileNameSetting).min(1).optional().describe('Files that each contain one secret header value.'),
  })
  .check(atLeastOne('values', 'secrets', 'files'));

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

const headerName = z
  .string()
  .regex(token, 'expected a header name such as X-Api-Key')
  .refine((name) => name.toLowerCase() !== 'authorization', 'cannot be set here, use basic_auth or authorization')
  .refine((name) => !reservedHeaders.has(name.toLowerCase()), 'is a reserved header');

const httpHeaders = z.record(headerName, header).superRefine((headers, context) => {
  const seen = new Set<string>();
  for (const name of Object.keys(headers)) {
    if (seen.has(name.toLowerCase())) context.addIssue({ code: 'custom', path: [name], message: 'is set twice' });
    seen.add(name.toLowerCase());
  }
}, whenMapping);

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
    insecure_skip_verify: z.boolean().prefault(false).describe('Accept any certificate. Logs a warning at startup.'),
  })
  .refine(({ cert_file, key_file }) => (cert_file === undefined) === (key_file === undefined), {
    error: 'expected both cert_file and key_file',
  });

/** The keys of an endpoint that configure the HTTP client. */
export const httpClient = z.strictObject({
  basic_auth: basicAuth.optional().describe('Basic authentication. Cannot be combined with `authorization`.'),
  authorization: authorization.optional().describe('`Authorization` header.'),
  http_headers: httpHeaders.optional().describe('Additional request headers by name.'),
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
    .describe(
      'Hosts to request without `proxy_url`, separated by commas: names with their subdomains, domains such as `.example.org`, addresses and CIDR blocks.',
    ),
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
