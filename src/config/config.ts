import type { HttpClientConfig } from './http-client-config.js';

/** The parsed configuration file. Its parts are structured-cloneable, because they are sent to the worker thread in jobs. */
export interface Config {
  readonly poll: PollConfig;
  readonly limits: { readonly maxSeriesPerFamily: number };
  readonly targets: readonly TargetConfig[];
  readonly tokens: readonly TokenConfig[];
  /** By chain id. The ids looked up are untrusted: use `Object.hasOwn`, or `constructor` is found. */
  readonly chains: Readonly<Record<string, ChainConfig>>;
  readonly validators: readonly ValidatorConfig[];
  readonly links: LinksConfig;
}

export interface PollConfig {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly staleAfterMs: number;
  readonly maxBodyBytes: number;
}

/** Constant labels of every series of a target, sorted by name. */
export type TargetLabels = Readonly<Record<string, string>>;

export interface TargetConfig {
  readonly name: string;
  readonly labels?: TargetLabels;
  readonly bridge?: BridgeEndpoint;
  readonly crosschain?: CrosschainEndpoint;
}

/** Settings for decoding a bridge document, polled or recorded. */
export interface BridgeSettings {
  /** Which path is requested; `auto` finds it. */
  readonly dialect: 'auto' | 'neutral' | 'peggy';
  /** Decimal string as in the file. */
  readonly powerThreshold: string;
  /** Whether validators get names from the staking module of the node. */
  readonly validatorNames: 'staking' | 'off';
  /** Orchestrator, operator or external addresses of the validators to mark, in lower case. */
  readonly watch: readonly string[];
}

export interface BridgeEndpoint extends BridgeSettings, EndpointConnection {}

export interface EndpointConnection {
  readonly url: string;
  readonly httpClient?: HttpClientConfig;
}

/** Settings for requesting and decoding a cross-chain document. Integers are strings of decimal digits. */
export interface CrosschainSettings {
  /** Which path is requested; `auto` finds it. */
  readonly dialect: 'auto' | 'neutral' | 'zeta';
  readonly window: string;
  readonly limit?: string;
  readonly rate?: string;
  readonly hubChainIds?: readonly string[];
}

export interface CrosschainEndpoint extends CrosschainSettings, EndpointConnection {}

export interface TokenConfig {
  /** Lower case. */
  readonly contract: string;
  readonly symbol?: string;
  readonly decimals?: number;
  /** URL of a contract in an explorer, with the placeholder `{address}`. */
  readonly explorer?: string;
}

export interface ChainConfig {
  readonly name: string;
  /** URL of a transaction in an explorer, with the placeholder `{hash}`. */
  readonly explorer?: string;
}

/** Links of the pages to other sites. */
export interface LinksConfig {
  /** URL of the runbook. */
  readonly runbook: string;
  /** Base URL of Grafana. */
  readonly dashboards?: string;
}

export interface ValidatorConfig {
  /** Orchestrator, operator or external address, in lower case. */
  readonly address: string;
  readonly name: string;
}

export type ConfigResult =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Name of the target if there is no configuration file. */
export const DEFAULT_TARGET_NAME = 'default';

/** One of `count` processes that share the targets of a configuration; the first one has index 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}
