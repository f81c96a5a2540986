import { Collected, decimal } from './exact.js';
import {
  referenceBreakdown,
  referenceCctxAnomalies,
  referenceRateLimit,
  referenceTotals,
  type CrosschainAbout,
} from './reference-crosschain.js';
import { referenceAnomalies, referenceDrift, referenceEvents } from './reference-oracle.js';
import { referenceOrchestrators } from './reference-orchestrators.js';
import { referenceParams, referencePlain, referenceValsets } from './reference-plain.js';
import { referenceBatches, referenceTokens } from './reference-queue.js';
import { referenceSigning } from './reference-signing.js';

/*
 * The families of the contract a second time, written from its text alone and without a line of the exporter: naive, slow,
 * exact. The two hashes are not here, since the contract leaves their canonical form open.
 */

export interface BridgeAbout {
  readonly height?: string;
  readonly powerThreshold?: string;
  readonly watch?: readonly string[];
  readonly tokens?: readonly { readonly contract: string; readonly symbol?: string; readonly decimals?: number }[];
}

export type ReferenceValues = Readonly<Record<string, number>>;

export function referenceBridge(state: unknown, about: BridgeAbout = {}): ReferenceValues {
  const height = about.height === undefined ? undefined : decimal(about.height);
  const out = new Collected();
  referencePlain(state, height, out);
  referenceValsets(state, out);
  referenceParams(state, out);
  referenceSigning(state, decimal(about.powerThreshold ?? '0.6667'), out);
  referenceOrchestrators(state, { height, watch: about.watch ?? [] }, out);
  referenceBatches(state, height, out);
  referenceTokens(state, about.tokens ?? [], out);
  referenceEvents(state, out);
  referenceDrift(state, out);
  referenceAnomalies(state, out);
  return out.values;
}

export function referenceCrosschain(document: unknown, about: CrosschainAbout = {}): ReferenceValues {
  const out = new Collected();
  referenceTotals(document, out);
  referenceBreakdown(document, about, out);
  referenceRateLimit(document, about, out);
  referenceCctxAnomalies(document, out);
  return out.values;
}
