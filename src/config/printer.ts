import { stringify } from 'yaml';
import type { BridgeEndpoint, ChainConfig, Config, CrosschainEndpoint, TargetConfig } from './config.js';
import type { Header, HttpClientConfig, Proxy, SecretSource, Tls } from './http-client-config.js';
import { REDACTED } from './kit/secret.js';
import { formatDuration, formatSize } from './kit/units.js';

/** The configuration as a configuration file, with all defaults. Secrets are redacted. */
export function formatConfig({ poll, limits, targets, tokens, chains, validators, links }: Config): string {
  const file = {
    poll: {
      interval: formatDuration(poll.intervalMs),
      timeout: formatDuration(poll.timeoutMs),
      stale_after: formatDuration(poll.staleAfterMs),
      max_body_size: formatSize(poll.maxBodyBytes),
    },
    limits: { max_series_per_family: limits.maxSeriesPerFamily },
    targets: targets.map(targetKeys),
    tokens,
    chains: Object.fromEntries(Object.entries(chains).map(([id, chain]) => [id, chainKeys(chain)])),
    validators,
    links: { runbook: links.runbook, dashboards: links.dashboards },
  };
  return stringify(file, { lineWidth: 0 });
}

/** A chain without an explorer is printed as its name alone. */
function chainKeys({ name, explorer }: ChainConfig) {
  return explorer === undefined ? name : { name, explorer };
}

function targetKeys({ name, labels, bridge, crosschain }: TargetConfig) {
  return {
    name,
    ...(labels && { labels }),
    ...(bridge && { bridge: bridgeKeys(bridge) }),
    ...(crosschain && { crosschain: crosschainKeys(crosschain) }),
  };
}

// Every key is listed, so that a new setting with a secret is not printed by accident.
function bridgeKeys({ url, dialect, validatorNames, powerThreshold, watch, httpClient }: BridgeEndpoint) {
  const settings = { url, dialect, validator_names: validatorNames, power_threshold: powerThreshold, watch };
  return { ...settings, ...(httpClient && httpClientKeys(httpClient)) };
}

function crosschainKeys({ url, dialect, window, limit, rate, hubChainIds, httpClient }: CrosschainEndpoint) {
  const settings = { url, dialect, window, limit, rate, hub_chain_ids: hubChainIds };
  return { ...settings, ...(httpClient && httpClientKeys(httpClient)) };
}

function httpClientKeys({ basicAuth, authorization, headers, tls, proxy }: HttpClientConfig) {
  return {
    basic_auth: basicAuth && {
      ...sourceKeys('username', basicAuth.username),
      ...sourceKeys('password', basicAuth.password),
    },
    authorization: authorization && {
      type: authorization.type,
      ...sourceKeys('credentials', authorization.credentials),
    },
    http_headers: headers && Object.fromEntries(headers.map(({ name, values }) => [name, headerKeys(values)])),
    tls_config: tls && tlsKeys(tls),
    proxy_url: proxy && redactProxy(proxy),
  };
}

function sourceKeys(key: string, source: SecretSource | undefined) {
  if (source === undefined) return {};
  return 'file' in source ? { [`${key}_file`]: source.file } : { [key]: redactSource(source) };
}

function headerKeys(sources: Header['values']) {
  const select = (key: string) => sources.flatMap((source) => (key in source ? [redactSource(source)] : []));
  const lists = { values: select('text'), secrets: select('secret'), files: select('file') };
  return Object.fromEntries(Object.entries(lists).filter(([, entries]) => entries.length > 0));
}

function redactSource(source: SecretSource): string {
  if ('file' in source) return source.file;
  return 'text' in source ? source.text : REDACTED;
}

function tlsKeys({ ca, cert, key, serverName, insecureSkipVerify, minVersion, maxVersion }: Tls) {
  return {
    ...sourceKeys('ca', ca),
    ...sourceKeys('cert', cert),
    ...sourceKeys('key', key),
    server_name: serverName,
    insecure_skip_verify: insecureSkipVerify,
    min_version: minVersion,
    max_version: maxVersion,
  };
}

function redactProxy({ url, userInfo }: Proxy): string {
  return userInfo === undefined ? url : url.replace('//', `//${REDACTED}@`);
}
