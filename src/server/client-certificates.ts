import { isIPv6, SocketAddress } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ClientRules } from './tls-config.js';

/** Whether the client at the other end of a handshake is let in, by the rules of Go's crypto/tls. */
export function isClientLetIn({ type, allowedSans }: ClientRules, socket: TLSSocket): boolean {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return !type.startsWith('Require');
  if (type.includes('Verify') && !socket.authorized) return false;
  return (
    allowedSans === undefined ||
    alternativeNames(certificate.subjectAltName ?? '').some((name) => allowedSans.includes(name))
  );
}

/** The names in the words of Go, of a text such as `DNS:a.example, IP Address:10.0.0.1`. */
export function alternativeNames(text: string): string[] {
  // Node.js puts a name that holds a comma or another odd character in JSON's quotes, lest it pass for several.
  const pattern = /(?:^|, )(?:DNS|IP Address|URI|email):(?:(?<quoted>"(?:[^"\\]|\\.)*")|(?<plain>[^,"]*))(?=, |$)/g;
  return [...text.matchAll(pattern)].map(({ groups }) => {
    const { quoted, plain = '' } = groups ?? {};
    const name = quoted === undefined ? plain : String(JSON.parse(quoted));
    return isIPv6(name) ? new SocketAddress({ address: name, family: 'ipv6' }).address : name;
  });
}
