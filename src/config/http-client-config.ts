import type { Secret } from './kit/secret.js';

/** How an endpoint is reached, after Prometheus' HTTP client configuration. Plain data, as the whole configuration. */
export interface HttpClientConfig {
  /** Of the configuration file: where the names of files begin that are not absolute. */
  readonly directory: string;
  readonly basicAuth?: BasicAuth;
  readonly authorization?: Authorization;
  readonly headers?: readonly Header[];
  readonly tls?: Tls;
  readonly proxy?: Proxy;
}

/** Where a text is. A file is read again for every poll. */
export type SecretSource = { readonly text: string } | { readonly secret: Secret } | { readonly file: string };

export interface BasicAuth {
  readonly username: SecretSource;
  /** Without one, the password is empty. */
  readonly password?: SecretSource;
}

export interface Authorization {
  readonly type: string;
  readonly credentials: SecretSource;
}

export interface Header {
  readonly name: string;
  /** One line of the request for each; files come last. */
  readonly values: readonly SecretSource[];
}

/** Certificates and key are in PEM form; an own certificate and its key come together. */
export interface Tls extends TlsRules {
  readonly ca?: SecretSource;
  readonly cert?: SecretSource;
  readonly key?: SecretSource;
}

export interface TlsRules {
  /** The name its certificate must have, when that is not the name in its address. */
  readonly serverName?: string;
  readonly insecureSkipVerify: boolean;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
}

export const tlsVersions = ['TLS10', 'TLS11', 'TLS12', 'TLS13'] as const;
export type TlsVersion = (typeof tlsVersions)[number];

export interface Proxy {
  /** Scheme, host and port. */
  readonly url: string;
  /** `user:password` as they were before the URL encoded them. */
  readonly userInfo?: Secret;
}
