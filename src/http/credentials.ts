import type { ResolvedHttpConfig } from '../config/resolved-http-config.js';

export type Headers = Record<string, string | string[]>;

/** What the node is sent besides the question. Names are in lower case, as they replace each other by name. */
export function headersOf({ basicAuth, authorization, headers }: ResolvedHttpConfig): Headers {
  return {
    ...Object.fromEntries(headers.map(({ name, values }) => [name.toLowerCase(), [...values]])),
    ...(basicAuth && { authorization: basic(`${basicAuth.username}:${basicAuth.password}`) }),
    ...(authorization && { authorization: `${authorization.type} ${authorization.credentials}` }),
  };
}

/** For the proxy's eyes only. */
export function proxyHeaders({ proxy }: Pick<ResolvedHttpConfig, 'proxy'>): Headers {
  return proxy?.userInfo === undefined ? {} : { 'proxy-authorization': basic(proxy.userInfo) };
}

/** `userInfo` is `user:password`. */
export const basic = (userInfo: string): string => `Basic ${Buffer.from(userInfo).toString('base64')}`;

/** All that must not be shown, should the node or the proxy send it back; whole headers too, as they may come back encoded. */
export function secretsOf(access: ResolvedHttpConfig): string[] {
  const { basicAuth, authorization, headers, proxy } = access;
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

/** A proxy's user name may be the secret itself. */
function proxySecrets(userInfo: string): string[] {
  const [username = ''] = userInfo.split(':', 1);
  return [username, ...userInfoSecrets(username, userInfo.slice(username.length + 1))];
}
