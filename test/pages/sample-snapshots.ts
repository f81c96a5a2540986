import { defaultBridgeSettings, defaultCrosschainSettings } from '../../src/config/schema.js';
import { asDecimalString } from '../../src/json/numeral.js';
import { endpointStatuses, type NamesView } from '../../src/pages/endpoint-view.js';
import { statusPage, type Instance } from '../../src/pages/status-page.js';
import { isoTime } from '../../src/pages/time.js';
import type { Instant } from '../../src/poll/clock.js';
import { createEndpointStore, type EndpointStore } from '../../src/poll/endpoint-store.js';
import { processBody, type ProcessingOptions, type PollResult } from '../../src/poll/poll.js';

export const at = (seconds: number): Instant => ({
  epochSeconds: Date.UTC(2026, 0, 1, 12) / 1000 + seconds,
  monotonicMs: 1000 * seconds,
});

export const TARGET = 'main "net" <1>';
export const BRIDGE = { target: TARGET, document: 'module_state' } as const;
export const CROSSCHAIN = { target: TARGET, document: 'rate_limiter_input' } as const;
export const STALE_AFTER_SECONDS = 60;
export const FAILED: PollResult = {
  outcome: { ok: false, error: { reason: 'status', message: '/x: responded with status 500: <b>"oh"</b>' } },
  phaseSeconds: {},
};

export const HOSTILE = `<script>alert("1")</script>'&amp;`;
export const transfer = (id: string, amount: string, contract = '0xusdt') => ({
  id,
  sender: 'hub1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq',
  dest_address: HOSTILE,
  erc20_token: { contract, amount },
  erc20_fee: { contract, amount: '1' },
});

const base = {
  target: TARGET,
  labels: {
    tokens: [{ contract: '0xusdt', symbol: 'USDT', decimals: 6 }],
    chains: { '1': HOSTILE },
    validators: { configured: [], staking: new Map() },
  },
  maxSeries: 200,
};

export function bridgeResult(state: unknown, height?: string): PollResult {
  const source: ProcessingOptions = { ...base, document: 'module_state', settings: defaultBridgeSettings };
  return processBody(
    source,
    'test',
    Buffer.from(JSON.stringify({ state })),
    height === undefined ? height : asDecimalString(height),
  );
}

export function crosschainResult(document: unknown): PollResult {
  const source: ProcessingOptions = { ...base, document: 'rate_limiter_input', settings: defaultCrosschainSettings };
  return processBody(source, 'test', Buffer.from(JSON.stringify(document)), undefined);
}

export function initialSnapshots(): EndpointStore {
  return createEndpointStore([BRIDGE, CROSSCHAIN], { maxBodyBytes: 1024, staleAfterMs: STALE_AFTER_SECONDS * 1000 });
}

export function polledSnapshots(state: unknown): EndpointStore {
  const snapshots = initialSnapshots();
  snapshots.record(BRIDGE, bridgeResult(state), at(0));
  return snapshots;
}

export const instance: Instance = {
  version: '0.1.0',
  nodeVersion: '20.19.0',
  startedAt: '2026-01-01T11:00:00.000Z',
  uptimeSeconds: 3600,
  configHash: 81_985_529_216,
  configLoadedAt: '2026-01-01T11:59:00.000Z',
  configRejectedAt: null,
  intervalMs: 30_000,
  timeoutMs: 20_000,
  staleAfterMs: STALE_AFTER_SECONDS * 1000,
};

/** The status page this many seconds after 12:00:00. */
export function statusAt(
  snapshots: EndpointStore,
  seconds: number,
  ofInstance = instance,
  telemetryPath = '/metrics',
  names: readonly NamesView[] = [],
): string {
  const now = at(seconds);
  const endpoints = endpointStatuses(snapshots, now, ofInstance.staleAfterMs);
  return statusPage({ generatedAt: isoTime(now.epochSeconds), endpoints, names, instance: ofInstance }, telemetryPath);
}

/** Transfer ids in the order of the page. */
export const idsIn = (html: string): string[] => [...html.matchAll(/data-label="Id">(\d+)/g)].map(([, id]) => id ?? '');
