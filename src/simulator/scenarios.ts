/** The parameters of a chain. Rates are per minute, so that they do not depend on the block time. */
export interface Rules {
  // Users of the bridge.
  /** New withdrawals per minute, as long as fewer than `maxUnbatchedTransfers` are unbatched. */
  readonly transfersPerMinute: number;
  readonly maxUnbatchedTransfers: number;
  readonly depositsPerMinute: number;
  // Batch creator.
  /** Maximum number of batches per run of the batch creator; 0: it is down. */
  readonly batchesPerRun: number;
  readonly batchSize: number;
  /** Tokens of which the batch creator builds no batch, by symbol. */
  readonly tokensWithoutBatches: ReadonlySet<string>;
  // Relayers.
  readonly relaysBatches: boolean;
  readonly relaysValsets: boolean;
  /** Tokens whose batches fail on the external chain, by symbol. */
  readonly unrelayableTokens: ReadonlySet<string>;
  /**
   * By how much the prices of tokens have risen, by symbol. Fees are in tokens, and the minimum of relayers is in
   * dollars. Only for `mainnet`.
   */
  readonly priceFactors: ReadonlyMap<string, number>;
  // Validators.
  readonly voters: ValidatorGroup;
  readonly valsetSigners: ValidatorGroup;
  /** Signers of batches of the busiest token. `valsetSigners` sign the batches of all other tokens. */
  readonly busiestTokenSigners: ValidatorGroup;
  /** Probability that a run of an orchestrator confirms a valset which it has not confirmed yet. */
  readonly valsetSignChance: number;
  /** The validators that submit a wrong claim for the next event, by rank. */
  readonly disputing: ReadonlySet<number>;
  /** Ranks of the validators that act in a tenth of their runs. */
  readonly slowRanks: ReadonlySet<number>;
  /** Ranks of the validators that sign no blocks of the hub. */
  readonly absentRanks: ReadonlySet<number>;
  readonly stakeChangesPerMinute: number;
  /** Maximum deviation of a stake from its base, as a share of it. */
  readonly stakeSpread: number;
  // External chain of the bridge.
  /** External blocks by which the external chain jumps ahead once, as after a long halt of the hub. */
  readonly extraExternalBlocks: number;
  // Users and signers of the cross-chain module.
  /** New cctxs per minute, as long as fewer than `maxPendingCctxs` are pending. */
  readonly cctxsPerMinute: number;
  readonly maxPendingCctxs: number;
  /** Value of a new cctx in percent of the normal value. */
  readonly cctxValuePercent: number;
  /** Share of cctxs that the signers lose track of, as long as fewer than `maxLostCctxs` are lost. */
  readonly lostShare: number;
  readonly maxLostCctxs: number;
  /** The chains of these cctxs. */
  readonly losesOn: 'all' | 'bitcoin';
  /** How far below the lowest pending nonce of a chain the node looks for missed cctxs; real nodes 1000. */
  readonly listedNoncesBelow: number;
  /** External chains on which nothing is signed or confirmed; a set of their ids. */
  readonly frozenChains: 'none' | 'one' | 'all' | ReadonlySet<string>;
  /** By how much longer the confirmation of a new cctx takes, by chain id. */
  readonly confirmationFactors: ReadonlyMap<string, number>;
  /** Whether the hub sends transactions to other chains. */
  readonly outboundEnabled: boolean;
  // Node.
  /** How old the newest block of the node is. */
  readonly nodeLagMinutes: number;
}

/** All validators, all but two, a minority that is too small for a quorum, or all but these ranks. */
export type ValidatorGroup = 'all' | 'all-but-two' | 'minority' | ReadonlySet<number>;

export interface Scenario {
  /** One line. */
  readonly description: string;
  /** The difference from the scenario healthy. */
  readonly changes: Partial<Rules>;
}

const HEALTHY: Rules = {
  transfersPerMinute: 20,
  maxUnbatchedTransfers: 5000,
  batchesPerRun: 6,
  batchSize: 100,
  tokensWithoutBatches: new Set(),
  depositsPerMinute: 5,
  relaysBatches: true,
  relaysValsets: true,
  unrelayableTokens: new Set(),
  priceFactors: new Map(),
  voters: 'all',
  valsetSigners: 'all',
  busiestTokenSigners: 'all',
  valsetSignChance: 1,
  disputing: new Set(),
  slowRanks: new Set(),
  absentRanks: new Set(),
  stakeChangesPerMinute: 1,
  stakeSpread: 0.15,
  extraExternalBlocks: 0,
  cctxsPerMinute: 6,
  maxPendingCctxs: 5000,
  cctxValuePercent: 100,
  lostShare: 0,
  maxLostCctxs: 0,
  losesOn: 'all',
  listedNoncesBelow: 1000,
  frozenChains: 'none',
  confirmationFactors: new Map(),
  outboundEnabled: true,
  nodeLagMinutes: 0,
};

/** Half of the validators. */
const ODD_RANKS: ReadonlySet<number> = new Set(Array.from({ length: 10 }, (_, index) => 2 * index + 1));

export const scenarios = {
  healthy: scenario('everything moves', {}),
  quiet: scenario('healthy, with hardly any traffic', {
    transfersPerMinute: 0.1,
    depositsPerMinute: 0.05,
    cctxsPerMinute: 0.1,
  }),
  backlog: scenario('transfers and cctxs come faster than they are served', {
    transfersPerMinute: 180,
    maxUnbatchedTransfers: 1500,
    batchesPerRun: 2,
    batchSize: 40,
    cctxsPerMinute: 50,
    cctxValuePercent: 10,
  }),
  stuck: scenario('nothing moves: no batch, no event, no cctx', {
    batchesPerRun: 0,
    relaysBatches: false,
    relaysValsets: false,
    voters: 'minority',
    stakeChangesPerMinute: 0,
    frozenChains: 'all',
  }),
  'unsigned-batch': scenario('batches of the busiest token stay below the power threshold', {
    busiestTokenSigners: 'minority',
  }),
  'silent-signer': scenario('two validators neither confirm nor vote', {
    voters: 'all-but-two',
    valsetSigners: 'all-but-two',
    busiestTokenSigners: 'all-but-two',
  }),
  'missed-blocks': scenario('a validator signs no blocks, and is jailed within the hour', {
    absentRanks: new Set([4]),
  }),
  'stalled-oracle': scenario('votes for events stay below the quorum', {
    voters: 'minority',
    // A growing stake could lift earlier votes over the quorum.
    stakeChangesPerMinute: 0,
  }),
  'conflicting-claims': scenario('validators claim two different things for one event', {
    disputing: ODD_RANKS,
  }),
  'batch-timeout': scenario('batches are not executed and reach their timeout on an idle bridge', {
    transfersPerMinute: 2,
    depositsPerMinute: 0,
    relaysBatches: false,
    relaysValsets: false,
    // A new batch times out after 3600 external blocks. This leaves it a few minutes.
    extraExternalBlocks: 3530,
  }),
  'no-relayer': scenario('nobody executes signed batches', {
    transfersPerMinute: 2,
    depositsPerMinute: 0,
    relaysBatches: false,
    relaysValsets: false,
  }),
  'valset-drift': scenario('new validator sets are signed late and never relayed', {
    relaysValsets: false,
    valsetSignChance: 0.05,
    stakeChangesPerMinute: 2,
    stakeSpread: 0.7,
  }),
  'missed-cctxs': scenario('the signers skip some cctxs', {
    lostShare: 0.3,
    maxLostCctxs: 12,
  }),
  'unlisted-cctxs': scenario('missed cctxs fall behind until the node does not list them', {
    cctxsPerMinute: 20,
    lostShare: 0.3,
    maxLostCctxs: 4,
    // Other chains stop before.
    losesOn: 'bitcoin',
    // So that it takes minutes.
    listedNoncesBelow: 10,
  }),
  'stuck-chain': scenario('nothing finishes on one external chain', { frozenChains: 'one' }),
  truncated: scenario('more cctxs are pending than the service lists', {
    cctxsPerMinute: 300,
    maxPendingCctxs: 900,
    cctxValuePercent: 2,
  }),
  'rate-limited': scenario('cctxs far above a limit of 1e18 per block', { cctxValuePercent: 2000 }),
  'outbound-disabled': scenario('the hub has switched off transactions to other chains', { outboundEnabled: false }),
  syncing: scenario('the node is three hours behind the chain, and catching up', { nodeLagMinutes: 180 }),
  mainnet: scenario('a quiet main network with what nobody fixes: dust, poor batches, absent votes, missed cctxs', {
    // By day; less at night.
    transfersPerMinute: 0.04,
    depositsPerMinute: 0.02,
    stakeChangesPerMinute: 0.01,
    stakeSpread: 0.09,
    cctxsPerMinute: 0.8,
  }),
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof scenarios;

// The type of the object has no other keys.
export const scenarioNames = Object.keys(scenarios) as readonly ScenarioName[];

/** The rules of a scenario on a chain that is otherwise healthy. */
export function createRules(name: ScenarioName): Rules {
  return { ...HEALTHY, ...scenarios[name].changes };
}

function scenario(description: string, changes: Partial<Rules>): Scenario {
  return { description, changes };
}
