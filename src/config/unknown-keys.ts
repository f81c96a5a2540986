/* Suggestions for keys of other tools. */

const INTERVAL = 'poll.interval, which applies to all targets';
const TIMEOUT = 'poll.timeout, which applies to all targets';
const pollKeys = { interval: INTERVAL, scrape_interval: INTERVAL, timeout: TIMEOUT, scrape_timeout: TIMEOUT };

/** What to write instead of a key of an endpoint. */
const endpointKeys: Readonly<Record<string, string>> = {
  address: 'url',
  addr: 'url',
  base_url: 'url',
  endpoint: 'url',
  host: 'url',
  uri: 'url',
  server: 'url',
  headers: 'http_headers',
  header: 'http_headers',
  tls: 'tls_config',
  ssl: 'tls_config',
  tls_client_config: 'tls_config',
  bearer_token: 'authorization: {credentials: …}',
  bearer: 'authorization: {credentials: …}',
  token: 'authorization: {credentials: …}',
  bearer_token_file: 'authorization: {credentials_file: …}',
  token_file: 'authorization: {credentials_file: …}',
  auth: 'basic_auth or authorization',
  api_key: 'http_headers: {X-Api-Key: {secrets: […]}}',
  proxy: 'proxy_url',
  http_proxy: 'proxy_url',
  skip_verify: 'tls_config: {insecure_skip_verify: true}',
  insecure: 'tls_config: {insecure_skip_verify: true}',
  ...pollKeys,
};

const basicAuthKeys = { user: 'username', login: 'username', pass: 'password', passwd: 'password' };

/** What to write instead of a key, by the path of the setting that the key is in. */
const suggestions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': {
    global: 'poll',
    scrape_interval: 'poll: {interval: …}',
    scrape_timeout: 'poll: {timeout: …}',
    scrape_configs: 'targets',
    static_configs: 'targets',
    file_sd_configs: 'target_files',
    include: 'target_files',
    nodes: 'targets',
    endpoints: 'targets',
  },
  poll: { scrape_interval: 'interval', scrape_timeout: 'timeout', period: 'interval', every: 'interval' },
  'targets[]': {
    id: 'name',
    job_name: 'name',
    target: 'name',
    external_labels: 'labels',
    targets: 'bridge: {url: …} or crosschain: {url: …}',
    static_configs: 'bridge: {url: …} or crosschain: {url: …}',
    address: 'bridge: {url: …} or crosschain: {url: …}',
    ...pollKeys,
  },
  'targets[].bridge': endpointKeys,
  'targets[].bridge.basic_auth': basicAuthKeys,
  'targets[].bridge.external': { ...endpointKeys, rpc: 'url', rpc_url: 'url', scrape_interval: 'interval' },
  'targets[].bridge.external.basic_auth': basicAuthKeys,
  'targets[].crosschain': endpointKeys,
  'targets[].crosschain.basic_auth': basicAuthKeys,
  'tokens[]': { address: 'contract', token: 'contract', name: 'symbol', precision: 'decimals' },
  'validators[]': { moniker: 'name', operator: 'address', orchestrator: 'address' },
};

/** Keys of Prometheus' HTTP client configuration without a counterpart. */
const unsupported: ReadonlySet<string> = new Set([
  'oauth2',
  'sigv4',
  'azuread',
  'google_iam',
  'follow_redirects',
  'enable_http2',
  'no_proxy',
  'proxy_from_environment',
  'proxy_connect_header',
]);

/** Advice for an unknown key; `undefined` for a key of no known tool. `parent` is the path of the setting that the key is in. */
export function adviseOnKey(key: string, parent: string): string | undefined {
  if (key === '<<') return 'merge keys are not supported';
  if (key.startsWith('-')) return 'a list entry needs a space after the dash';
  const inParent = suggestions[parent];
  const suggestion = inParent !== undefined && Object.hasOwn(inParent, key) ? inParent[key] : undefined;
  if (suggestion !== undefined) return `did you mean ${suggestion}?`;
  if (parent.startsWith('targets[].') && unsupported.has(key)) return 'this key of Prometheus is not supported';
  return undefined;
}
