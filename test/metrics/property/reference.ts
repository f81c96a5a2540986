import { decimal, SeriesCollector } from './exact.js';
import {
  referenceBreakdown,
  referenceCctxAnomalies,
  referenceRateLimit,
  referenceTotals,
  type CrosschainReferenceOptions,
} from './reference-crosschain.js';
import { referenceAnomalies, referenceDrift, referenceEvents } from './reference-oracle.js';
import { referenceOrchestrators, type NamesReference } from './reference-orchestrators.js';
import { referenceParams, referencePlain, referenceValsets } from './reference-plain.js';
import { referenceBatches, referenceTokens } from './reference-queue.js';
import { referenceSigning } from './reference-signing.js';

/*
 * Reference implementation: computes all families from their specification, without code of the exporter. It is simple
 * and exact, and not optimized. The two hashes are missing, because their canonical form is not specified.
 */

export interface BridgeReferenceOptions {
  readonly height?: string;
  readonly powerThreshold?: string;
  readonly watch?: readonly string[];
  readonly validators?: NamesReference;
  readonly tokens?: readonly { readonly contract: string; readonly symbol?: string; readonly decimals?: number }[];
}

export type ReferenceValues = Readonly<Record<string, number>>;

export function referenceBridge(state: unknown, options: BridgeReferenceOptions = {}): ReferenceValues {
  const height = options.height === undefined ? undefined : decimal(options.height);
  const out = new SeriesCollector();
  referencePlain(state, height, out);
  referenceValsets(state, out);
  referenceParams(state, out);
  referenceSigning(state, decimal(options.powerThreshold ?? '0.6667'), out);
  referenceOrchestrators(state, { ...options, height }, out);
  referenceBatches(state, height, out);
  referenceTokens(state, options.tokens ?? [], out);
  referenceEvents(state, out);
  referenceDrift(state, out);
  referenceAnomalies(state, out);
  return out.values;
}

export function referenceCrosschain(document: unknown, options: CrosschainReferenceOptions = {}): ReferenceValues {
  const out = new SeriesCollector();
  referenceTotals(document, out);
  referenceBreakdown(document, options, out);
  referenceRateLimit(document, options, out);
  referenceCctxAnomalies(document, out);
  return out.values;
}
