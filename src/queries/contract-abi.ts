import { addr } from 'micro-eth-signer';
import { createContract } from 'micro-eth-signer/abi.js';
import { asDecimalString, type DecimalString } from '../chain/numeral.js';

/*
 * The read functions of the bridge contract and of its tokens, encoded and decoded by a library. Loaded by abi-loader.ts, only where
 * an external chain is polled.
 */

const uint256 = [{ type: 'uint256' }] as const;
const read = { type: 'function' } as const;

const contract = createContract([
  { ...read, name: 'state_lastEventNonce', inputs: [], outputs: uint256 },
  { ...read, name: 'state_lastValsetNonce', inputs: [], outputs: uint256 },
  { ...read, name: 'state_powerThreshold', inputs: [], outputs: uint256 },
  { ...read, name: 'paused', inputs: [], outputs: [{ type: 'bool' }] },
  { ...read, name: 'owner', inputs: [], outputs: [{ type: 'address' }] },
  { ...read, name: 'lastBatchNonce', inputs: [{ name: 'token', type: 'address' }], outputs: uint256 },
  { ...read, name: 'balanceOf', inputs: [{ name: 'account', type: 'address' }], outputs: uint256 },
] as const);

/** What a function returns; `undefined` for bytes that are not its result, for which the library throws. */
function valueOrInvalid<Raw, Value>(decode: (bytes: Uint8Array) => Raw, convert: (raw: Raw) => Value) {
  return (bytes: Uint8Array): Value | undefined => {
    try {
      return convert(decode(bytes));
    } catch {
      return undefined;
    }
  };
}

const integer = (decode: (bytes: Uint8Array) => bigint) =>
  valueOrInvalid(decode, (value) => asDecimalString(String(value)));

const lowerCase = (text: string): string => text.toLowerCase();

const decoders = {
  state_lastEventNonce: integer(contract.state_lastEventNonce.decodeOutput),
  state_lastValsetNonce: integer(contract.state_lastValsetNonce.decodeOutput),
  state_powerThreshold: integer(contract.state_powerThreshold.decodeOutput),
  lastBatchNonce: integer(contract.lastBatchNonce.decodeOutput),
  balanceOf: integer(contract.balanceOf.decodeOutput),
  paused: valueOrInvalid(contract.paused.decodeOutput, (value) => value),
  owner: valueOrInvalid(contract.owner.decodeOutput, lowerCase),
} satisfies Readonly<Record<ContractFunction, (bytes: Uint8Array) => DecimalString | boolean | string | undefined>>;

export type ContractFunction = keyof typeof contract;

/** The data of a call. `address` is the argument of the functions that have one. */
export function encodeCall(name: ContractFunction, address = ''): string {
  switch (name) {
    case 'lastBatchNonce':
    case 'balanceOf':
      return hex(contract[name].encodeInput(address));
    default:
      return hex(contract[name].encodeInput());
  }
}

export type ResultOf<Name extends ContractFunction> = ReturnType<(typeof decoders)[Name]>;

/** Decodes the result of a call, a string of hexadecimal digits; `undefined` if it is not one of the function. */
export function decodeResult<Name extends ContractFunction>(name: Name, result: unknown): ResultOf<Name> {
  const bytes = bytesOf(result);
  // TypeScript does not relate the decoder to the name.
  return (bytes && decoders[name](bytes)) as ResultOf<Name>;
}

/** EIP-1967: where a proxy stores the address of its implementation. */
export const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';

/** Decodes the slot of the implementation; empty if the contract is no such proxy. */
export function decodeSlot(result: unknown): string | undefined {
  const bytes = bytesOf(result);
  if (bytes?.length !== 32) return undefined;
  const address = decoders.owner(bytes);
  return address === ZERO_ADDRESS ? '' : address;
}

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/** The address with the upper and lower case of EIP-55. */
export function checksumAddress(address: string): string {
  return addr.addChecksum(address);
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

function bytesOf(result: unknown): Uint8Array | undefined {
  if (typeof result !== 'string' || !/^0x(?:[\da-f]{2})*$/i.test(result)) return undefined;
  return new Uint8Array(Buffer.from(result.slice(2), 'hex'));
}
