/** What the model goes by from block to block. Rates hold at any block time. */
export interface Rules {
  /** Withdrawals people ask for; they stop asking while `transferLimit` of them wait. */
  readonly transfersPerMinute: number;
  readonly transferLimit: number;
  /** Batches built each time the batch creator runs; 0: it is down. */
  readonly batchesPerRun: number;
  readonly batchSize: number;
  readonly depositsPerMinute: number;
  readonly relaysBatches: boolean;
  readonly relaysValsets: boolean;
  /** Validators too small for a quorum together, or all but two, or all of them. */
  readonly voters: Crew;
  readonly valsetSigners: Crew;
  /** Who confirms batches of the busiest token; those of other tokens are confirmed by `valsetSigners`. */
  readonly busiestTokenSigners: Crew;
  /** How likely a run of an orchestrator confirms a valset it has not confirmed yet. */
  readonly valsetSignChance: number;
  readonly disputesEvent: boolean;
  readonly stakeChangesPerMinute: number;
  /** How far a stake goes from its base, as a share of it. */
  readonly stakeSpread: number;
  /** External blocks the external chain is suddenly ahead by, as after a long halt of the hub. */
  readonly externalLeap: number;
  readonly cctxsPerMinute: number;
  readonly cctxLimit: number;
  /** Of the ordinary value of a cctx. */
  readonly cctxValuePercent: number;
  /** Share of cctxs the signers lose track of, until `missedLimit` are lost. */
  readonly lostShare: number;
  readonly missedLimit: number;
  /** External chains on which nothing is signed or confirmed. */
  readonly frozenChains: 'none' | 'one' | 'all';
}

export type Crew = 'all' | 'all-but-two' | 'minority';

export interface Scenario {
  /** One line, for `--help`. */
  readonly description: string;
  readonly rules: Rules;
}

const healthy: Rules = {
  transfersPerMinute: 20,
  transferLimit: 5000,
  batchesPerRun: 6,
  batchSize: 100,
  depositsPerMinute: 5,
  relaysBatches: true,
  relaysValsets: true,
  voters: 'all',
  valsetSigners: 'all',
  busiestTokenSigners: 'all',
  valsetSignChance: 1,
  disputesEvent: false,
  stakeChangesPerMinute: 1,
  stakeSpread: 0.15,
  externalLeap: 0,
  cctxsPerMinute: 6,
  cctxLimit: 5000,
  cctxValuePercent: 100,
  lostShare: 0,
  missedLimit: 0,
  frozenChains: 'none',
};

export const scenarios = {
  healthy: scenario('everything moves: transfers are batched, executed and observed within minutes', {}),
  quiet: scenario('healthy, with hardly any traffic', {
    transfersPerMinute: 0.1,
    depositsPerMinute: 0.05,
    cctxsPerMinute: 0.1,
  }),
  backlog: scenario('transfers and cctxs come faster than they are served; both queues still move', {
    transfersPerMinute: 180,
    transferLimit: 1500,
    batchesPerRun: 2,
    batchSize: 40,
    cctxsPerMinute: 50,
    cctxValuePercent: 10,
  }),
  stuck: scenario('no batch is built or executed, no event is observed, no cctx finishes', {
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
  'stalled-oracle': scenario('events are pending and votes for them stay below the quorum', {
    voters: 'minority',
    // A stake that grows could lift what was voted before over the quorum.
    stakeChangesPerMinute: 0,
  }),
  'conflicting-claims': scenario('validators claim two different things for one event', { disputesEvent: true }),
  'batch-timeout': scenario('batches are not executed and reach their timeout on an idle bridge', {
    transfersPerMinute: 2,
    depositsPerMinute: 0,
    relaysBatches: false,
    relaysValsets: false,
    // A fresh batch has 3600 external blocks: this leaves it the few minutes that make the scenario worth watching.
    externalLeap: 3530,
  }),
  'valset-drift': scenario('stakes shift; new validator sets are confirmed late and never relayed', {
    relaysValsets: false,
    valsetSignChance: 0.05,
    stakeChangesPerMinute: 2,
    stakeSpread: 0.7,
  }),
  'missed-cctxs': scenario('the signers lose track of some cctxs and go on with later ones', {
    lostShare: 0.3,
    missedLimit: 12,
  }),
  'stuck-chain': scenario('nothing finishes on one external chain while the others go on', { frozenChains: 'one' }),
  truncated: scenario('more cctxs are pending than the service lists', {
    cctxsPerMinute: 300,
    cctxLimit: 900,
    cctxValuePercent: 2,
  }),
  'rate-limited': scenario('cctxs of great value: far above a limit of 1e18 per block', { cctxValuePercent: 2000 }),
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof scenarios;

export const scenarioNames: readonly ScenarioName[] = Object.keys(scenarios).filter(isScenarioName);

/** Name and description of each scenario, for `--help`. */
export const scenarioRows = scenarioNames.map((name) => [name, scenarios[name].description] as const);

export function isScenarioName(name: string): name is ScenarioName {
  return Object.hasOwn(scenarios, name);
}

function scenario(description: string, changes: Partial<Rules>): Scenario {
  return { description, rules: { ...healthy, ...changes } };
}
