import { HEALTHY, HEALTHY_MINUTES, healthy, incident, type Incident } from './incident.js';
import { changedState, INITIAL_CONFIG, START_SECONDS, type Phase } from './recording.js';

/* Incidents of exporters and their configuration, and of parameters, with the healthy cases that look like them. */

const OTHER = 'other:10917';

const FAILING: Phase = { minutes: 30, bridge: { fails: 'connect' } };

const withOtherParams = changedState(({ params }) => ({ params: { ...params, signed_valsets_window: '20000' } }));

const withOtherAdmins = changedState(({ params }) => ({
  params: { ...params, admins: [...params.admins, 'hub1other'] },
}));

const withOtherBridge = changedState(({ params }) => ({ params: { ...params, bridge_id: 'other' } }));

const withoutBridgeId = changedState(({ params: { bridge_id: _missing, ...params } }) => ({ params }));

const withoutClaimSlashing = changedState(({ params: { claim_slashing_enabled: _missing, ...params } }) => ({
  params,
}));

const withOtherContract = changedState(({ params }) => ({
  params: { ...params, bridge_external_address: `0x${'cc'.repeat(20)}` },
}));

const WITHOUT_BRIDGE = { ...INITIAL_CONFIG, hash: 2, documents: ['rate_limiter_input'] as const };
const WITHOUT_TARGET = { ...INITIAL_CONFIG, hash: 3, target: undefined };
const RENAMED = { ...INITIAL_CONFIG, hash: 4, target: 'renamed' };
const MOVED = { ...INITIAL_CONFIG, hash: 5, url: 'http://10.0.0.2:1317' };

/** The values of this many minutes ago. */
const HUB_BLOCKS_PER_MINUTE = 3;
const lowerBy =
  (minutes: number) =>
  (height: number): number =>
    height - minutes * HUB_BLOCKS_PER_MINUTE;

/** The state after a rollback: heights, nonces and ids are lower. */
function rolledBack(minutes: number): Pick<Phase, 'bridge' | 'crosschain'> {
  return {
    bridge: {
      respond: ({ state }) => ({
        state: {
          ...state,
          last_observed_nonce: String(Number(state.last_observed_nonce) - 40),
          last_outgoing_batch_id: String(Number(state.last_outgoing_batch_id) - 40),
          // The events of the present claims have not happened yet.
          attestations: [],
        },
      }),
      height: lowerBy(minutes),
    },
    crosschain: {
      respond: (input) => ({ ...input, height: String(Number(input.height) - minutes * HUB_BLOCKS_PER_MINUTE) }),
    },
  };
}

/** The newest block of the node is this old. */
const behindBy =
  (minutes: number): NonNullable<Phase['queries']> =>
  (path, response, seconds) => {
    if (!path.endsWith('/blocks/latest')) return response;
    const time = new Date((START_SECONDS + seconds - minutes * 60) * 1000).toISOString();
    const header = { height: '1', time };
    return { ...response, body: Buffer.from(JSON.stringify({ block: { header }, sdk_block: { header } })) };
  };

/** All polls fail for longer than an hour. */
const UPGRADE: Phase = { minutes: 70, bridge: { fails: 'connect' }, crosschain: { fails: 'connect' } };
const WHILE_FAILING = { 'BridgeEndpointDown/warning': 4, 'BridgeSnapshotStale/critical': 12 } as const;

const STUCK: Phase = { minutes: 60, scenario: 'stuck' };

const reloads: readonly Incident[] = [
  healthy(
    'a reload adds an endpoint to an exporter that has run for an hour, and its first polls fail',
    [{ minutes: 60, config: WITHOUT_BRIDGE }, { ...FAILING, minutes: 8, config: INITIAL_CONFIG }, HEALTHY],
    { allowedAlerts: ['BridgeEndpointDown/warning'] },
  ),
  incident(
    'a reload adds an endpoint that never responds',
    [
      { minutes: 60, config: WITHOUT_BRIDGE },
      { ...FAILING, config: INITIAL_CONFIG },
    ],
    WHILE_FAILING,
    { beginsAtMinute: 60, isOngoingAtEnd: true },
  ),
  healthy('a reload removes a target', [HEALTHY, { minutes: 40, config: WITHOUT_TARGET }]),
  incident(
    'a reload removes a target whose alerts fire',
    [HEALTHY, { ...FAILING, minutes: 15 }, { minutes: 30, config: WITHOUT_TARGET }],
    WHILE_FAILING,
  ),
  healthy('a reload removes one document of a target', [HEALTHY, { minutes: 40, config: WITHOUT_BRIDGE }]),
  healthy('a reload renames a target', [HEALTHY, { minutes: 40, config: RENAMED }]),
  healthy(
    'a new process with another instance label has a configuration without the target',
    [HEALTHY, { minutes: 60, exporterDown: 'removed' }],
    {
      otherExporters: {
        [OTHER]: [
          { minutes: HEALTHY_MINUTES - 2, exporterDown: 'removed' },
          { minutes: 62, config: WITHOUT_TARGET },
        ],
      },
    },
  ),
  healthy(
    'a new process with another instance label replaces the exporter',
    [HEALTHY, { minutes: 60, exporterDown: 'removed' }],
    { otherExporters: { [OTHER]: [{ minutes: HEALTHY_MINUTES - 2, exporterDown: 'removed' }, { minutes: 62 }] } },
  ),
  incident(
    'an exporter is lost while another one of the job, with other targets, runs',
    [HEALTHY, { minutes: 50, exporterDown: true }],
    { 'BridgeExporterDown/critical': 11 },
    { otherExporters: { [OTHER]: [{ minutes: 70, config: RENAMED }] }, isOngoingAtEnd: true },
  ),
  healthy(
    'one of two exporters reloads ten minutes before the other',
    [HEALTHY, { minutes: 40, config: WITHOUT_BRIDGE }],
    { otherExporters: { [OTHER]: [{ minutes: HEALTHY_MINUTES + 10 }, { minutes: 30, config: WITHOUT_BRIDGE }] } },
  ),
  healthy('a target moves to another shard', [HEALTHY, { minutes: 40, config: WITHOUT_TARGET }], {
    otherExporters: {
      [OTHER]: [
        { minutes: HEALTHY_MINUTES + 1, config: WITHOUT_TARGET },
        { minutes: 39, config: INITIAL_CONFIG },
      ],
    },
  }),
  incident(
    'one of two exporters is lost after the other has reloaded to fewer endpoints',
    [HEALTHY, { minutes: 30, exporterDown: true }, { minutes: 20 }],
    { 'BridgeExporterDown/critical': 11 },
    { otherExporters: { [OTHER]: [{ minutes: HEALTHY_MINUTES - 2 }, { minutes: 52, config: WITHOUT_BRIDGE }] } },
  ),
  incident('the last reload of the configuration failed', [HEALTHY, { minutes: 20, reloadFails: true }, HEALTHY], {
    'BridgeExporterConfigReloadFailed/warning': 6,
  }),
  incident('the disk of the recorder is full', [HEALTHY, { minutes: 30, recorderFails: true }, { minutes: 30 }], {
    'BridgeExporterRecorderFailing/warning': 15,
  }),
];

const twins: readonly Incident[] = [
  healthy('two exporters poll the same target', { minutes: 60 }, { otherExporters: { [OTHER]: [{ minutes: 120 }] } }),
  incident(
    'two exporters poll different bridges under one name',
    [{ minutes: 40 }],
    { 'BridgeExporterTargetAmbiguous/warning': 13 },
    {
      otherExporters: { [OTHER]: [{ minutes: 40, bridge: withOtherBridge }] },
      beginsAtMinute: 0,
      isOngoingAtEnd: true,
    },
  ),
  incident(
    'one of two exporters of a target loses its node',
    FAILING,
    { 'BridgeEndpointDown/warning': 4 },
    { otherExporters: { [OTHER]: [{ minutes: 90 }] } },
  ),
  incident(
    'two exporters of a target lose their node',
    FAILING,
    { 'BridgeEndpointDown/warning': 4, 'BridgeSnapshotStale/critical': 15 },
    { otherExporters: { [OTHER]: [HEALTHY, { minutes: 3 }, { ...FAILING, minutes: 25 }, { minutes: 42 }] } },
  ),
  incident(
    'one of two exporters of a target stops',
    { minutes: 30, exporterDown: true },
    { 'BridgeExporterDown/warning': 10 },
    { otherExporters: { [OTHER]: [{ minutes: 90 }] } },
  ),
];

/** What wakes somebody when everything is stuck, however many exporters there are. */
const WHILE_STUCK = { 'BridgeOracleStalled/critical': 25, 'CrosschainBacklogStuck/critical': 60 } as const;
const ALLOWED_WHILE_STUCK = [
  'BridgeWatchedOrchestratorLagging/warning',
  'CrosschainPendingListTruncated/warning',
] as const;

const restarts: readonly Incident[] = [
  incident(
    'everything is stuck, and one of two exporters restarts with its state file',
    [HEALTHY, STUCK, { minutes: 4, exporterDown: true }, { minutes: 26 }],
    WHILE_STUCK,
    {
      otherExporters: { [OTHER]: [HEALTHY, { ...STUCK, minutes: 90 }] },
      options: { hasStateFile: true },
      allowedAlerts: ALLOWED_WHILE_STUCK,
      isOngoingAtEnd: true,
    },
  ),
  incident(
    'everything is stuck, and a new process without memory replaces the exporter',
    [HEALTHY, STUCK, { minutes: 30, exporterDown: 'removed' }],
    WHILE_STUCK,
    {
      otherExporters: {
        [OTHER]: [{ ...HEALTHY, exporterDown: 'removed' }, { ...STUCK, exporterDown: 'removed' }, { minutes: 30 }],
      },
      // For how long a chain and an orchestrator have stood still, no document proves.
      allowedAlerts: [
        ...ALLOWED_WHILE_STUCK,
        'BridgeOrchestratorMissingVotes/warning',
        'CrosschainOldestPendingTooOld/warning',
      ],
      noGapAfter: HEALTHY_MINUTES + 25,
      isOngoingAtEnd: true,
    },
  ),
];

const rollbacks: readonly Incident[] = [
  incident(
    'the hub is rolled back by two hours',
    [{ minutes: 60 }, { minutes: 60, ...rolledBack(120) }],
    { 'BridgeStateRolledBack/critical': 20 },
    { beginsAtMinute: 60, isOngoingAtEnd: true },
  ),
  incident(
    'the hub is rolled back by two hours while no exporter runs',
    [{ minutes: 60 }, { minutes: 5, exporterDown: true }, { minutes: 60, ...rolledBack(120) }],
    { 'BridgeStateRolledBack/critical': 25 },
    { options: { hasStateFile: true }, beginsAtMinute: 60, isOngoingAtEnd: true },
  ),
  healthy('the node behind a load balancer is two hours behind for ten minutes', [
    { minutes: 60 },
    { minutes: 10, ...rolledBack(120) },
    { minutes: 30 },
  ]),
  healthy('a reload moves the exporter to a node that is two hours behind', [
    { minutes: 60 },
    { minutes: 60, config: MOVED, ...rolledBack(120) },
  ]),
  healthy(
    'one of two exporters of a target reads a node that is two hours behind',
    [{ minutes: 60 }, { minutes: 60, ...rolledBack(120), queries: behindBy(120) }],
    {
      otherExporters: { [OTHER]: [{ minutes: 120 }] },
      allowedAlerts: ['BridgeNodeBehind/warning'],
      isOngoingAtEnd: true,
    },
  ),
];

const changes: readonly Incident[] = [
  incident(
    'a parameter changes during an upgrade of 70 minutes',
    [HEALTHY, UPGRADE, { minutes: 90, bridge: withOtherParams }],
    { ...WHILE_FAILING, 'BridgeParamsChanged/info': 71 },
  ),
  incident(
    'a parameter changes while no exporter runs',
    [HEALTHY, { minutes: 70, exporterDown: true }, { minutes: 90, bridge: withOtherParams }],
    {
      'BridgeExporterAbsent/critical': 11,
      'BridgeParamsChanged/info': 71,
    },
    { options: { hasStateFile: true } },
  ),
  incident(
    'the bridge has another contract',
    [HEALTHY, { minutes: 40, bridge: withOtherContract }],
    { 'BridgeParamsChanged/critical': 1 },
    { isOngoingAtEnd: true },
  ),
  incident(
    'the bridge has other admins after an upgrade of 70 minutes',
    [HEALTHY, UPGRADE, { minutes: 90, bridge: withOtherAdmins }],
    { ...WHILE_FAILING, 'BridgeParamsChanged/warning': 71 },
  ),
  healthy('a node does not have the bridge id', [HEALTHY, { minutes: 20, bridge: withoutBridgeId }, { minutes: 70 }]),
];

const missingFields: readonly Incident[] = [
  healthy('a node has never had a field that no alert reads', [{ minutes: 40, bridge: withoutClaimSlashing }]),
  healthy('a node has never had a field that problems read', [
    { minutes: 40, bridge: changedState(() => ({ last_outgoing_batch_id: undefined })) },
  ]),
  healthy(
    'one of two nodes behind a load balancer does not have a field',
    Array.from({ length: 20 }, (_, at) =>
      at % 2 === 0 ? { minutes: 1 } : { minutes: 1, bridge: changedState(() => ({ batches: undefined })) },
    ),
  ),
  healthy('a field is missing in one document', [
    HEALTHY,
    { minutes: 1, bridge: changedState(() => ({ batches: undefined })) },
    HEALTHY,
  ]),
];

export const exporterIncidents: readonly Incident[] = [
  ...reloads,
  ...twins,
  ...restarts,
  ...rollbacks,
  ...changes,
  ...missingFields,
  // Their number does not matter here, and fewer are faster.
].map((one) => ({ ...one, options: { valsets: 3, ...one.options } }));
