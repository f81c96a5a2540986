import { BlockList, isIP } from 'node:net';
import type { Environment } from './environment.js';
import type { NodeConnection } from './endpoint-config.js';
import { proxyUrl, type Proxy } from './urls.js';

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

export function isNoProxy(text: string): boolean {
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
