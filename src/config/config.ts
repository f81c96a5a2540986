import { dirname } from 'node:path';
import { formatProblems, type PositionLabel, formatPath } from './kit/problems.js';
import { configSchema } from './schema.js';
import { listSettings } from './kit/settings.js';
import { configWarnings } from './warnings.js';
import type { HttpClientConfig } from './http-client-config.js';
import { parseYaml } from './kit/yaml-file.js';

export { defaultBridgeSettings, defaultConfig, defaultCrosschainSettings } from './schema.js';
export { formatConfig } from './config-text.js';

/** Plain data: it is sent to the collecting thread as it is. */
export interface Config {
  readonly poll: PollConfig;
  readonly limits: { readonly maxSeriesPerFamily: number };
  readonly targets: readonly TargetConfig[];
  readonly tokens: readonly TokenConfig[];
  /** Name by chain id. Ids come from the chain: look up with Object.hasOwn, or `constructor` is a chain. */
  readonly chains: Readonly<Record<string, string>>;
}

export interface PollConfig {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly staleAfterMs: number;
  readonly maxBodyBytes: number;
}

export interface TargetConfig {
  readonly name: string;
  readonly bridge?: BridgeEndpoint;
  readonly crosschain?: CrosschainEndpoint;
}

/** What is read out of a bridge document, wherever it came from. */
export interface BridgeSettings {
  readonly dialect: 'neutral' | 'peggy';
  /** Decimal text as written. */
  readonly powerThreshold: string;
  /** In lower case; empty means all. */
  readonly watch: readonly string[];
}

export interface BridgeEndpoint extends BridgeSettings, EndpointConnection {}

/** Where an endpoint is, and how it is reached. */
export interface EndpointConnection {
  readonly url: string;
  readonly httpClient?: HttpClientConfig;
}

/** What is asked of and read out of a cross-chain document. Numbers are their decimal digits. */
export interface CrosschainSettings {
  readonly dialect: 'neutral' | 'zeta';
  readonly window?: string;
  readonly limit?: string;
  readonly rate?: string;
  readonly hubChainIds?: readonly string[];
}

export interface CrosschainEndpoint extends CrosschainSettings, EndpointConnection {}

export interface TokenConfig {
  /** In lower case. */
  readonly contract: string;
  readonly symbol?: string;
  readonly decimals?: number;
}

export type ConfigResult =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Every key of the file, as the reference lists them. */
export const settings = listSettings(configSchema);

/** `source` is what the messages call the text: the name of its file. */
export function parseConfig(text: string, source: string): ConfigResult {
  const yaml = parseYaml(text, source);
  return yaml.ok ? validateConfig(yaml.data, yaml.label, dirname(source)) : yaml;
}

/** Says where in a text that was parsed a path is, for problems that show only later. */
export function labelsFor(text: string, source: string): PositionLabel {
  const yaml = parseYaml(text, source);
  return yaml.ok ? yaml.label : (path) => `${source}: ${formatPath(path)}`;
}

/** Data in the words of the file, from a file or from the environment. */
export function validateConfig(data: unknown, label: PositionLabel, directory = ''): ConfigResult {
  const { data: config, error } = configSchema.safeParse(data);
  if (error) return { ok: false, problems: formatProblems(error, settings, label) };
  const targets = config.targets.map((target) => located(target, directory));
  const warnings = configWarnings(config).map(({ path, message }) => `${label(path)}: ${message}`);
  return { ok: true, config: { ...config, targets }, warnings };
}

/** Files are named relative to the configuration file, as in Prometheus. */
function located({ bridge, crosschain, ...target }: TargetConfig, directory: string): TargetConfig {
  const there = <Endpoint extends EndpointConnection>(endpoint: Endpoint): Endpoint =>
    endpoint.httpClient === undefined ? endpoint : { ...endpoint, httpClient: { ...endpoint.httpClient, directory } };
  return {
    ...target,
    ...(bridge && { bridge: there(bridge) }),
    ...(crosschain && { crosschain: there(crosschain) }),
  };
}
