import { type Action, Agenda } from './agenda.js';
import { HOUR_MS, MINUTE_MS, type Block, type BlockClock } from './block.js';
import { BridgeModule } from './bridge-module.js';
import type { Month } from './mainnet-month.js';
import { Random } from './random.js';
import type { Rules } from './scenarios.js';
import { amountOfDollars, drawAmount, minBatchFee, type Token } from './token-model.js';
import { BASE_STAKES, belongsTo, type Validator } from './validators.js';
import type { LiveBatch } from './withdrawals.js';

/** The hub assumes block times of years ago. */
const PARAMETERS = {
  signedWindow: 500_000,
  signedClaimsWindow: 25_000,
  targetBatchTimeoutMs: 12 * HOUR_MS,
  averageBlockMs: 2000,
  averageExternalBlockMs: 15_000,
} as const;
/** The upgrade raises the window that no longer has an effect. */
const UPGRADED_PARAMS = { signed_claims_window: '500000' };

/** The last validator has 0.4 % of the stake. */
const STAKES: readonly number[] = [...BASE_STAKES.slice(0, -2), 9_000, 3_800];
/** They sign, but their orchestrators do not read the external chain. */
const RANKS_WITHOUT_VOTES: ReadonlySet<number> = new Set([10, 15]);
const ABSENT_RANK = 16;
const PHANTOM_RANK = 19;
/** Together they have more power than the contract can do without. */
const JAILED_RANKS: ReadonlySet<number> = new Set([0, 1, 2, 12]);

const SLOW_CHANCE = 0.1;

/** The orchestrator software signs, votes and requests batches once a minute. */
const LOOP_MS = MINUTE_MS;
const RELAYERS = 3;
const RELAYER_LOOP_MS = 5 * MINUTE_MS;
/** Time after which a relayer submits a batch or validator set that no other relayer has submitted. */
const RELAY_OFFSET_MS = 5 * MINUTE_MS;
const BATCH_SIZE = 100;

/** Tokens in which nobody pays such a fee. */
const DUST_TOKENS: ReadonlySet<string> = new Set(['meme', 'osmo', 'gold']);
const DUST_SHARE = 0.06;
const USUAL_DUST_TRANSFERS = 12;
/** Share of transfers, besides dust, whose fee alone is enough for a batch. */
const PROMPT_SHARE = 0.65;
const DUST_CANCELS_PER_MINUTE = 2.5 / (18 * 60);
/** Users request batches whose fees do not pay for the relay. */
const POOR_BATCHES_PER_MINUTE = 1 / (24 * 60);
const POOR_BATCH_MS = 3 * HOUR_MS;

/** Slow, because nobody pays for the relay of validator sets. */
const VALSET_RELAY_HOURS: readonly [number, number] = [8, 30];

/** A quiet bridge with the habits of a main network. Users and validators act independently, with long pauses. */
export class MainnetBridge {
  readonly module: BridgeModule;
  readonly #random: Random;
  readonly #clock: BlockClock;
  readonly #agenda = new Agenda();
  readonly #dustTokens: readonly Token[];
  /** The nonce of the last batch that the contract has executed, by token. */
  readonly #executedNonces = new Map<Token, number>();
  /** The first validator set that a returned validator signs. */
  readonly #firstSignedNonces = new Map<Validator, number>();
  readonly #down = new Set<Validator>();
  #valsetRelayAtMs = Infinity;

  constructor(seed: number, clock: BlockClock, start: Block, servedFromMs: number, month: Month) {
    const random = new Random(seed, 'bridge');
    this.#random = random;
    this.#clock = clock;
    this.module = new BridgeModule(random, PARAMETERS, STAKES, start, clock.blockTimeMs);
    this.#dustTokens = this.module.tokens.filter(({ symbol }) => DUST_TOKENS.has(symbol));
    for (let added = 0; added < USUAL_DUST_TRANSFERS; added += 1) this.#addDust();
    this.#addHabits(start.timeMs, servedFromMs);
    this.#addRareEvents(month);
  }

  get nextMs(): number {
    return this.#agenda.nextMs;
  }

  step(block: Block, rules: Rules): void {
    this.#agenda.run(block, rules);
    this.module.signBlock(block, (validator) => !this.#down.has(validator) && !rules.absentRanks.has(validator.rank));
    this.module.endBlock(block);
  }

  #addHabits(startMs: number, servedFromMs: number): void {
    const random = this.#random;
    const { module } = this;
    const addLoop = (periodMs: number, act: Action): void =>
      this.#agenda.every(startMs + random.between(0, periodMs - 1), periodMs, act);
    const addRandom = (rate: (rules: Rules) => number, act: Action): void =>
      this.#agenda.atRandom(startMs, random, rate, act);
    for (const validator of module.validators) {
      addLoop(LOOP_MS, (block, rules) => this.#runOrchestrator(validator, block, rules));
    }
    for (let relayer = 0; relayer < RELAYERS; relayer += 1) {
      addLoop(RELAYER_LOOP_MS, (block, rules) => this.#runRelayer(block, rules));
    }
    addLoop(LOOP_MS, (block, rules) => this.#runBatchCreator(block, rules));
    addRandom(
      (rules) => rules.transfersPerMinute,
      (block, rules, dueMs) => this.#addTransfer(dueMs, block, rules),
    );
    addRandom(
      (rules) => rules.depositsPerMinute,
      // Deposits go on while the hub makes no blocks.
      (_block, _rules, timeMs) => module.deposit({ timeMs, externalHeight: this.#clock.externalHeightAt(timeMs) }),
    );
    addRandom(
      (rules) => rules.stakeChangesPerMinute,
      (block, { stakeSpread }) => {
        module.valsets.changeStake(stakeSpread);
        const before = module.valsets.newestNonce;
        module.valsets.createIfPowerChanged(block.height);
        if (module.valsets.newestNonce !== before) this.#planValsetRelay(block);
      },
    );
    addRandom(
      () => DUST_CANCELS_PER_MINUTE,
      () => this.#cancelDust(),
    );
    addRandom(
      () => POOR_BATCHES_PER_MINUTE,
      (block) => this.#requestPoorBatch(module.tokens, block),
    );
    this.#agenda.once(servedFromMs - POOR_BATCH_MS, (block) => this.#requestPoorBatch(this.#dustTokens, block));
  }

  #addRareEvents({ phantomClaimsMs, absence, upgrade, jailing }: Month): void {
    // Later, if there is a real event just now.
    for (const claimMs of phantomClaimsMs) this.#agenda.until(claimMs, (block) => this.#claimPhantom(block));
    this.#addAbsence(absence);
    this.#agenda.once(upgrade.untilMs, () => this.module.changeParams(UPGRADED_PARAMS));
    const jailed = this.module.validators.filter(({ rank }) => JAILED_RANKS.has(rank));
    this.#agenda.once(jailing.fromMs, (block) => {
      // Relayers of a validator set wait for the new sets.
      this.#valsetRelayAtMs = Infinity;
      this.setJailed(JAILED_RANKS, true, block);
    });
    for (const [index, validator] of jailed.entries()) {
      this.#agenda.once(jailing.untilMs + index * MINUTE_MS, (block) => this.#unjail(validator, block));
    }
  }

  #addAbsence({ fromMs, valsetMs, jailedMs, untilMs }: Month['absence']): void {
    const absent = this.#rankedValidator(ABSENT_RANK);
    this.#agenda.once(fromMs, () => this.#down.add(absent));
    this.#agenda.once(valsetMs, (block) => this.#createValset(block));
    this.#agenda.once(jailedMs, (block) => {
      absent.isJailed = true;
      this.#createValset(block);
    });
    this.#agenda.once(untilMs, (block) => {
      this.#down.delete(absent);
      this.#firstSignedNonces.set(absent, block.height);
      this.#unjail(absent, block);
    });
  }

  #unjail(validator: Validator, block: Block): void {
    validator.isJailed = false;
    this.#createValset(block);
  }

  /** Jails these validators, or lets them return. */
  setJailed(ranks: ReadonlySet<number>, isJailed: boolean, block: Block): void {
    for (const validator of this.module.validators) if (ranks.has(validator.rank)) validator.isJailed = isJailed;
    this.#createValset(block);
  }

  #createValset(block: Block): void {
    this.module.valsets.create(block.height);
    this.#planValsetRelay(block);
  }

  #planValsetRelay({ timeMs }: Block): void {
    const relayAtMs = timeMs + this.#random.between(...VALSET_RELAY_HOURS) * HOUR_MS;
    this.#valsetRelayAtMs = Math.min(this.#valsetRelayAtMs, relayAtMs);
  }

  /** Signs validator sets and the newest unsigned batch, and votes. */
  #runOrchestrator(validator: Validator, block: Block, rules: Rules): void {
    if (this.#down.has(validator)) return;
    if (rules.slowRanks.has(validator.rank) && !this.#random.chance(SLOW_CHANCE)) return;
    const { valsets, withdrawals, oracle, tokens } = this.module;
    const signs = belongsTo(rules.valsetSigners, validator);
    const signsBusiestToken = belongsTo(rules.busiestTokenSigners, validator);
    if (signs) valsets.confirm(validator, rules.valsetSignChance, this.#firstSignedNonces.get(validator));
    withdrawals.confirmNewest(validator, (token) => (token === tokens[0] ? signsBusiestToken : signs));
    if (validator.isJailed || RANKS_WITHOUT_VOTES.has(validator.rank)) return;
    oracle.confirmEvents(block, rules.disputing.size > 0);
    oracle.vote(validator, rules, block.height);
  }

  /** Submits a validator set when its time has come, and a batch that is worth its gas. */
  #runRelayer(block: Block, rules: Rules): void {
    const { valsets, withdrawals } = this.module;
    if (rules.relaysValsets && block.timeMs >= this.#valsetRelayAtMs) {
      const valset = this.#isOldEnough(valsets.newestNonce, block) ? valsets.relay() : undefined;
      if (valset !== undefined) {
        this.module.emit({ kind: 'valset-update', valset }, block);
        this.#valsetRelayAtMs = Infinity;
      }
    }
    if (!rules.relaysBatches) return;
    const batch = withdrawals.batches.find(
      (signed) => !rules.unrelayableTokens.has(signed.token.symbol) && this.#isRelayable(signed, block, rules),
    );
    if (batch === undefined) return;
    batch.executed = true;
    this.#executedNonces.set(batch.token, batch.nonce);
    this.module.emit({ kind: 'withdraw', batchNonce: batch.nonce, tokenContract: batch.token.contract }, block);
  }

  #isRelayable(batch: LiveBatch, block: Block, rules: Rules): boolean {
    const { nonce, token, height, timeout, confirms, executed, fees } = batch;
    if (executed || timeout <= block.externalHeight || nonce <= (this.#executedNonces.get(token) ?? 0)) return false;
    return (
      this.#isOldEnough(height, block) && fees >= minimumFee(token, rules) && this.module.valsets.isQuorum(confirms)
    );
  }

  #isOldEnough(height: number, block: Block): boolean {
    return (block.height - height) * this.#clock.blockTimeMs >= RELAY_OFFSET_MS;
  }

  #runBatchCreator(block: Block, rules: Rules): void {
    if (rules.batchesPerRun === 0) return;
    for (const token of this.module.tokens) {
      if (rules.tokensWithoutBatches.has(token.symbol)) continue;
      if (this.module.withdrawals.waitingFees(token) >= minimumFee(token, rules)) this.#requestBatch(token, block);
    }
  }

  #requestBatch(token: Token, { height }: Block): void {
    this.module.withdrawals.requestBatch(token, BATCH_SIZE, height, this.module.batchTimeout(height));
  }

  #requestPoorBatch(tokens: readonly Token[], block: Block): void {
    const waiting = tokens.filter((token) => this.module.withdrawals.waitingFees(token) > 0n);
    const token = waiting[this.#random.between(0, waiting.length - 1)];
    if (token !== undefined) this.#requestBatch(token, block);
  }

  #addTransfer(dueMs: number, block: Block, rules: Rules): void {
    const random = this.#random;
    // Nobody can send anything while the hub makes no blocks.
    const isHalted = block.timeMs - dueMs > this.#clock.blockTimeMs;
    if (isHalted || this.module.withdrawals.unbatchedCount >= rules.maxUnbatchedTransfers) return;
    if (random.chance(DUST_SHARE)) return this.#addDust();
    const [first, ...others] = this.module.tokens.filter(({ symbol }) => !DUST_TOKENS.has(symbol));
    if (first === undefined) return;
    const token = random.pick([first, ...others]);
    const percent = random.chance(PROMPT_SHARE) ? random.between(102, 250) : random.between(20, 60);
    this.module.withdrawals.add(token, drawAmount(random, token), (minimumFee(token, rules) * BigInt(percent)) / 100n);
  }

  #addDust(): void {
    const token = this.#drawDustToken();
    const amount = amountOfDollars(token, this.#random.between(1, 9) / 100);
    this.module.withdrawals.add(token, amount, BigInt(this.#random.between(1, 9)));
  }

  #cancelDust(): void {
    const { unbatchedCount } = this.module.withdrawals;
    if (unbatchedCount <= USUAL_DUST_TRANSFERS) return;
    const token = this.#drawDustToken();
    this.module.withdrawals.cancelTransfer(token, minBatchFee(token));
  }

  #drawDustToken(): Token {
    const token = this.#dustTokens[this.#random.between(0, this.#dustTokens.length - 1)];
    if (token === undefined) throw new RangeError('there is no token for dust');
    return token;
  }

  #claimPhantom(block: Block): boolean {
    const deposit = this.module.drawDeposit(this.module.tokens[0]);
    return this.module.oracle.claimPhantom([this.#rankedValidator(PHANTOM_RANK)], deposit, block);
  }

  #rankedValidator(rank: number): Validator {
    const validator = this.module.validators[rank];
    if (validator === undefined) throw new RangeError(`there is no validator of rank ${rank}`);
    return validator;
  }
}

function minimumFee(token: Token, { priceFactors }: Rules): bigint {
  return minBatchFee(token, priceFactors.get(token.symbol));
}
