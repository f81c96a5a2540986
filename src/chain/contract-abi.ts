import { keccak_256 } from '@noble/hashes/sha3.js';

/*
 * The read functions of the bridge contract, of its tokens and of Multicall3. Each has at most one argument, an
 * address, and returns one word of 32 bytes. `aggregate3` of Multicall3 calls them all at one block. A library for all
 * of the ABI would take 14 MiB of memory.
 */

/** The word in a result as hexadecimal digits; `undefined` for another result. */
function readWord(result: string): string | undefined {
  return /^0x[\da-f]{64}$/i.test(result) ? result.slice(2).toLowerCase() : undefined;
}

function decodeInteger(result: string): bigint | undefined {
  const word = readWord(result);
  return word === undefined ? undefined : BigInt(`0x${word}`);
}

function decodeBoolean(result: string): boolean | undefined {
  const value = decodeInteger(result);
  return value === 0n || value === 1n ? value === 1n : undefined;
}

function decodeAddress(result: string): string | undefined {
  const [, digits] = /^0{24}(.{40})$/.exec(readWord(result) ?? '') ?? [];
  return digits === undefined ? undefined : `0x${digits}`;
}

/** The selectors are the first bytes of the Keccak hash of the signature. */
const functions = {
  getChainId: { selector: '0x3408e470', decode: decodeInteger },
  getBlockNumber: { selector: '0x42cbb15c', decode: decodeInteger },
  /** Unix seconds. */
  getCurrentBlockTimestamp: { selector: '0x0f28c97d', decode: decodeInteger },
  state_lastEventNonce: { selector: '0x73b20547', decode: decodeInteger },
  state_lastValsetNonce: { selector: '0xb56561fe', decode: decodeInteger },
  state_powerThreshold: { selector: '0xe5a2b5d2', decode: decodeInteger },
  paused: { selector: '0x5c975abb', decode: decodeBoolean },
  owner: { selector: '0x8da5cb5b', decode: decodeAddress },
  /** The nonce of the last batch of a token. */
  lastBatchNonce: { selector: '0x011b2174', decode: decodeInteger },
  /** The balance of an account in a token. */
  balanceOf: { selector: '0x70a08231', decode: decodeInteger },
} as const;

export type ContractFunction = keyof typeof functions;

/** The data of a call. `address` is the argument of the function, if it has one. */
export function encodeCall(name: ContractFunction, address = ''): string {
  const { selector } = functions[name];
  return address === '' ? selector : selector + encodeWord(address);
}

export type FunctionResult<Name extends ContractFunction> = ReturnType<(typeof functions)[Name]['decode']>;

/** `undefined` for a result of another type. */
export function decodeResult<Name extends ContractFunction>(name: Name, result: string): FunctionResult<Name> {
  // TypeScript does not relate the decoder to the name.
  return functions[name].decode(result) as FunctionResult<Name>;
}

/** An address, or a number. */
function encodeWord(value: string | number): string {
  return (typeof value === 'number' ? value.toString(16) : value.slice(2).toLowerCase()).padStart(64, '0');
}

/** On Ethereum, Sepolia and most other chains. */
export const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11';

const AGGREGATE3 = '0x82ad56cb';

/** A call of a function of a contract. */
export interface Call {
  readonly to: string;
  readonly data: string;
}

/** The data of `aggregate3((address target, bool allowFailure, bytes callData)[])`, in which each call may fail. */
export function encodeCalls(calls: readonly Call[]): string {
  const rows = calls.map(({ to, data }) => {
    const bytes = data.slice(2);
    const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0');
    return [to, 1, 3 * 32, bytes.length / 2].map(encodeWord).join('') + padded;
  });
  // Offsets count from the first of them.
  const offsets = rows.map((_row, index) => 32 * rows.length + rows.slice(0, index).join('').length / 2);
  return AGGREGATE3 + [32, rows.length, ...offsets].map(encodeWord).join('') + rows.join('');
}

/**
 * The results in the result of `aggregate3`, by contract and data of each call in `data`; `undefined` for a call that
 * has failed. Returns no map if the result is not of these calls.
 */
export function decodeResults(data: string, result: string): ReadonlyMap<string, string | undefined> | undefined {
  const calls = data.startsWith(AGGREGATE3) ? decodeRows(data.slice(AGGREGATE3.length), 2) : undefined;
  // (bool success, bytes returnData)[]
  const results = calls && decodeRows(result.slice(2), 1);
  if (results?.length !== calls?.length || calls === undefined) return undefined;
  return new Map(
    calls.map(({ word: to, bytes }, index) => {
      const { word: success, bytes: returned } = results?.[index] ?? { word: '', bytes: '' };
      return [callKey({ to: `0x${to.slice(24)}`, data: bytes }), BigInt(`0x${success}`) === 1n ? returned : undefined];
    }),
  );
}

export function callKey({ to, data }: Call): string {
  return `${to} ${data}`;
}

/** More calls than a poll has. */
const MAX_ROWS = 100;
/** Longer than the data of a call and than a result. */
const MAX_ROW_BYTES = 64;

/**
 * The first word and the bytes of the rows of a list of tuples: `words` of 32 bytes, then bytes. `undefined` for
 * anything else.
 */
function decodeRows(digits: string, words: number): readonly { word: string; bytes: string }[] | undefined {
  const data = Buffer.from(digits, 'hex');
  // Of a number above 2^64 only the last bytes are read: it is no offset or length of a valid list.
  const numberAt = (at: number): number => Number(data.readBigUInt64BE(at + 24));
  try {
    const list = numberAt(0);
    const count = numberAt(list);
    if (count > MAX_ROWS) return undefined;
    return Array.from({ length: count }, (_, index) => {
      const row = list + 32 + numberAt(list + 32 + 32 * index);
      const bytes = row + numberAt(row + 32 * words);
      const length = Math.min(numberAt(bytes), MAX_ROW_BYTES);
      return {
        word: data.toString('hex', row, row + 32),
        bytes: `0x${data.toString('hex', bytes + 32, bytes + 32 + length)}`,
      };
    });
  } catch (error) {
    // An offset beyond the end.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** EIP-1967: where a proxy stores the address of its implementation. */
export const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';

/** Decodes the slot of the implementation; empty if the contract is no such proxy. */
export function decodeSlot(result: string): string | undefined {
  const address = decodeAddress(result);
  return address === `0x${'0'.repeat(40)}` ? '' : address;
}

/** The address with the upper and lower case of EIP-55. */
export function checksumAddress(address: string): string {
  const digits = address.slice(2).toLowerCase();
  const hash = Buffer.from(keccak_256(Buffer.from(digits))).toString('hex');
  return `0x${Array.from(digits, (digit, index) => ((hash[index] ?? '') >= '8' ? digit.toUpperCase() : digit)).join('')}`;
}
