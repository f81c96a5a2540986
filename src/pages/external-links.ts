import { rules } from '../problems/rules.js';
import type { ChainConfig, Config } from '../config/config.js';

/* Links to other sites: the runbook, the dashboards, and the explorers of chains and tokens. */

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

/** `null` without a base address of the dashboards. */
export function dashboardUrl({ links }: ExternalLinks, alert: string, target: string): string | null {
  const uid = rules.find(({ name }) => name === alert)?.dashboard;
  if (links.dashboards === undefined || uid === undefined) return null;
  return `${links.dashboards}/d/${uid}?var-target=${encodeURIComponent(target)}`;
}

/**
 * The transaction in the explorer of its chain. Ids are untrusted, so they are encoded, and no key of the prototype is
 * read.
 */
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
