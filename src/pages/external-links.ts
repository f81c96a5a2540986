import type { ChainConfig, Config } from '../config/config.js';

/*
 * Links from the pages to other sites: the runbook, the dashboards, and the explorers of chains and tokens.
 */

export interface ExternalLinks extends Pick<Config, 'links'> {
  readonly chains: Readonly<Record<string, ChainConfig>>;
  /** URL templates by contract. */
  readonly tokens: ReadonlyMap<string, string>;
}

export function externalLinks({ links, chains, tokens }: Config): ExternalLinks {
  const explorers = tokens.flatMap(({ contract, explorer }) =>
    explorer === undefined ? [] : [[contract, explorer] as const],
  );
  return { links, chains, tokens: new Map(explorers) };
}

/** The section of the runbook about an alert. */
export function runbookUrl({ links }: ExternalLinks, alert: string): string {
  return `${links.runbook}#${alert.toLowerCase()}`;
}

/** The dashboard of each alert, as in `dashboard_url` of prometheus/alerts.yml. */
const dashboards: Readonly<Record<string, string>> = {
  BridgeEndpointDown: 'bridge-exporter',
  BridgeSnapshotStale: 'bridge-exporter',
  BridgeEndpointMisconfigured: 'bridge-exporter',
  BridgeResponseNearLimit: 'bridge-exporter',
  BridgeHeightStalled: 'bridge-overview',
  CrosschainHeightStalled: 'bridge-cross-chain',
  BridgeExporterInvalidValues: 'bridge-exporter',
  BridgeExporterSeriesDropped: 'bridge-exporter',
  BridgeBacklogHigh: 'bridge-overview',
  BridgeBacklogStuck: 'bridge-overview',
  BridgeBatchTimeoutNear: 'bridge-overview',
  BridgeBatchOverdue: 'bridge-overview',
  BridgeBatchUnsigned: 'bridge-signers',
  BridgeValsetUnsigned: 'bridge-signers',
  BridgeValsetDrift: 'bridge-signers',
  BridgeOracleStalled: 'bridge-signers',
  BridgeConflictingClaims: 'bridge-signers',
  BridgeOrchestratorMissingConfirms: 'bridge-signers',
  BridgeOrchestratorDeadlineNear: 'bridge-signers',
  BridgeOrchestratorMissingVotes: 'bridge-signers',
  BridgeWatchedValidatorInactive: 'bridge-signers',
  BridgeParamsChanged: 'bridge-overview',
  BridgeBlacklistChanged: 'bridge-overview',
  CrosschainBacklogHigh: 'bridge-cross-chain',
  CrosschainBacklogStuck: 'bridge-cross-chain',
  CrosschainCctxsMissed: 'bridge-cross-chain',
  CrosschainOldestPendingTooOld: 'bridge-cross-chain',
  CrosschainPendingListTruncated: 'bridge-cross-chain',
  CrosschainRateLimitNear: 'bridge-cross-chain',
  CrosschainRateLimitExceeded: 'bridge-cross-chain',
};

/** `null` without a base address of the dashboards. */
export function dashboardUrl({ links }: ExternalLinks, alert: string, target: string): string | null {
  const uid = Object.hasOwn(dashboards, alert) ? dashboards[alert] : undefined;
  if (links.dashboards === undefined || uid === undefined) return null;
  return `${links.dashboards}/d/${uid}?var-target=${encodeURIComponent(target)}`;
}

/** The transaction in the explorer of its chain. Ids are untrusted: they are encoded, and looked up as own keys. */
export function transactionUrl({ chains }: ExternalLinks, chainId: string | null, hash: string): string | undefined {
  if (chainId === null || !Object.hasOwn(chains, chainId)) return undefined;
  return fill(chains[chainId]?.explorer, '{hash}', hash);
}

/** The contract in the explorer of its token. */
export function tokenUrl({ tokens }: ExternalLinks, contract: string): string | undefined {
  return fill(tokens.get(contract), '{address}', contract);
}

function fill(template: string | undefined, placeholder: string, id: string): string | undefined {
  return template?.replaceAll(placeholder, () => encodeURIComponent(id));
}
