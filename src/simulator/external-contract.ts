import type { ContractAction } from './oracle.js';
import type { Token, Tokens } from './token-model.js';

/** Share of the power that the contract requires, of 2^32 - 1. */
const POWER_THRESHOLD = 2_834_678_415n;

/** Initial circulation, as a multiple of the largest amount that a user sends. */
const INITIAL_AMOUNTS = 1_000_000n;

/** Older blocks are not served. */
const KEPT_STATES = 200;

/** The contract of the bridge after a block of the external chain. */
export interface ContractState {
  readonly eventNonce: number;
  readonly valsetNonce: number;
  readonly powerThreshold: bigint;
  readonly paused: boolean;
  readonly owner: string;
  readonly implementation: string;
  /** By token contract, in lower case. */
  readonly batchNonces: ReadonlyMap<string, number>;
  readonly balances: ReadonlyMap<string, bigint>;
}

/** The contract on the external chain. It changes with each event; the hub learns of that later. */
export class ExternalContract {
  /** From which height on each state holds, oldest first. */
  #states: readonly { readonly height: number; readonly state: ContractState }[];
  /** Amounts minted for observed deposits, less amounts paid out by the contract. */
  readonly #minted: Map<Token, bigint>;

  constructor(tokens: Tokens, eventNonce: number, valsetNonce: number, address: string) {
    const externalTokens = tokens.filter(({ origin }) => origin === 'external');
    const amounts = externalTokens.map((token): [Token, bigint] => [token, initialAmount(token)]);
    this.#minted = new Map(amounts);
    const state: ContractState = {
      eventNonce,
      valsetNonce,
      powerThreshold: POWER_THRESHOLD,
      paused: false,
      // Without random numbers, so that the traffic of a chain does not depend on them.
      owner: `0x0000${address.slice(6).toLowerCase()}`,
      implementation: `0x1111${address.slice(6).toLowerCase()}`,
      batchNonces: new Map(),
      balances: new Map(amounts.map(([{ contract }, amount]) => [contract.toLowerCase(), amount])),
    };
    this.#states = [{ height: 0, state }];
  }

  /** The state after a block; `undefined` for a block that is too old. */
  stateAt(height: number): ContractState | undefined {
    return this.#states.findLast((entry) => entry.height <= height)?.state;
  }

  /** Executes an action. `paidOut` is the amount of a batch that leaves the contract. */
  apply(action: ContractAction, height: number, paidOut = 0n): void {
    const before = this.#states.at(-1)?.state;
    if (before === undefined) throw new RangeError('the contract has no state');
    const state = { ...before, eventNonce: before.eventNonce + 1, ...changesBy(action, before, paidOut) };
    this.#states = [...this.#states.slice(-KEPT_STATES), { height, state }];
    if (action.kind === 'withdraw') this.#addMinted(action.tokenContract, -paidOut);
  }

  /** The hub has observed a deposit. */
  mint(tokenContract: string, amount: bigint): void {
    this.#addMinted(tokenContract, amount);
  }

  /**
   * The supply on the hub by denom, in lower case. `held` are the burned amounts of transfers that the contract has not
   * executed.
   */
  supplies(held: ReadonlyMap<Token, bigint>): ReadonlyMap<string, bigint> {
    return new Map(
      Array.from(this.#minted, ([token, minted]) => [
        `peggy${token.contract.toLowerCase()}`,
        minted - (held.get(token) ?? 0n),
      ]),
    );
  }

  #addMinted(tokenContract: string, amount: bigint): void {
    for (const [token, minted] of this.#minted) {
      if (token.contract === tokenContract) this.#minted.set(token, minted + amount);
    }
  }
}

function changesBy(action: ContractAction, before: ContractState, paidOut: bigint): Partial<ContractState> {
  const add = (tokenContract: string, amount: bigint): ContractState['balances'] => {
    const token = tokenContract.toLowerCase();
    const balance = before.balances.get(token);
    return balance === undefined ? before.balances : new Map([...before.balances, [token, balance + amount]]);
  };
  switch (action.kind) {
    case 'deposit':
      return { balances: add(action.tokenContract, BigInt(action.amount)) };
    case 'valset-update':
      return { valsetNonce: Number(action.valset.nonce) };
    case 'withdraw': {
      const token = action.tokenContract.toLowerCase();
      const nonce = Math.max(before.batchNonces.get(token) ?? 0, action.batchNonce);
      return {
        batchNonces: new Map([...before.batchNonces, [token, nonce]]),
        balances: add(action.tokenContract, -paidOut),
      };
    }
  }
}

function initialAmount({ maxCoins, decimals }: Token): bigint {
  return BigInt(maxCoins) * INITIAL_AMOUNTS * 10n ** BigInt(decimals);
}
