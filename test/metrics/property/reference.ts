import { decimal, SeriesCollector } from './exact.js';
import {
  referenceBreakdown,
  referenceCctxAnomalies,
  referenceLimits,
  referenceNonceChanges,
  referenceNonces,
  referenceRateLimit,
  referenceTotals,
  type CrosschainReferenceOptions,
} from './reference-crosschain.js';
import { referenceAnomalies, referenceDrift, referenceEvents, referenceIntegrity } from './reference-oracle.js';
import { referenceOrchestrators, type NamesReference } from './reference-orchestrators.js';
import { referenceParams, referencePlain, referenceValsets } from './reference-plain.js';
import { referenceBatches, referenceTokens, type TokenReference } from './reference-queue.js';
import { referenceSigning } from './reference-signing.js';
import { referenceTimes, type TimedDocument } from './reference-times.js';

/*
 * Reference implementation: computes all families from their specification, without code of the exporter. It is simple
 * and exact, and not optimized. The two hashes are missing, because their canonical form is not specified.
 */

export interface BridgeReferenceOptions {
  readonly height?: string;
  readonly powerThreshold?: string;
  readonly watch?: readonly string[];
  readonly validators?: NamesReference;
  readonly tokens?: readonly TokenReference[];
  readonly blockTime?: number | 'auto';
  readonly externalBlockTime?: number | 'auto';
  readonly backlogLimit?: number;
  /** The documents of the endpoint before this one, oldest first, and when this one was received. */
  readonly earlier?: readonly TimedDocument[];
  readonly atMs?: number;
}

export type ReferenceValues = Readonly<Record<string, number>>;

export function referenceBridge(state: unknown, options: BridgeReferenceOptions = {}): ReferenceValues {
  const height = options.height === undefined ? undefined : decimal(options.height);
  const threshold = decimal(options.powerThreshold ?? '0.66');
  const { earlier = [], atMs = 0, tokens = [], backlogLimit = 500 } = options;
  const times = { ...options, documents: [...earlier, { state, height: options.height, atMs }] };
  const out = new SeriesCollector();
  referencePlain(state, height, out);
  referenceValsets(state, out);
  referenceParams(state, out);
  referenceSigning(state, threshold, out);
  referenceOrchestrators(state, { ...options, height, documents: times.documents }, out);
  referenceTimes(state, times, out);
  referenceBatches(state, { height, threshold, tokens, times }, out);
  referenceTokens(state, tokens, { times, backlogLimit }, out);
  referenceEvents(state, out);
  referenceDrift(state, out);
  referenceIntegrity(state, out);
  referenceAnomalies(state, out);
  return out.values;
}

export function referenceCrosschain(document: unknown, options: CrosschainReferenceOptions = {}): ReferenceValues {
  const out = new SeriesCollector();
  referenceTotals(document, out);
  referenceBreakdown(document, options, out);
  referenceNonces(document, options, out);
  if (options.at !== undefined) referenceNonceChanges([{ document, at: options.at }], options, out);
  referenceLimits(document, options, out);
  referenceRateLimit(document, options, out);
  referenceCctxAnomalies(document, out);
  return out.values;
}
