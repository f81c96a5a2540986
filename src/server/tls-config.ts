import { DEFAULT_CIPHERS, type SecureContextOptions } from 'node:tls';
import { z } from 'zod';
import { describeType } from '../config/kit/value-types.js';
import { always, list, mapping, presentKeys } from '../config/kit/yaml-schema.js';
import * as names from './tls-names.js';
import * as value from './web-config-values.js';

/** TLS as a web configuration has it; the files it names are not read yet. */
export interface TlsFile {
  readonly cert: Pem;
  readonly key: Pem;
  readonly clientCa?: Pem;
  readonly clients: ClientRules;
  readonly options: SecureContextOptions;
}

/** PEM text or the file it is in; `key` is the key it was written under. */
export type Pem =
  { readonly key: keyof TlsKeys; readonly file: string } | { readonly key: keyof TlsKeys; readonly inline: string };

/** Which clients are let in by their certificates. */
export interface ClientRules {
  readonly type: names.ClientAuthType;
  readonly allowedSans?: readonly string[];
}

const oneOf = <Name extends string>(table: Readonly<Record<Name, string>>) =>
  value.named(`one of ${keysOf(table).join(', ')}`, keysOf(table));

const cipherSuite = () => {
  const expected = 'the Go name of a cipher suite, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256';
  return value.named(expected, keysOf(names.cipherSuites));
};

const clientAuthType = () => {
  const expected = `one of ${names.clientAuthTypes.join(', ')}`;
  return value.named<names.ClientAuthType>(expected, [...names.clientAuthTypes, 'RequireClientCert']);
};

function keysOf<Name extends string>(table: Readonly<Record<Name, string>>): Name[] {
  return Object.keys(table) as Name[];
}

const tlsKeys = {
  cert: z.optional(value.text('a certificate in PEM form')),
  key: z.optional(value.text('a private key in PEM form')),
  client_ca: z.optional(value.text('a certificate in PEM form')),
  cert_file: z.optional(value.text('the name of a file')),
  key_file: z.optional(value.text('the name of a file')),
  client_ca_file: z.optional(value.text('the name of a file')),
  client_auth_type: z.optional(clientAuthType()),
  client_allowed_sans: z.optional(
    list(value.text('a name of the certificate')).min(1, {
      error: 'is empty — expected at least one name, or no such key',
    }),
  ),
  min_version: oneOf(names.tlsVersions).prefault('TLS12'),
  max_version: oneOf(names.tlsVersions).prefault('TLS13'),
  cipher_suites: list(cipherSuite()).prefault([]),
  prefer_server_cipher_suites: value.boolean().prefault(true),
  curve_preferences: list(oneOf(names.curves)).prefault([]),
};

export type TlsKeys = z.output<z.ZodObject<typeof tlsKeys>>;

export const tlsSection = mapping(tlsKeys, describeType)
  .superRefine(refuseHalfPair, always)
  .superRefine(refuseIdleClientRules, always)
  .superRefine(refuseNoVersion, always);

/** The keys that turn TLS on, as in exporter-toolkit. */
const switches = ['cert', 'key', 'client_ca', 'cert_file', 'key_file', 'client_ca_file', 'client_auth_type'];

function refuseHalfPair(raw: unknown, context: z.RefinementCtx): void {
  const written = presentKeys(raw);
  if (!written || !switches.some((key) => written.has(key))) return;
  for (const key of ['cert', 'key']) {
    if (written.has(key) || written.has(`${key}_file`)) continue;
    const message = `is missing — expected ${key}_file or ${key}`;
    context.addIssue({ code: 'custom', path: [`${key}_file`], message });
  }
}

/** Rules for certificates nobody is asked for would be taken for a protection. */
function refuseIdleClientRules(raw: unknown, context: z.RefinementCtx): void {
  const written = presentKeys(raw);
  const type = z.object({ client_auth_type: z.string().default('NoClientCert') }).safeParse(raw).data?.client_auth_type;
  if (!written || type === undefined) return;
  const refuse = (key: string, expected: string): void => {
    const message = `has no effect with client_auth_type ${type} — expected ${expected}`;
    if (written.has(key)) context.addIssue({ code: 'custom', path: [key], message });
  };
  if (type === 'NoClientCert') {
    refuse('client_ca_file', 'RequireAndVerifyClientCert');
    refuse('client_ca', 'RequireAndVerifyClientCert');
  }
  if (!type.startsWith('Require')) refuse('client_allowed_sans', 'RequireAndVerifyClientCert or RequireAnyClientCert');
}

function refuseNoVersion(raw: unknown, context: z.RefinementCtx): void {
  const version = z.enum(keysOf(names.tlsVersions));
  const { data } = z.object({ min_version: version, max_version: version }).safeParse(raw);
  if (!data || data.max_version >= data.min_version) return;
  const message = `${data.max_version} is below min_version (${data.min_version}) — expected at least that`;
  context.addIssue({ code: 'custom', path: ['max_version'], message });
}

/** `undefined` for plain HTTP. */
export function tlsFile(keys: TlsKeys): TlsFile | undefined {
  const cert = pem('cert_file', keys.cert_file, 'cert', keys.cert);
  const key = pem('key_file', keys.key_file, 'key', keys.key);
  if (cert === undefined || key === undefined) return undefined;
  const clientCa = pem('client_ca_file', keys.client_ca_file, 'client_ca', keys.client_ca);
  const { client_auth_type: type = 'NoClientCert', client_allowed_sans: allowedSans } = keys;
  return {
    cert,
    key,
    ...(clientCa && { clientCa }),
    clients: { type, ...(allowedSans && { allowedSans }) },
    options: contextOptions(keys),
  };
}

function pem(
  fileKey: keyof TlsKeys,
  file: string | undefined,
  inlineKey: keyof TlsKeys,
  inline: string | undefined,
): Pem | undefined {
  if (file !== undefined) return { key: fileKey, file };
  return inline === undefined ? undefined : { key: inlineKey, inline };
}

function contextOptions(keys: TlsKeys): SecureContextOptions {
  const ciphers = cipherList(keys);
  return {
    minVersion: names.tlsVersions[keys.min_version],
    maxVersion: names.tlsVersions[keys.max_version],
    honorCipherOrder: keys.prefer_server_cipher_suites,
    ...(ciphers !== undefined && { ciphers }),
    ...(keys.curve_preferences.length > 0 && {
      ecdhCurve: keys.curve_preferences.map((curveName) => names.curves[curveName]).join(':'),
    }),
  };
}

/** In the words of OpenSSL; absent for what Node.js takes by itself. */
function cipherList({ cipher_suites: suites, min_version: min }: TlsKeys): string | undefined {
  const chosen = suites.map((suite) => names.cipherSuites[suite]);
  const listed = chosen.length > 0 ? [...new Set([...names.tls13Suites, ...chosen])] : [DEFAULT_CIPHERS];
  // At its usual level of security OpenSSL speaks nothing older than TLS 1.2, whatever it is told.
  if (min < 'TLS12') return [...listed, '@SECLEVEL=0'].join(':');
  return chosen.length > 0 ? listed.join(':') : undefined;
}
