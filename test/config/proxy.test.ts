import { describe, expect, it } from 'vitest';
import { selectProxy } from '../../src/config/http-client-config.js';
import { createSecret, reveal } from '../../src/config/values.js';
import { endpointUrl } from '../support/config.js';

const PROXY = { url: 'http://proxy.example:3128' };

const isProxied = (url: string, no_proxy: string): boolean =>
  selectProxy({ url: endpointUrl(url), proxy_url: PROXY, no_proxy }, {}) !== undefined;

describe('no_proxy', () => {
  it.each([
    [
      'example.org',
      ['http://example.org', 'https://a.b.example.org:8080', 'http://EXAMPLE.org.'],
      ['http://anexample.org'],
    ],
    ['.example.org', ['http://a.example.org'], ['http://example.org']],
    ['*.Example.org', ['http://a.example.org'], ['http://example.org']],
    ['example.org:8080', ['http://example.org:8080', 'http://a.example.org:8080'], ['http://example.org']],
    ['example.org:443', ['https://example.org'], ['http://example.org']],
    ['192.0.2.1', ['http://192.0.2.1:1317'], ['http://192.0.2.2', 'http://1192.0.2.1.example']],
    ['192.0.2.1:1317', ['http://192.0.2.1:1317'], ['http://192.0.2.1']],
    ['10.0.0.0/8', ['http://10.1.2.3'], ['http://11.1.2.3', 'http://10.example']],
    ['2001:db8::/32', ['http://[2001:db8:1::1]'], ['http://[2001:db9::1]', 'http://192.0.2.1']],
    ['2001:db8:0::1', ['http://[2001:db8::1]:1317'], ['http://[2001:db8::2]']],
    ['[2001:db8::1]:1317', ['http://[2001:db8::1]:1317'], ['http://[2001:db8::1]']],
    [' a.example , b.example,', ['http://a.example', 'http://b.example'], ['http://c.example']],
    ['*', ['http://a.example', 'http://192.0.2.1'], []],
    // Loopback addresses need no entry.
    ['a.example', ['http://localhost:1317', 'http://127.0.0.2', 'http://[::1]'], ['http://192.0.2.1']],
  ])('of %s', (noProxy, exempt, proxied) => {
    expect(exempt.filter((url) => isProxied(url, noProxy))).toEqual([]);
    expect(proxied.filter((url) => !isProxied(url, noProxy))).toEqual([]);
  });

  it('is not needed: without it, every host is requested through proxy_url', () => {
    expect(selectProxy({ url: endpointUrl('http://127.0.0.1'), proxy_url: PROXY }, {})).toEqual(PROXY);
  });
});

describe('proxy_from_environment', () => {
  const ofEnvironment = (url: string, env: Readonly<Record<string, string>>) =>
    selectProxy({ url: endpointUrl(url), proxy_from_environment: true }, env);

  it('uses the variable for the scheme of the node, in capitals or in lower case', () => {
    const env = { HTTP_PROXY: 'http://plain.example', https_proxy: 'http://secure.example', HTTPS_PROXY: '' };
    expect(ofEnvironment('http://node.example', env)).toEqual({ url: 'http://plain.example' });
    expect(ofEnvironment('https://node.example', env)).toEqual({ url: 'http://secure.example' });
    expect(ofEnvironment('https://node.example', { HTTP_PROXY: 'http://plain.example' })).toBeUndefined();
  });

  it('accepts a proxy without a scheme, and with credentials', () => {
    const proxy = ofEnvironment('http://node.example', { HTTP_PROXY: 'u:p@proxy.example:3128' });
    expect(proxy).toEqual({ ...PROXY, userInfo: createSecret('u:p') });
    expect(typeof proxy === 'object' && proxy.userInfo && reveal(proxy.userInfo)).toBe('u:p');
  });

  it('ignores invalid entries of NO_PROXY, and the variables of other endpoints', () => {
    const env = { http_proxy: 'http://proxy.example:3128', no_proxy: 'a b,c/d,10.0.0.0/99,internal.example' };
    expect(ofEnvironment('http://node.example', env)).toEqual(PROXY);
    expect(ofEnvironment('http://internal.example', env)).toBeUndefined();
    expect(selectProxy({ url: endpointUrl('http://node.example') }, env)).toBeUndefined();
  });
});
