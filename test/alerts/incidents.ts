import type { ModuleState } from '../../src/simulator/responses.js';
import type { RateLimiterInput } from '../../src/simulator/responses.js';
import type { RecordingOptions, Stretch } from './recording.js';

/** An alert and its severity. */
export type Page = `${string}/${'critical' | 'warning' | 'info'}`;

export interface Incident {
  readonly title: string;
  readonly stretches: readonly Stretch[];
  readonly options?: Omit<RecordingOptions, 'keep'>;
  /** Minute in which it begins. */
  readonly begins: number;
  /** Most minutes from the beginning to each page that it is about. */
  readonly pages: Readonly<Record<Page, number>>;
  /** What else may fire; anything beyond fails the test. */
  readonly also?: readonly Page[];
  /** From this minute on some critical alert fires at every minute. */
  readonly noGapAfter?: number;
  /** It is still on at the end of the recording; else everything has resolved by then. */
  readonly lasts?: true;
}

const HEALTH = 20;

/** In health, in the scenario, and in health again for as long as `keep_firing_for` and the rest of a backlog take. */
function scenario(
  name: NonNullable<Stretch['scenario']>,
  minutes: number,
  more: Omit<Incident, 'title' | 'stretches' | 'begins'> & { readonly title?: string; readonly recovery?: number },
): Incident {
  const { recovery = 40, title = `scenario ${name}`, ...rest } = more;
  const stretches = [
    { minutes: HEALTH },
    { minutes, scenario: name },
    { minutes: recovery, scenario: 'healthy' as const },
  ];
  return { title, stretches, begins: HEALTH, ...rest };
}

/** In health, with these fates for a while, and in health again. */
function failure(title: string, bad: Stretch, rest: Omit<Incident, 'title' | 'stretches' | 'begins'>): Incident {
  return { title, stretches: [{ minutes: HEALTH }, bad, { minutes: 40 }], begins: HEALTH, ...rest };
}

type Change<Body> = { readonly answers: (body: Body) => unknown };

const bridge = (change: (state: ModuleState) => object): Change<{ state: ModuleState }> => ({
  answers: ({ state }) => ({ state: { ...state, ...change(state) } }),
});

const crosschain = (change: (input: RateLimiterInput) => object): Change<RateLimiterInput> => ({
  answers: (input) => ({ ...input, ...change(input) }),
});

/** 300 blocks instead of 10000, so that a deadline comes within the test. */
const shortWindow = bridge(({ params }) => ({ params: { ...params, signed_valsets_window: '300' } }));

const nineTenths = (): object => ({ past_cctxs_value: '450000000000000000000', pending_cctxs_value: '0' });

/** The oldest of all, and never batched. */
const withDust = bridge(({ unbatched_transfers: waiting }) => ({
  unbatched_transfers: [
    ...waiting,
    ...['1', '2', '3'].map((id) => {
      const coin = { contract: `0x${'de'.repeat(20)}`, amount: '1' };
      return { id, sender: 'hub1dust', dest_address: `0x${'ad'.repeat(20)}`, erc20_token: coin, erc20_fee: coin };
    }),
  ],
}));

export const bridgeIncidents: readonly Incident[] = [
  scenario('stuck', 75, {
    title: 'everything is stuck (scenario stuck)',
    pages: {
      'BridgeBacklogStuck/critical': 55,
      'BridgeBacklogHigh/warning': 65,
      'BridgeOracleStalled/critical': 25,
      'CrosschainBacklogStuck/critical': 60,
      'CrosschainBacklogHigh/warning': 70,
      'CrosschainOldestPendingTooOld/warning': 45,
    },
    also: ['BridgeOrchestratorMissingVotes/warning'],
  }),
  {
    title: 'three transfers nobody puts in a batch, on a quiet bridge',
    stretches: [{ minutes: HEALTH }, { minutes: 200, bridge: withDust }, { minutes: 40 }],
    options: { scenario: 'quiet' },
    begins: HEALTH,
    pages: { 'BridgeBacklogStuck/warning': 190 },
  },
  scenario('backlog', 90, {
    title: 'more comes than is served (scenario backlog)',
    pages: { 'BridgeBacklogHigh/warning': 45, 'CrosschainBacklogHigh/warning': 45 },
  }),
  scenario('unsigned-batch', 60, { pages: { 'BridgeBatchUnsigned/critical': 40 } }),
  scenario('stalled-oracle', 45, {
    pages: { 'BridgeOracleStalled/critical': 25 },
    also: ['BridgeOrchestratorMissingVotes/warning', 'BridgeBacklogHigh/warning'],
  }),
  scenario('conflicting-claims', 45, {
    pages: { 'BridgeConflictingClaims/critical': 20 },
    also: ['BridgeOracleStalled/critical', 'BridgeBacklogHigh/warning'],
  }),
  scenario('batch-timeout', 90, {
    pages: { 'BridgeBatchTimeoutNear/warning': 15, 'BridgeBatchOverdue/critical': 60 },
    also: ['BridgeBacklogStuck/critical'],
  }),
  scenario('valset-drift', 160, {
    pages: { 'BridgeValsetDrift/warning': 150, 'BridgeValsetUnsigned/warning': 90 },
  }),
  scenario('silent-signer', 150, {
    options: { valsets: 30 },
    pages: { 'BridgeOrchestratorMissingConfirms/warning': 90, 'BridgeOrchestratorMissingVotes/warning': 150 },
  }),
  {
    title: 'two silent signers and a deadline',
    stretches: [
      { minutes: HEALTH, bridge: shortWindow },
      { minutes: 110, bridge: shortWindow, scenario: 'silent-signer' },
      { minutes: 60, bridge: shortWindow, scenario: 'healthy' },
    ],
    options: { valsets: 30 },
    begins: HEALTH,
    pages: { 'BridgeOrchestratorDeadlineNear/critical': 105 },
    also: ['BridgeOrchestratorMissingConfirms/warning'],
  },
];

export const otherIncidents: readonly Incident[] = [
  scenario('missed-cctxs', 60, {
    pages: { 'CrosschainCctxsMissed/warning': 30, 'CrosschainOldestPendingTooOld/warning': 50 },
  }),
  scenario('stuck-chain', 135, {
    options: { scenario: 'quiet' },
    pages: {
      'CrosschainBacklogStuck/critical': 60,
      'CrosschainOldestPendingTooOld/warning': 45,
      'CrosschainOldestPendingTooOld/critical': 135,
    },
  }),
  scenario('truncated', 60, {
    title: 'a truncated list (scenario truncated)',
    pages: { 'CrosschainPendingListTruncated/warning': 20, 'CrosschainBacklogHigh/warning': 40 },
  }),
  scenario('rate-limited', 45, {
    // The window of 500 blocks is 17 minutes.
    options: { blockTimeMs: 2000 },
    pages: { 'CrosschainRateLimitExceeded/warning': 20 },
    also: ['CrosschainRateLimitNear/info'],
  }),
  failure(
    'the use of the rate limit is at nine tenths',
    { minutes: 30, crosschain: crosschain(nineTenths) },
    {
      pages: { 'CrosschainRateLimitNear/info': 10 },
    },
  ),
  failure(
    'a node does not answer',
    { minutes: 30, bridge: { fails: 'connect' } },
    { pages: { 'BridgeEndpointDown/warning': 3, 'BridgeSnapshotStale/critical': 10 } },
  ),
  {
    title: 'a node has never answered',
    stretches: [{ minutes: 30, crosschain: { fails: 'dns' } }],
    begins: 0,
    pages: { 'BridgeEndpointDown/warning': 3, 'BridgeSnapshotStale/critical': 11 },
    lasts: true,
  },
  failure(
    'polling has stopped, up says 1',
    { minutes: 30, bridge: 'is not asked', crosschain: 'is not asked' },
    { pages: { 'BridgeSnapshotStale/critical': 10 } },
  ),
  failure(
    'credentials are refused',
    { minutes: 30, crosschain: { fails: 'unauthorized' } },
    {
      pages: { 'BridgeEndpointMisconfigured/warning': 5 },
      also: ['BridgeEndpointDown/warning', 'BridgeSnapshotStale/critical'],
    },
  ),
  failure(
    'the node refuses for size',
    { minutes: 30, bridge: { fails: 'response_too_large_upstream' } },
    {
      pages: { 'BridgeResponseNearLimit/warning': 10 },
      also: ['BridgeEndpointDown/warning', 'BridgeSnapshotStale/critical'],
    },
  ),
  {
    title: 'the body is near its limit',
    stretches: [{ minutes: 20, bridge: { answers: (body) => ({ ...body, padding: 'x'.repeat(900_000) }) } }],
    options: { maxBodyBytes: 1_150_000 },
    begins: 0,
    pages: { 'BridgeResponseNearLimit/warning': 5 },
    lasts: true,
  },
  failure(
    'the node stands still, polls succeed',
    { minutes: 45, frozen: true },
    { pages: { 'BridgeHeightStalled/critical': 16, 'CrosschainHeightStalled/critical': 16 } },
  ),
  failure('no exporter runs', { minutes: 20, exporterDown: true }, { pages: { 'BridgeExporterAbsent/critical': 10 } }),
  failure(
    'a field is of the wrong kind',
    { minutes: 30, bridge: bridge(() => ({ last_outgoing_pool_id: 'soon' })) },
    { pages: { 'BridgeExporterInvalidValues/warning': 11 } },
  ),
  failure(
    'a field is left out',
    { minutes: 30, bridge: bridge(() => ({ batches: undefined })) },
    { pages: { 'BridgeExporterInvalidValues/warning': 11 } },
  ),
  {
    title: 'more series than may be shown',
    stretches: [{ minutes: 30 }],
    options: { maxSeries: 10 },
    begins: 0,
    pages: { 'BridgeExporterSeriesDropped/warning': 15 },
    lasts: true,
  },
  {
    title: 'governance changes a parameter',
    stretches: [
      { minutes: HEALTH },
      { minutes: 70, bridge: bridge(({ params }) => ({ params: { ...params, signed_valsets_window: '20000' } })) },
    ],
    begins: HEALTH,
    pages: { 'BridgeParamsChanged/info': 0 },
  },
  {
    title: 'an address is added to the blacklist',
    stretches: [
      { minutes: HEALTH },
      {
        minutes: 70,
        bridge: bridge(({ external_blacklist: list }) => ({ external_blacklist: [...list, `0x${'ab'.repeat(20)}`] })),
      },
    ],
    begins: HEALTH,
    pages: { 'BridgeBlacklistChanged/info': 0 },
  },
  {
    title: 'a node goes away during an incident: some alert fires without a gap',
    stretches: [
      { minutes: HEALTH },
      { minutes: 50, scenario: 'conflicting-claims' },
      { minutes: 60, bridge: { fails: 'timeout' } },
    ],
    begins: HEALTH,
    pages: {
      'BridgeConflictingClaims/critical': 20,
      'BridgeSnapshotStale/critical': 61,
    },
    also: ['BridgeOracleStalled/critical', 'BridgeEndpointDown/warning', 'BridgeBacklogHigh/warning'],
    noGapAfter: HEALTH + 20,
    lasts: true,
  },
  {
    title: 'the exporter restarts during an incident: the page stays',
    stretches: [
      { minutes: HEALTH },
      { minutes: 30, scenario: 'conflicting-claims' },
      { minutes: 3, exporterDown: true },
      { minutes: 20 },
    ],
    begins: HEALTH,
    pages: { 'BridgeConflictingClaims/critical': 20 },
    also: ['BridgeOracleStalled/critical', 'BridgeBacklogHigh/warning'],
    noGapAfter: HEALTH + 20,
    lasts: true,
  },
  {
    title: 'no page: the exporter restarts twice',
    stretches: [
      { minutes: 70 },
      { minutes: 2, exporterDown: true },
      { minutes: 5 },
      { minutes: 4, exporterDown: true },
      { minutes: 60 },
    ],
    begins: 0,
    pages: {},
  },
  {
    title: 'no page: a load balancer with a lagging node behind it',
    stretches: [{ minutes: 90, bridge: { answers: (body) => body, height: everyThirdBehind() } }],
    begins: 0,
    pages: {},
  },
  {
    title: 'no page: a poll fails now and then',
    stretches: Array.from({ length: 12 }, (_, at) =>
      at % 2 === 0
        ? { minutes: 7 }
        : { minutes: 2, bridge: { fails: 'timeout' as const }, crosschain: { fails: 'status' as const } },
    ),
    begins: 0,
    pages: {},
  },
  {
    title: 'no page: polls are refused for a minute',
    stretches: [{ minutes: 20 }, { minutes: 1, bridge: { fails: 'unauthorized' } }, { minutes: 20 }],
    begins: 0,
    pages: {},
  },
];

/** Two of three answers are of the present, one is 30 blocks old. */
function everyThirdBehind(): (height: number) => number {
  let polls = 0;
  return (height) => {
    polls += 1;
    return polls % 3 === 0 ? height - 30 : height;
  };
}

export const incidents: readonly Incident[] = [...bridgeIncidents, ...otherIncidents];
