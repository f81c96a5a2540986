import { dataPart } from '../../src/chain/addresses.js';
import type { ModuleState } from '../../src/simulator/responses.js';
import { contractIncidents } from './contract-incidents.js';
import { crosschainIncidents } from './crosschain-incidents.js';
import { exporterIncidents } from './exporter-incidents.js';
import { HEALTHY, HEALTHY_MINUTES, healthy, incident, type Incident } from './incident.js';
import { changedState, sampleTokens, watchedAddress, type Phase, type PollOutcome } from './recording.js';

/** A healthy phase, the scenario, and a recovery that is longer than `keep_firing_for` and the remaining backlog. */
function scenario(
  name: NonNullable<Phase['scenario']>,
  minutes: number,
  details: Omit<Incident, 'title' | 'phases' | 'beginsAtMinute'> & {
    readonly title?: string;
    readonly recovery?: number;
  },
): Incident {
  const { recovery = 40, title = `the scenario is ${name}`, ...rest } = details;
  const phases = [HEALTHY, { minutes, scenario: name }, { minutes: recovery, scenario: 'healthy' as const }];
  return { title, phases, beginsAtMinute: HEALTHY_MINUTES, ...rest };
}

/** 300 blocks instead of 10000, so that a deadline falls within the recording. */
const withShortWindow = changedState(({ params }) => ({ params: { ...params, signed_valsets_window: '300' } }));

/** A token of the simulated chain with a configured minimum fee. */
const [knownToken = { contract: '' }] = sampleTokens;
const isKnownToken = (contract: string): boolean => contract.toLowerCase() === knownToken.contract;
/** A token that is not configured. */
const UNKNOWN_TOKEN = `0x${'de'.repeat(20)}`;

/** Transfers that are older than all others. */
function oldTransfers(number: number, contract: string, fee: string): ModuleState['unbatched_transfers'] {
  return Array.from({ length: number }, (_, id) => ({
    id: String(id + 1),
    sender: 'hub1old',
    dest_address: `0x${'ad'.repeat(20)}`,
    erc20_token: { contract, amount: '1' },
    erc20_fee: { contract, amount: fee },
  }));
}

/** Changes the answer of the node to the requests of a path. */
function answered(
  part: string,
  // oxlint-disable-next-line typescript/no-explicit-any -- the JSON of any answer
  change: (answer: any, seconds: number) => unknown,
): NonNullable<Phase['queries']> {
  return (path, response, seconds) =>
    path.includes(part)
      ? { ...response, body: Buffer.from(JSON.stringify(change(JSON.parse(response.body.toString()), seconds))) }
      : response;
}

const watchedOf = ({ orchestrator_addresses }: ModuleState): string | undefined =>
  orchestrator_addresses.find(({ sender }) => dataPart(sender) === dataPart(watchedAddress))?.eth_address;

/** 300 transfers with sufficient fees wait, and no batch of their token is built. */
const withStuckToken = changedState(({ unbatched_transfers, batches, attestations }) => ({
  unbatched_transfers: [
    ...unbatched_transfers.filter(({ erc20_token }) => !isKnownToken(erc20_token.contract)),
    ...oldTransfers(300, knownToken.contract, String(10n ** 12n)),
  ],
  batches: batches.filter(({ token_contract }) => !isKnownToken(token_contract)),
  attestations: attestations.filter(({ observed }) => observed),
}));

/** Every minute another transfer of a token without a minimum fee waits. */
function withGrowingQueue(): PollOutcome<{ state: ModuleState }> {
  let waiting = 0;
  return changedState(({ unbatched_transfers }) => {
    waiting += 1;
    return { unbatched_transfers: [...unbatched_transfers, ...oldTransfers(waiting, UNKNOWN_TOKEN, '5')] };
  });
}

/** A signed batch that is older than all others. Its only transfer pays a fee that nobody takes. */
function withOldBatch(blocksLeft: number): PollOutcome<{ state: ModuleState }> {
  const { contract: token_contract } = knownToken;
  return changedState(({ batches, batch_confirms, orchestrator_addresses, last_observed_external_height }) => {
    const batch = {
      batch_nonce: '1',
      batch_timeout: String(Number(last_observed_external_height) + blocksLeft),
      transactions: oldTransfers(1, token_contract, '1'),
      token_contract,
      block: '1',
    };
    const confirms = orchestrator_addresses.map(({ orchestrator, eth_address }) => ({
      nonce: '1',
      token_contract,
      eth_signer: eth_address,
      orchestrator,
      signature: '',
    }));
    return { batches: [...batches, batch], batch_confirms: [...batch_confirms, ...confirms] };
  });
}

/** Validators with at least this share of the power, the smallest ones first. */
function smallest(
  { valsets, orchestrator_addresses }: ModuleState,
  share: number,
): ModuleState['orchestrator_addresses'] {
  const newest = valsets.toSorted((a, b) => Number(b.nonce) - Number(a.nonce))[0];
  const members = (newest?.members ?? []).toSorted((a, b) => Number(a.power) - Number(b.power));
  const total = members.reduce((sum, { power }) => sum + Number(power), 0);
  let power = 0;
  const chosen = new Set<string>();
  for (const member of members) {
    if (power >= share * total) break;
    power += Number(member.power);
    chosen.add(member.external_address.toLowerCase());
  }
  return orchestrator_addresses.filter(({ eth_address }) => chosen.has(eth_address.toLowerCase()));
}

/** A height of moments ago: that of the newest claim. */
function recentHeight({ attestations }: ModuleState): string {
  return String(Math.max(...attestations.map(({ height }) => Number(height))));
}

/** Validators with this share of the power claim something for the next event. */
function withClaim(share: number, claim: object): PollOutcome<{ state: ModuleState }> {
  return changedState((state) => ({
    attestations: [
      ...state.attestations.filter(({ observed }) => observed),
      {
        observed: false,
        votes: smallest(state, share).map(({ sender }) => sender),
        height: recentHeight(state),
        claim: { event_nonce: String(Number(state.last_observed_nonce) + 1), ...claim },
      },
    ],
  }));
}

/** No event is observed, so that a claim stays that of the next event. */
function onQuietBridge(claim: PollOutcome<{ state: ModuleState }>): PollOutcome<{ state: ModuleState }> {
  let first: ModuleState | undefined;
  if (claim === 'not polled' || 'fails' in claim) return claim;
  return {
    respond: ({ state }) => {
      first ??= state;
      const { last_observed_nonce, last_observed_external_height } = first;
      const attestations = first.attestations.filter(({ observed }) => observed);
      return claim.respond({ state: { ...state, last_observed_nonce, last_observed_external_height, attestations } });
    },
  };
}

const phantomDeposit = { '@type': '/bridge.v1.MsgDepositClaim' };
const foreignValset = {
  '@type': '/bridge.v1.MsgValsetUpdatedClaim',
  valset_nonce: '99999999',
  members: [{ power: '4294967295', external_address: `0x${'66'.repeat(20)}` }],
};
const foreignBatch = {
  '@type': '/bridge.v1.MsgWithdrawClaim',
  batch_nonce: '99999999',
  token_contract: knownToken.contract,
};

/** Removes the watched validator of the recordings from the newest validator set. */
const withoutWatched = changedState((state) => {
  const { valsets, last_observed_valset, attestations } = state;
  const watched = watchedOf(state);
  const newest = valsets.toSorted((a, b) => Number(b.nonce) - Number(a.nonce))[0];
  const withoutMember = (valset: ModuleState['last_observed_valset']): ModuleState['last_observed_valset'] =>
    valset.nonce === newest?.nonce
      ? { ...valset, members: valset.members.filter(({ external_address }) => external_address !== watched) }
      : valset;
  return {
    valsets: valsets.map(withoutMember),
    last_observed_valset: withoutMember(last_observed_valset),
    // Claims name the set with the validator.
    attestations: attestations.filter(({ observed }) => observed),
  };
});

/** The windows are 150 blocks, 50 minutes, so that an unsigned batch reaches its deadline. */
const withShortBatchWindow = changedState(({ params }) => ({ params: { ...params, signed_batches_window: '150' } }));

export const bridgeIncidents: readonly Incident[] = [
  scenario('stuck', 75, {
    title: 'everything is stuck (scenario stuck)',
    expectedAlerts: {
      'BridgeOracleStalled/critical': 25,
      'CrosschainBacklogStuck/critical': 60,
    },
    allowedAlerts: ['BridgeOrchestratorMissingVotes/warning', 'BridgeWatchedOrchestratorLagging/warning'],
  }),
  incident(
    'one token is stuck while batches of other tokens are built',
    { minutes: 100, bridge: withStuckToken },
    { 'BridgeBacklogStuck/critical': 55 },
  ),
  incident(
    'the queue of a token without a minimum fee grows',
    { minutes: 240, bridge: withGrowingQueue() },
    { 'BridgeBacklogStuck/warning': 190 },
    { allowedAlerts: ['BridgeBacklogHigh/warning'] },
  ),
  healthy('a signed batch whose fees nobody takes stays the oldest', { minutes: 150, bridge: withOldBatch(2000) }),
  scenario('no-relayer', 300, {
    options: { scenario: 'quiet' },
    recovery: 60,
    expectedAlerts: { 'BridgeBatchNotRelayed/warning': 150, 'BridgeBatchNotRelayed/critical': 270 },
    // The simulated hub builds no batch of a token that has several.
    allowedAlerts: ['BridgeBacklogHigh/warning', 'BridgeBacklogStuck/critical'],
  }),
  incident(
    'a validator with little power claims an event that does not exist',
    { minutes: 100, bridge: onQuietBridge(withClaim(0.001, phantomDeposit)) },
    { 'BridgeOracleStalled/warning': 70 },
    { allowedAlerts: ['BridgeOrchestratorMissingVotes/warning'] },
  ),
  incident(
    'the validator set in the contract has other members than the one of the hub',
    {
      minutes: 20,
      bridge: changedState(({ last_observed_valset }) => ({
        last_observed_valset: { ...last_observed_valset, members: foreignValset.members },
      })),
    },
    { 'BridgeContractValsetMismatch/critical': 1 },
  ),
  ...(
    [
      ['a validator set that the hub did not make', foreignValset, 'BridgeContractValsetMismatch'],
      ['a batch that the hub does not have', foreignBatch, 'BridgeClaimWithoutBatch'],
    ] as const
  ).flatMap(([what, claim, alert]) => [
    incident(
      `much of the power claims ${what}`,
      { minutes: 15, bridge: withClaim(0.4, claim) },
      { [`${alert}/critical`]: 1 },
    ),
    incident(
      `a validator claims ${what}`,
      { minutes: 15, bridge: withClaim(0.001, claim) },
      { [`${alert}/warning`]: 6 },
    ),
  ]),
  incident(
    'a validator claims something else than the others for the next event',
    {
      minutes: 30,
      bridge: onQuietBridge(
        changedState((state) => {
          const event_nonce = String(Number(state.last_observed_nonce) + 1);
          const [wrong, ...others] = smallest(state, 0.5).map(({ sender }) => sender);
          const attestation = { observed: false, height: recentHeight(state) };
          return {
            attestations: [
              ...state.attestations.filter(({ observed }) => observed),
              { ...attestation, votes: others, claim: { event_nonce, ...phantomDeposit } },
              { ...attestation, votes: [wrong], claim: { event_nonce, ...phantomDeposit, amount: '1' } },
            ],
          };
        }),
      ),
    },
    { 'BridgeConflictingClaims/warning': 12 },
    { allowedAlerts: ['BridgeOracleStalled/critical', 'BridgeOrchestratorMissingVotes/warning'] },
  ),
  scenario('backlog', 90, {
    title: 'arrivals exceed the capacity (scenario backlog)',
    expectedAlerts: { 'BridgeBacklogHigh/warning': 45, 'CrosschainBacklogHigh/warning': 45 },
  }),
  scenario('stalled-oracle', 45, {
    expectedAlerts: { 'BridgeOracleStalled/critical': 25 },
    allowedAlerts: [
      'BridgeOrchestratorMissingVotes/warning',
      'BridgeWatchedOrchestratorLagging/warning',
      'BridgeBacklogHigh/warning',
    ],
  }),
  scenario('conflicting-claims', 45, {
    expectedAlerts: { 'BridgeConflictingClaims/critical': 20 },
    allowedAlerts: ['BridgeConflictingClaims/warning', 'BridgeOracleStalled/critical', 'BridgeBacklogHigh/warning'],
  }),
  scenario('batch-timeout', 90, {
    expectedAlerts: { 'BridgeBatchTimeoutNear/warning': 15, 'BridgeBatchOverdue/critical': 60 },
    allowedAlerts: ['BridgeBacklogStuck/critical'],
  }),
  scenario('valset-drift', 160, {
    expectedAlerts: { 'BridgeValsetDrift/warning': 150, 'BridgeValsetUnsigned/warning': 100 },
  }),
  scenario('silent-signer', 150, {
    options: { valsets: 30 },
    expectedAlerts: {
      'BridgeOrchestratorMissingConfirms/warning': 90,
      'BridgeWatchedOrchestratorLagging/warning': 45,
    },
  }),
  incident(
    'two signers, of which one is watched, are silent near a confirm deadline',
    [
      { minutes: HEALTHY_MINUTES, bridge: withShortWindow },
      { minutes: 110, bridge: withShortWindow, scenario: 'silent-signer' },
      { minutes: 60, bridge: withShortWindow, scenario: 'healthy' },
    ],
    {
      'BridgeOrchestratorDeadlineNear/critical': 60,
      'BridgeWatchedOrchestratorLagging/warning': 45,
    },
    { options: { valsets: 30 }, allowedAlerts: ['BridgeOrchestratorMissingConfirms/warning'] },
  ),
  incident(
    'batches are not signed near their confirm deadline',
    [
      { minutes: HEALTHY_MINUTES, bridge: withShortBatchWindow },
      { minutes: 80, bridge: withShortBatchWindow, scenario: 'unsigned-batch' },
      { minutes: 60, bridge: withShortBatchWindow, scenario: 'healthy' },
    ], // The validators sign batches of other tokens, so none of them is silent.
    {
      'BridgeBatchUnsigned/critical': 40,
      'BridgeOrchestratorDeadlineNear/critical': 25,
    },
    {
      // The simulated hub builds no batch of a token that has several.
      allowedAlerts: ['BridgeBacklogStuck/critical'],
    },
  ),
  incident(
    'a watched validator is jailed',
    { minutes: 20, bridge: withoutWatched },
    { 'BridgeWatchedValidatorInactive/critical': 12 },
  ),
  incident(
    'a watched validator has not been active since the exporter started',
    [{ minutes: 30, bridge: withoutWatched }],
    { 'BridgeWatchedValidatorInactive/warning': 16 },
    { beginsAtMinute: 0, isOngoingAtEnd: true },
  ),
  scenario('syncing', 75, {
    expectedAlerts: { 'BridgeNodeBehind/warning': 14, 'BridgeNodeBehind/critical': 64 },
  }),
  incident(
    'the clock of the exporter is two minutes behind',
    {
      minutes: 10,
      queries: answered('/cosmos/base/tendermint/v1beta1/blocks/latest', ({ sdk_block: { header } }) => ({
        sdk_block: { header: { ...header, time: new Date(Date.parse(header.time) + 120_000).toISOString() } },
      })),
    },
    { 'BridgeClockBehind/warning': 3 },
  ),
  incident(
    'the staking module says that a watched validator is jailed',
    {
      minutes: 20,
      queries: answered('/cosmos/staking/v1beta1/validators/', ({ validator }) => ({
        validator: { ...validator, jailed: true, status: 'BOND_STATUS_UNBONDING' },
      })),
    },
    { 'BridgeWatchedValidatorJailed/critical': 4 },
  ),
  incident(
    'a watched validator signs no blocks for eight minutes, and recovers',
    {
      minutes: 8,
      queries: answered('/slashing/v1beta1/signing_infos/', ({ val_signing_info: info }, seconds) => ({
        val_signing_info: {
          ...info,
          // A block comes every 20 seconds.
          missed_blocks_counter: String(
            Number(info.missed_blocks_counter) + Math.floor((seconds - HEALTHY_MINUTES * 60) / 20),
          ),
        },
      })),
    },
    { 'BridgeWatchedValidatorSignsNoBlocks/warning': 5 },
  ),
  scenario('missed-blocks', 55, {
    // Until the blocks leave the window of two hours.
    recovery: 125,
    expectedAlerts: {
      'BridgeWatchedValidatorSignsNoBlocks/warning': 8,
      'BridgeWatchedValidatorSignsNoBlocks/critical': 14,
      // Hidden until then: the node of the validator is back.
      'BridgeWatchedValidatorMissingBlocks/warning': 84,
    },
  }),
  incident(
    'a watched validator signs every third block',
    {
      minutes: 40,
      queries: answered('/signing_infos/', ({ val_signing_info }, seconds) => ({
        val_signing_info: { ...val_signing_info, missed_blocks_counter: String(Math.floor((2 * seconds) / 60)) },
      })),
    },
    { 'BridgeWatchedValidatorMissingBlocks/critical': 24 },
  ),
  incident(
    'a watched orchestrator claims nothing for an hour, and its votes come from elsewhere',
    {
      minutes: 60,
      queries: answered('/oracle/event/', () => ({
        last_claim_event: { external_event_nonce: '90000', external_event_height: '1' },
      })),
    },
    { 'BridgeWatchedOrchestratorLagging/warning': 33 },
  ),
  incident(
    'a watched orchestrator spends its funds within an hour',
    {
      minutes: 60,
      queries: answered('/balances/', ({ balance }, seconds) => ({
        balance: { ...balance, amount: String(10n ** 18n * BigInt(80 - Math.floor(seconds / 60))) },
      })),
    },
    { 'BridgeWatchedOrchestratorFundsLow/warning': 60 },
  ),
  incident(
    'a watched orchestrator has had no funds from the beginning',
    [
      { minutes: 60, queries: answered('/balances/', ({ balance }) => ({ balance: { ...balance, amount: '0' } })) },
      { minutes: 40 },
    ],
    { 'BridgeWatchedOrchestratorFundsLow/warning': 17 },
    { beginsAtMinute: 0 },
  ),
  incident(
    'the node stops answering queries about validators',
    {
      minutes: 90,
      queries: (path, response) => (path.includes('/validators/') ? { ...response, status: 403 } : response),
    },
    { 'BridgeWatchedValidatorUnknown/warning': 70 },
  ),
];

export const crosschainAndExporterIncidents: readonly Incident[] = [
  incident(
    'one of two shards is not scraped',
    { minutes: 20, lastShardDown: true },
    { 'BridgeExporterShardMissing/critical': 6 },
    { options: { shards: 2 } },
  ),
  ...crosschainIncidents,
  scenario('truncated', 60, {
    title: 'the list of pending cctxs is truncated (scenario truncated)',
    expectedAlerts: { 'CrosschainPendingListTruncated/warning': 20, 'CrosschainBacklogHigh/warning': 40 },
  }),
  scenario('rate-limited', 45, {
    // The rate limiter window of 500 blocks takes 17 minutes.
    options: { blockTimeMs: 2000 },
    expectedAlerts: {},
  }),
  incident(
    'a node does not respond',
    { minutes: 30, bridge: { fails: 'connect' } },
    { 'BridgeEndpointDown/warning': 4, 'BridgeSnapshotStale/critical': 10 },
  ),
  incident(
    'a node has never responded',
    [{ minutes: 30, crosschain: { fails: 'dns' } }],
    { 'BridgeEndpointDown/warning': 4, 'BridgeSnapshotStale/critical': 11 },
    { beginsAtMinute: 0, isOngoingAtEnd: true },
  ),
  incident(
    'a document was never served, and later no longer',
    [
      { minutes: 15, crosschain: { fails: 'status', isNotServed: true } },
      { minutes: 25 },
      { minutes: 15, crosschain: { fails: 'status', isNotServed: true } },
    ],
    {
      'BridgeEndpointDown/warning': 5,
      'BridgeSnapshotStale/critical': 50,
    },
    { beginsAtMinute: 0, isOngoingAtEnd: true },
  ),
  incident(
    'polling stops while `bridge_exporter_up` is 1',
    { minutes: 30, bridge: 'not polled', crosschain: 'not polled' },
    { 'BridgeEndpointNotPolled/critical': 10 },
  ),
  incident(
    'credentials are rejected',
    { minutes: 30, crosschain: { fails: 'unauthorized' } },
    { 'BridgeEndpointMisconfigured/warning': 5 },
    { allowedAlerts: ['BridgeEndpointDown/warning', 'BridgeSnapshotStale/critical'] },
  ),
  incident(
    'a response exceeds the message size limit of the node',
    { minutes: 30, bridge: { fails: 'response_too_large_upstream' } },
    { 'BridgeResponseNearLimit/warning': 10 },
    { allowedAlerts: ['BridgeEndpointDown/warning', 'BridgeSnapshotStale/critical'] },
  ),
  incident(
    'a response is near the size limit',
    [{ minutes: 20, bridge: { respond: (body) => ({ ...body, padding: 'x'.repeat(900_000) }) } }],
    { 'BridgeResponseNearLimit/warning': 6 },
    { options: { maxBodyBytes: 1_150_000 }, beginsAtMinute: 0, isOngoingAtEnd: true },
  ),
  incident(
    'the height of a node does not change while polls succeed',
    { minutes: 80, frozen: true },
    { 'BridgeHeightStalled/critical': 17, 'CrosschainHeightStalled/critical': 17 },
    {
      // Inhibited by these.
      allowedAlerts: [
        'BridgeNodeBehind/warning',
        'BridgeOrchestratorMissingVotes/warning',
        'CrosschainBacklogStuck/critical',
      ],
    },
  ),
  incident('no exporter runs', { minutes: 20, exporterDown: true }, { 'BridgeExporterAbsent/critical': 10 }),
  incident(
    'a field has the wrong type',
    { minutes: 30, bridge: changedState(() => ({ last_outgoing_batch_id: 'soon' })) },
    { 'BridgeProblemUnjudged/warning': 12 },
  ),
  incident(
    'a field is missing',
    { minutes: 30, bridge: changedState(() => ({ batches: undefined })) },
    { 'BridgeProblemUnjudged/warning': 12, 'BridgeProblemUnjudged/critical': 12 },
    // In the minute before, a batch has no signatures yet.
    { options: { sampleSeconds: 60 } },
  ),
  incident(
    'a family has more series than allowed',
    [{ minutes: 30 }],
    { 'BridgeExporterSeriesDropped/warning': 16 },
    { options: { maxSeries: 10 }, beginsAtMinute: 0, isOngoingAtEnd: true },
  ),
  incident(
    'governance changes a parameter',
    [
      HEALTHY,
      {
        minutes: 90,
        bridge: changedState(({ params }) => ({ params: { ...params, signed_valsets_window: '20000' } })),
      },
    ],
    { 'BridgeParamsChanged/info': 1 },
  ),
  incident(
    'an address is added to the blacklist',
    [
      HEALTHY,
      {
        minutes: 90,
        bridge: changedState(({ external_blacklist }) => ({
          external_blacklist: [...external_blacklist, `0x${'ab'.repeat(20)}`],
        })),
      },
    ],
    { 'BridgeBlacklistChanged/info': 1 },
  ),
  incident(
    'a node fails during an incident, without a gap between critical alerts',
    [HEALTHY, { minutes: 50, scenario: 'conflicting-claims' }, { minutes: 60, bridge: { fails: 'timeout' } }],
    {
      'BridgeConflictingClaims/critical': 20,
      'BridgeSnapshotStale/critical': 61,
    },
    {
      allowedAlerts: [
        'BridgeConflictingClaims/warning',
        'BridgeOracleStalled/critical',
        'BridgeEndpointDown/warning',
        'BridgeBacklogHigh/warning',
      ],
      noGapAfter: HEALTHY_MINUTES + 20,
      isOngoingAtEnd: true,
    },
  ),
  incident(
    'the exporter restarts during an incident, without a gap in the alert',
    [HEALTHY, { minutes: 30, scenario: 'conflicting-claims' }, { minutes: 3, exporterDown: true }, { minutes: 20 }],
    { 'BridgeConflictingClaims/critical': 20 },
    {
      allowedAlerts: ['BridgeConflictingClaims/warning', 'BridgeOracleStalled/critical', 'BridgeBacklogHigh/warning'],
      noGapAfter: HEALTHY_MINUTES + 20,
      isOngoingAtEnd: true,
    },
  ),
  healthy('the exporter restarts twice', [
    { minutes: 70 },
    { minutes: 2, exporterDown: true },
    { minutes: 5 },
    { minutes: 4, exporterDown: true },
    { minutes: 60 },
  ]),
  healthy('one of three nodes behind a load balancer lags', [
    { minutes: 90, bridge: { respond: (body) => body, height: everyThirdLags() } },
  ]),
  healthy(
    'a poll fails now and then',
    Array.from({ length: 12 }, (_, at) =>
      at % 2 === 0
        ? { minutes: 7 }
        : { minutes: 2, bridge: { fails: 'timeout' as const }, crosschain: { fails: 'status' as const } },
    ),
  ),
  healthy('credentials are rejected for a minute', [
    { minutes: 20 },
    { minutes: 1, bridge: { fails: 'unauthorized' } },
    { minutes: 20 },
  ]),
];

/** Every third response is 30 blocks old. */
function everyThirdLags(): (height: number) => number {
  let polls = 0;
  return (height) => {
    polls += 1;
    return polls % 3 === 0 ? height - 30 : height;
  };
}

export const incidents: readonly Incident[] = [
  ...bridgeIncidents,
  ...contractIncidents,
  ...crosschainAndExporterIncidents,
  ...exporterIncidents,
];
