import { defaultConfig } from '../../src/config/config.js';
import { defaultBridgeSettings, defaultCrosschainSettings } from '../../src/config/endpoint-config.js';
import { batch, idleState, validators } from '../items/bridge-state.js';
import type { Config } from '../../src/config/config.js';
import { externalLinks } from '../../src/pages/external-links.js';
import { pendingPage } from '../../src/pages/pending-page.js';
import { statusPage, type Instance, type StatusView } from '../../src/pages/status-page.js';
import { createView, type ShownEndpoint } from '../../src/pages/view.js';
import { clock } from '../support/clock.js';
import type { Moment } from '../../src/clock.js';
import { recordedStates, type RecordedStates } from '../support/endpoint-states.js';
import { judgeUrgency, type Severity } from '../../src/problems/problem.js';
import type { JudgedTarget, TargetProblem } from '../../src/engine/target-problems.js';
import type { PollResult } from '../../src/engine/step.js';
import { pollOf } from '../support/polls.js';
import type { EndpointState } from '../../src/engine/endpoint-state.js';
import type { StepContext } from '../../src/document-types.js';

export const at = (seconds: number): Moment => ({
  at: Date.UTC(2026, 0, 1, 12) / 1000 + seconds,
  clockOffset: 0,
});

export const TARGET = 'main "net" <1>';
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
  names: {
    tokens: [{ contract: '0xusdt', symbol: 'USDT', decimals: 6 }],
    chains: { '1': HOSTILE },
    validators: [],
  },
  maxSeries: 200,
  staleAfterMs: 300_000,
  maxBodyBytes: 2 ** 26,
};

export const BRIDGE: StepContext<'module_state'> = {
  ...base,
  document: 'module_state',
  // Otherwise timeouts are unknown until a block time is measured.
  settings: { ...defaultBridgeSettings, block_time: 2000 },
};
export const CROSSCHAIN: StepContext<'rate_limiter_input'> = {
  ...base,
  document: 'rate_limiter_input',
  settings: defaultCrosschainSettings,
};

export function bridgeResult(state: unknown, height?: string): PollResult {
  return pollOf(BRIDGE, { state }, { height, at: clock() });
}

/** A bridge with an old batch that none of its four validators has signed. */
export function hostileSnapshots(names: readonly string[]): RecordedStates {
  const configured = validators.map(({ eth_address }, index) => ({ address: eth_address, name: names[index] ?? 'x' }));
  const source: StepContext<'module_state'> = { ...BRIDGE, names: { ...base.names, validators: configured } };
  const claim = { observed: false, height: '500', votes: [], claim: { event_nonce: '8' } };
  const state = {
    ...idleState,
    batches: [batch('1', '600', '500')],
    attestations: [...idleState.attestations, claim],
    unbatched_transfers: [transfer('1', '9'.repeat(77), 'W'.repeat(10_000))],
  };
  const snapshots = initialSnapshots();
  snapshots.record(source, pollOf(source, { state }, { height: 1000, at: clock() }), at(0));
  return snapshots;
}

export function crosschainResult(document: unknown): PollResult {
  return pollOf(CROSSCHAIN, document, { at: clock() });
}

export function initialSnapshots(): RecordedStates {
  return recordedStates([BRIDGE, CROSSCHAIN], { maxBodyBytes: 1024, staleAfterMs: STALE_AFTER_SECONDS * 1000 });
}

export function polledSnapshots(state: unknown): RecordedStates {
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
  configProblems: [],
  stateFileProblem: null,
};

/** A firing problem about the bridge of `TARGET` that has lasted for this many minutes at 12:00:00. */
export function problem(
  alert: string,
  severity: Severity,
  minutes: number,
  others: Partial<TargetProblem> = {},
): TargetProblem {
  const startSeconds = at(-60 * minutes).at;
  return {
    target: TARGET,
    document: 'module_state',
    alert,
    severity,
    state: 'firing',
    startSeconds,
    ageSeconds: 60 * minutes,
    mayBeOlder: false,
    firesAtSeconds: startSeconds,
    isHidden: others.hiddenBy !== undefined && others.hiddenBy !== null,
    subject: {},
    validators: [],
    id: `${alert}-${severity}`,
    ageKind: 'lasting',
    urgency: judgeUrgency({ severity }),
    hiddenBy: null,
    summary: `summary of ${alert}`,
    details: '',
    action: `action of ${alert}`,
    ...others,
  };
}

/** That it will fire in this many minutes. */
export function firesIn(minutes: number): Pick<TargetProblem, 'state' | 'firesAtSeconds'> {
  return { state: 'pending', firesAtSeconds: at(60 * minutes).at };
}

/** The problems of a target as `judgeTarget` returns them: worst first. */
export function judgeTarget(
  problems: readonly TargetProblem[] = [],
  unknown: readonly string[] = [],
  target = TARGET,
): JudgedTarget {
  const firing = problems.find(({ state }) => state === 'firing')?.severity;
  const isProblem = firing === 'critical' || firing === 'warning';
  const rest = firing ?? (problems.length > 0 ? 'pending' : 'ok');
  const status = isProblem ? firing : unknown.length > 0 ? 'unknown' : rest;
  return { target, status, unknown, problems, notJudgedHere: [] };
}

export const testLinks = (config: Partial<Config> = {}) => externalLinks({ ...defaultConfig, ...config });

interface PageOptions {
  readonly instance?: Instance;
  readonly telemetryPath?: string;
  readonly problems?: readonly JudgedTarget[];
  readonly config?: Partial<Config>;
}

/** Endpoints as the pages show them. */
export function shownOf(states: readonly EndpointState[]): readonly ShownEndpoint[] {
  const nodes = [{ url: { origin: 'http://node.example:1317' } }];
  return states.map((state) => ({
    state,
    job: { nodes, context: state.document === 'module_state' ? BRIDGE : CROSSCHAIN },
  }));
}

/** What the status page shows this many seconds after 12:00:00. */
export function statusDocumentAt(snapshots: RecordedStates, seconds: number, options: PageOptions = {}): StatusView {
  const { problems = [judgeTarget()], config } = options;
  const view = createView(shownOf(snapshots.states()), problems, testLinks(config), at(seconds));
  return { ...view, instance: options.instance ?? instance };
}

/** The status page this many seconds after 12:00:00. */
export function statusAt(snapshots: RecordedStates, seconds: number, options: PageOptions = {}): string {
  const document = statusDocumentAt(snapshots, seconds, options);
  const { telemetryPath = '/metrics' } = options;
  return statusPage(document, testLinks(options.config), { telemetryPath, version: document.instance.version });
}

/** The pending page this many seconds after 12:00:00. */
export function pendingAt(
  snapshots: RecordedStates,
  seconds: number,
  query: Readonly<Record<string, string>> = {},
  { problems = [judgeTarget()], telemetryPath = '/metrics', config }: PageOptions = {},
): string {
  const links = testLinks(config);
  const { target, q = '' } = query;
  const isShown = (other: { readonly target: string }): boolean => target === undefined || other.target === target;
  const shown = shownOf(snapshots.states().filter(isShown));
  const view = createView(shown, problems.filter(isShown), links, at(seconds), q);
  return pendingPage(view, q, links, { telemetryPath, version: '0.1.0' });
}

/** The visible text of the main element, line by line. */
export function textOf(html: string): string {
  const main = /<main[^>]*>([^]*)<\/main>/.exec(html)?.[1] ?? '';
  return main
    .replaceAll(/<(?:td|th|tr|li|p|h\d|dt|dd|summary|small)\b[^>]*>/g, '\n')
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity] ?? entity)
    .replaceAll(/[ \u00A0]+/g, ' ')
    .replaceAll(/\s*\n\s*/g, '\n')
    .trim();
}

const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

/** The text between two lines. */
export function between(text: string, from: string, to: string): string {
  const start = text.indexOf(`\n${from}\n`);
  return text.slice(start + 1, text.indexOf(`\n${to}\n`, start));
}

export const titleOf = (html: string): string => /<title>(.*)<\/title>/.exec(html)?.[1] ?? '';

/** Transfer ids in the order of the page. */
export const idsIn = (html: string): string[] =>
  [...html.matchAll(/<tr role="row" id="transfers\/(\d+)/g)].map(([, id]) => id ?? '');
