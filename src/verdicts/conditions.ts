import { bridgeConditions } from './bridge-conditions.js';
import type { Condition } from './condition.js';
import { crosschainConditions } from './crosschain-conditions.js';
import { endpointConditions } from './endpoint-conditions.js';

/**
 * All conditions, the order of verdicts of the same severity. Every alert of prometheus/alerts.yml about a target is here. Not here are
 * those that a running exporter cannot judge: BridgeExporterAbsent, BridgeExporterShardMissing, BridgeEndpointNotPolled, BridgeWatchdog.
 */
export const conditions: readonly Condition[] = [...endpointConditions, ...bridgeConditions, ...crosschainConditions];
