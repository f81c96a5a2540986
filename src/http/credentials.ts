import type { ResolvedHttpConfig } from '../config/resolved-http-config.js';

export type Headers = Record<string, string | string[]>;

/** The request headers for the node. Names are in lower case, so that a configured header replaces a default one. */
export function headersOf({ basicAuth, authorization, headers }: ResolvedHttpConfig): Headers {
  return {
    ...Object.fromEntries(headers.map(({ name, values }) => [name.toLowerCase(), [...values]])),
    ...(basicAuth && { authorization: basic(`${basicAuth.username}:${basicAuth.password}`) }),
    ...(authorization && { authorization: `${authorization.type} ${authorization.credentials}` }),
  };
}

/** The request headers for the proxy, which the node never receives. */
export function proxyHeaders({ proxy }: Pick<ResolvedHttpConfig, 'proxy'>): Headers {
  return proxy?.userInfo === undefined ? {} : { 'proxy-authorization': basic(proxy.userInfo) };
}

/** `userInfo` is `user:password`. */
export const basic = (userInfo: string): string => `Basic ${Buffer.from(userInfo).toString('base64')}`;

/**
 * The strings to redact, because the node or the proxy may send them back. Includes whole header values, which may come back
 * encoded.
 */
export function secretsOf(config: ResolvedHttpConfig): string[] {
  const { basicAuth, authorization, headers, proxy } = config;
  return [
    ...(basicAuth ? userInfoSecrets(basicAuth.username, basicAuth.password) : []),
    ...(authorization ? [authorization.credentials, `${authorization.type} ${authorization.credentials}`] : []),
    ...headers.flatMap(({ secrets }) => secrets),
    ...(proxy?.userInfo === undefined ? [] : proxySecrets(proxy.userInfo)),
  ];
}

function userInfoSecrets(username: string, password: string): string[] {
  const userInfo = `${username}:${password}`;
  return [password, userInfo, basic(userInfo)];
}

/** The user name is included, because some proxies take a token there. */
function proxySecrets(userInfo: string): string[] {
  const [username = ''] = userInfo.split(':', 1);
  return [username, ...userInfoSecrets(username, userInfo.slice(username.length + 1))];
}
