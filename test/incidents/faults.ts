import type { DocumentName } from '../../src/document-types.js';
import type { FailureReason } from '../../src/http/failure-reasons.js';
import type { ContractAction } from '../../src/simulator/oracle.js';
import type { Random } from '../../src/simulator/random.js';
import type { Rules } from '../../src/simulator/scenarios.js';
import { bondedStake, type Validator } from '../../src/simulator/validators.js';
import { changedState, INITIAL_CONFIG, type Phase } from '../problems/recording.js';
import type { Lag, ServedChain } from './served-chain.js';

/*
 * All that can break, with a size at random. What has to be heard of it is in expectations.ts.
 */

/** What one fault breaks, while it lasts. */
interface Effect {
  /** With the size. */
  readonly text: string;
  /** How the chain differs. */
  readonly rules?: Partial<Rules>;
  /** How the answers of the nodes and the exporter differ. */
  readonly phase?: Omit<Phase, 'minutes'>;
  readonly begin?: (served: ServedChain) => void;
  readonly end?: (served: ServedChain) => void;
  /** Called whenever time has passed. */
  readonly each?: (served: ServedChain) => void;
  /** The documents that are not current while it lasts, so that nothing else can be seen in them. */
  readonly blinds?: readonly DocumentName[];
  readonly lag?: Lag;
  /** The validators by rank. */
  readonly ranks?: ReadonlySet<number>;
  /** Of the token that the contract lacks, in lower case. */
  readonly tokenContract?: string;
  readonly documents?: readonly DocumentName[];
}

export interface Fault extends Effect {
  readonly kind: FaultKind;
  readonly fromMinute: number;
  readonly untilMinute: number;
}

interface FaultDefinition {
  /** How often it is drawn, compared with the others. */
  readonly weight: number;
  /** The shortest and the longest duration. */
  readonly minutes: readonly [number, number];
  readonly draw: (random: Random, served: ServedChain) => Effect;
}

/** The validator of `watch`, and a share of the stake that is often exceeded. */
export const WATCHED_RANK = 4;

const all = (served: ServedChain): readonly Validator[] => served.bridge.validators;

/** Validators at random with about this share of the stake. */
function drawRanks(
  random: Random,
  served: ServedChain,
  shares: readonly [number, number],
): Pick<Effect, 'ranks'> & { ranks: Set<number>; share: number } {
  const target = shares[0] + random.next() * (shares[1] - shares[0]);
  const validators = all(served);
  const total = bondedStake(validators);
  const ranks = new Set<number>();
  let share = 0;
  for (const { rank, stake } of shuffled(random, validators)) {
    // The watched one has faults of its own.
    if (rank === WATCHED_RANK || share + stake / total > target + 0.02) continue;
    ranks.add(rank);
    share += stake / total;
  }
  return { ranks, share };
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => [random.next(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);
}

function oneOf<T>(random: Random, items: readonly T[]): T {
  const item = items[random.between(0, items.length - 1)];
  if (item === undefined) throw new RangeError('there is nothing to choose from');
  return item;
}

const percent = (share: number): string => `${Math.round(100 * share)} %`;

/** Neither sign nor vote. */
const withoutValidators = (ranks: ReadonlySet<number>): Partial<Rules> => ({
  voters: ranks,
  valsetSigners: ranks,
  busiestTokenSigners: ranks,
});

const everyRank: ReadonlySet<number> = new Set(Array.from({ length: 20 }, (_, rank) => rank));

/** Validators claim what has not happened, as soon as there is no other event. */
function phantom(
  random: Random,
  served: ServedChain,
  what: string,
  actionOf: (served: ServedChain) => ContractAction,
): Effect {
  const { ranks, share } = drawRanks(random, served, random.chance(0.5) ? [0.004, 0.15] : [0.15, 0.5]);
  let nonce: number | undefined;
  const claim = (chain: ServedChain): void => {
    const { oracle, validators } = chain.bridge;
    const own = validators.filter(({ rank }) => ranks.has(rank));
    const next = oracle.lastObservedNonce + 1;
    if (nonce === undefined && oracle.claimPhantom(own, actionOf(served), chain.latest)) nonce = next;
  };
  return {
    text: `${percent(share)} claim ${what}`,
    ranks,
    each: claim,
    end: (chain) => {
      if (nonce !== undefined) chain.bridge.oracle.deletePhantom(nonce);
    },
  };
}

/** The part of the state that an attacker controls. */
const FOREIGN_MEMBERS = [{ power: '4294967295', external_address: `0x${'66'.repeat(20)}` }];
const foreignValset = (chain: ServedChain): ContractAction => ({
  kind: 'valset-update',
  valset: {
    nonce: String(chain.latest.height + 1000),
    members: FOREIGN_MEMBERS,
    height: '0',
    reward_amount: '0',
    reward_token: `0x${'00'.repeat(20)}`,
  },
});

const OTHER_ADDRESS = `0x${'0d'.repeat(20)}`;

function drawToken(
  random: Random,
  { bridge: { tokens } }: ServedChain,
  isFit: (origin: string, symbol: string) => boolean,
) {
  const token = oneOf(
    random,
    tokens.filter(({ origin, symbol }) => isFit(origin, symbol)),
  );
  return { symbol: token.symbol, tokenContract: token.contract.toLowerCase() };
}

/** A parameter changes for good. */
const governance = (text: string, begin: (served: ServedChain) => void): Effect => ({ text, begin });

const DOCUMENTS = [['module_state'], ['rate_limiter_input'], ['module_state', 'rate_limiter_input']] as const;

/** Every poll of these documents fails. */
function failing(random: Random, reason: FailureReason): Effect {
  const documents = oneOf(random, DOCUMENTS);
  const fails = { fails: reason };
  return {
    text: `${documents.join(' and ')}: ${reason}`,
    documents,
    blinds: documents,
    phase: {
      ...(documents.some((name) => name === 'module_state') && { bridge: fails }),
      ...(documents.some((name) => name === 'rate_limiter_input') && { crosschain: fails }),
    },
  };
}

function lagging(kind: Lag['kind'], minutes: number): Effect {
  const lag = { kind, minutes };
  return {
    text: `${minutes} min`,
    lag,
    blinds: kind === 'in turn' ? [] : ['module_state', 'rate_limiter_input'],
    begin: (served) => (served.lag = lag),
    end: (served) => (served.lag = undefined),
  };
}

const CHAIN_IDS = ['1', '56', '137', '8332', '8453', '42161', '43114', '900', '105'];

function drawChains(random: Random): readonly string[] {
  return shuffled(random, CHAIN_IDS).slice(0, oneOf(random, [1, 1, 1, 2, 3, CHAIN_IDS.length]));
}

const fault = (
  weight: number,
  minutes: FaultDefinition['minutes'],
  draw: FaultDefinition['draw'],
): FaultDefinition => ({ weight, minutes, draw });

const definitions = {
  // Validators
  'validators silent': fault(5, [20, 600], (random, served) => {
    const { ranks, share } = drawRanks(
      random,
      served,
      oneOf(random, [
        [0.01, 0.1],
        [0.15, 0.32],
        [0.36, 0.6],
      ] as const),
    );
    return { text: percent(share), rules: withoutValidators(ranks) };
  }),
  'watched validator silent': fault(2, [60, 600], () => {
    const ranks = new Set([WATCHED_RANK]);
    return { text: 'neither signs nor votes', rules: withoutValidators(ranks) };
  }),
  'validators slow': fault(2, [60, 600], (random, served) => {
    const { ranks, share } = drawRanks(random, served, [0.1, 0.6]);
    return { text: percent(share), rules: { slowRanks: ranks } };
  }),
  'oracle split': fault(3, [30, 400], (random, served) => {
    const { ranks, share } = drawRanks(
      random,
      served,
      oneOf(random, [
        [0.02, 0.2],
        [0.36, 0.6],
      ] as const),
    );
    return { text: `${percent(share)} claim something else`, rules: { disputing: ranks } };
  }),
  'deposit that does not exist': fault(2, [30, 400], (random, served) =>
    phantom(random, served, 'a deposit', (chain) => chain.bridge.drawDeposit(chain.bridge.tokens[0])),
  ),
  'batch that does not exist': fault(2, [30, 300], (random, served) =>
    phantom(random, served, 'a batch', ({ bridge: { tokens } }) => ({
      kind: 'withdraw',
      batchNonce: 99_999_999,
      tokenContract: tokens[0].contract,
    })),
  ),
  'validator set claimed that does not exist': fault(2, [30, 300], (random, served) =>
    phantom(random, served, 'a validator set', foreignValset),
  ),
  'validator set forged': fault(1, [1440, 1440], () => ({
    text: 'the contract has a validator set of an attacker',
    begin: (chain: ServedChain) =>
      chain.bridge.emit(foreignValset(chain), { timeMs: chain.nowMs, externalHeight: chain.external.height }),
  })),
  'validators jailed': fault(3, [15, 900], (random, served) => {
    const { ranks, share } = drawRanks(random, served, [0.02, 0.25]);
    return {
      text: percent(share),
      rules: withoutValidators(ranks),
      begin: (chain) => chain.setJailed(ranks, true),
      end: (chain) => chain.setJailed(ranks, false),
    };
  }),
  'watched validator jailed': fault(2, [15, 600], () => {
    const ranks = new Set([WATCHED_RANK]);
    return {
      text: 'and not in the newest set',
      rules: withoutValidators(ranks),
      begin: (chain) => chain.setJailed(ranks, true),
      end: (chain) => chain.setJailed(ranks, false),
    };
  }),
  'stakes shift': fault(1, [120, 600], () => ({
    text: 'by up to a half',
    rules: { stakeSpread: 0.5, stakeChangesPerMinute: 0.1 },
  })),
  'validator sets abandoned': fault(1, [60, 600], () => ({
    text: 'nobody signs one before the next',
    rules: { valsetSignChance: 0, stakeSpread: 0.5, stakeChangesPerMinute: 0.1 },
  })),
  'oracle silent': fault(3, [60, 900], () => ({
    text: 'nobody votes',
    rules: { voters: everyRank },
  })),
  // Withdrawals
  'relayers gone': fault(4, [60, 1000], () => ({
    text: 'nothing is relayed',
    rules: { relaysBatches: false, relaysValsets: false },
  })),
  'relayers poor': fault(2, [60, 600], () => ({ text: 'no batch is relayed', rules: { relaysBatches: false } })),
  // One transfer that fails, as with a token that is paused, fails its batch.
  'token that cannot be relayed': fault(2, [60, 1200], (random, served) => {
    const { symbol } = drawToken(random, served, () => true);
    return { text: symbol, rules: { unrelayableTokens: new Set([symbol]) } };
  }),
  'token without batches': fault(3, [30, 600], (random, served) => {
    const { symbol } = drawToken(random, served, () => true);
    return { text: symbol, rules: { tokensWithoutBatches: new Set([symbol]) } };
  }),
  'batch creator down': fault(2, [30, 400], () => ({ text: 'no token', rules: { batchesPerRun: 0 } })),
  'many withdrawals': fault(2, [20, 120], (random) => {
    const transfersPerMinute = random.between(2, 30);
    return { text: `${transfersPerMinute} a minute`, rules: { transfersPerMinute } };
  }),
  // The contract
  'contract paused': fault(2, [10, 600], () => ({
    text: 'accepts nothing',
    rules: { depositsPerMinute: 1e-9, relaysBatches: false, relaysValsets: false },
    phase: { contract: { contract: () => ({ paused: true }) } },
  })),
  'contract drained': fault(2, [60, 600], (random, served) => {
    const { symbol, tokenContract } = drawToken(random, served, (origin) => origin === 'external');
    const percentTaken = BigInt(random.between(1, 90));
    return {
      text: `${percentTaken} % of ${symbol}`,
      tokenContract,
      phase: {
        contract: {
          contract: ({ balances }) => ({
            balances: new Map(
              Array.from(balances, ([token, balance]) => [
                token,
                token === tokenContract ? (balance * (100n - percentTaken)) / 100n : balance,
              ]),
            ),
          }),
        },
      },
    };
  }),
  'contract upgraded': fault(1, [1440, 1440], () => ({
    text: 'another implementation',
    phase: { contract: { contract: () => ({ implementation: OTHER_ADDRESS }) } },
  })),
  'contract has another owner': fault(1, [1440, 1440], () => ({
    text: 'another owner',
    phase: { contract: { contract: () => ({ owner: OTHER_ADDRESS }) } },
  })),
  'contract requires more power': fault(1, [200, 800], () => ({
    text: '75 %',
    phase: { contract: { contract: () => ({ powerThreshold: 3_221_225_471n }) } },
  })),
  'node of the external chain behind': fault(1, [30, 300], (random) => {
    const lagSeconds = random.between(500, 5000);
    return { text: `${lagSeconds} s`, blinds: ['external_contract'], phase: { contract: { lagSeconds } } };
  }),
  'node of the external chain fails': fault(1, [5, 300], (random) => {
    const fails = oneOf(random, ['rate_limited', 'timeout', 'schema'] as const);
    return {
      text: fails,
      blinds: ['external_contract'],
      documents: ['external_contract'],
      phase: { contract: { fails } },
    };
  }),
  // Governance
  'parameter changed': fault(1, [60, 60], () =>
    governance('signed_valsets_window', (chain) => chain.bridge.changeParams({ signed_valsets_window: '400000' })),
  ),
  'admins changed': fault(1, [60, 60], () =>
    governance('another admin', (chain) => chain.bridge.changeParams({ admins: ['inj1other'] })),
  ),
  'blacklist changed': fault(1, [60, 60], () =>
    governance('another address', (chain) => chain.bridge.addToBlacklist(OTHER_ADDRESS)),
  ),
  'contract replaced': fault(1, [60, 60], () =>
    governance('another address', (chain) =>
      chain.bridge.changeParams({ bridge_external_address: `0x${'cc'.repeat(20)}` }),
    ),
  ),
  // Cross-chain transactions
  'chains stuck': fault(5, [15, 700], (random) => {
    const chainIds = drawChains(random);
    return { text: chainIds.join(', '), rules: { frozenChains: new Set(chainIds) } };
  }),
  'chains slow': fault(3, [60, 600], (random) => {
    const chainIds = drawChains(random);
    const factor = random.between(2, 12);
    const confirmationFactors = new Map(chainIds.map((id) => [id, factor]));
    return { text: `${chainIds.join(', ')}, ${factor} times`, rules: { confirmationFactors } };
  }),
  'chains switched off': fault(2, [15, 400], () => ({
    text: 'all',
    rules: { outboundEnabled: false },
  })),
  'cctxs missed': fault(3, [60, 600], (random) => {
    const maxLostCctxs = random.between(3, 12);
    return { text: `up to ${maxLostCctxs}`, rules: { lostShare: 0.1, maxLostCctxs } };
  }),
  // Real nodes list no more later on.
  'cctxs unlisted': fault(1, [1440, 1440], () => ({
    text: 'on Bitcoin',
    rules: { lostShare: 0.5, maxLostCctxs: 8, losesOn: 'bitcoin', listedNoncesBelow: 3, cctxsPerMinute: 3 },
  })),
  // Its transactions are sent first, the old missed ones are gone, and the nonces begin at 0. See `timesOf` in days.ts.
  'signers change their key': fault(2, [60, 60], () => ({ text: 'announced' })),
  'cctxs aborted': fault(1, [10, 10], (random) => {
    const chainId = oneOf(random, CHAIN_IDS);
    return {
      text: chainId,
      begin: (chain) => chain.crosschain.abortPending(chainId, chain.latest),
    };
  }),
  'many cctxs': fault(2, [20, 180], (random) => {
    const cctxsPerMinute = random.between(3, 150);
    return { text: `${cctxsPerMinute} a minute`, rules: { cctxsPerMinute } };
  }),
  // The hub and its nodes
  'hub halted': fault(2, [5, 240], () => ({ text: 'no blocks', blinds: ['module_state', 'rate_limiter_input'] })),
  'node does not answer': fault(4, [2, 240], (random) =>
    failing(random, oneOf(random, ['connect', 'timeout', 'status', 'aborted', 'not_json', 'dns'] as const)),
  ),
  'node refuses': fault(2, [2, 120], (random) =>
    failing(random, oneOf(random, ['unauthorized', 'bad_request'] as const)),
  ),
  'node limits': fault(1, [2, 60], (random) => failing(random, 'rate_limited')),
  'document too large for the node': fault(1, [5, 120], (random) => failing(random, 'response_too_large_upstream')),
  'node stuck': fault(2, [5, 240], () => ({
    text: 'the same block',
    blinds: ['module_state', 'rate_limiter_input', 'external_contract'],
    phase: { frozen: true },
  })),
  'node behind': fault(3, [20, 240], (random) => lagging('behind', random.between(2, 180))),
  'node rolled back': fault(2, [30, 240], (random) => lagging('rolled back', random.between(10, 180))),
  'nodes in turn': fault(3, [30, 400], (random) => lagging('in turn', random.between(1, 10))),
  'queries refused': fault(2, [20, 400], () => ({
    text: 'of validators',
    phase: { queries: (path, response) => (path.includes('/validators/') ? { ...response, status: 403 } : response) },
  })),
  'field missing': fault(2, [5, 120], (random) => {
    const field = oneOf(random, [
      'batches',
      'valsets',
      'attestations',
      'unbatched_transfers',
      'last_outgoing_batch_id',
    ]);
    return { text: field, blinds: ['module_state'], phase: { bridge: changedState(() => ({ [field]: undefined })) } };
  }),
  // The exporter
  'exporter restarted': fault(4, [2, 4], () => ({
    text: 'a new process',
    blinds: ['module_state', 'rate_limiter_input', 'external_contract'],
    phase: { exporterDown: true },
  })),
  'exporter down': fault(2, [10, 120], () => ({
    text: 'no process',
    blinds: ['module_state', 'rate_limiter_input', 'external_contract'],
    phase: { exporterDown: true },
  })),
  'configuration reloaded': fault(2, [2, 2], () => ({
    text: 'the same targets',
    phase: { config: { ...INITIAL_CONFIG, hash: 2 } },
  })),
};

export type FaultKind = keyof typeof definitions;

export const faultKinds = Object.keys(definitions) as readonly FaultKind[];

export const definitionOf = (kind: FaultKind): FaultDefinition => definitions[kind];
