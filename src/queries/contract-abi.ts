import { keccak_256 } from '@noble/hashes/sha3.js';

/*
 * The read functions of the bridge contract and of its tokens. Each has at most one argument, an address, and returns one word of 32 bytes. A
 * library for all of the ABI would take 14 MiB of memory.
 */

/** The word in a result as hexadecimal digits; `undefined` for another result. */
function wordOf(result: unknown): string | undefined {
  return typeof result === 'string' && /^0x[\da-f]{64}$/i.test(result) ? result.slice(2).toLowerCase() : undefined;
}

function decodeInteger(result: unknown): bigint | undefined {
  const word = wordOf(result);
  return word === undefined ? undefined : BigInt(`0x${word}`);
}

function decodeBoolean(result: unknown): boolean | undefined {
  const value = decodeInteger(result);
  return value === 0n || value === 1n ? value === 1n : undefined;
}

function decodeAddress(result: unknown): string | undefined {
  const [, digits] = /^0{24}(.{40})$/.exec(wordOf(result) ?? '') ?? [];
  return digits === undefined ? undefined : `0x${digits}`;
}

/** The selectors are the first bytes of the Keccak hash of the signature. */
const functions = {
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
  return address === '' ? selector : selector + address.slice(2).toLowerCase().padStart(64, '0');
}

export type ResultOf<Name extends ContractFunction> = ReturnType<(typeof functions)[Name]['decode']>;

/** `undefined` for a result of another type. */
export function decodeResult<Name extends ContractFunction>(name: Name, result: unknown): ResultOf<Name> {
  // TypeScript does not relate the decoder to the name.
  return functions[name].decode(result) as ResultOf<Name>;
}

/** EIP-1967: where a proxy stores the address of its implementation. */
export const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';

/** Decodes the slot of the implementation; empty if the contract is no such proxy. */
export function decodeSlot(result: unknown): string | undefined {
  const address = decodeAddress(result);
  return address === `0x${'0'.repeat(40)}` ? '' : address;
}

/** The address with the upper and lower case of EIP-55. */
export function checksumAddress(address: string): string {
  const digits = address.slice(2).toLowerCase();
  const hash = Buffer.from(keccak_256(Buffer.from(digits))).toString('hex');
  return `0x${Array.from(digits, (digit, index) => ((hash[index] ?? '') >= '8' ? digit.toUpperCase() : digit)).join('')}`;
}
