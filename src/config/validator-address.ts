import { bech32 } from '@scure/base';
import { accept, describeValue, reject, valueType } from '../settings/value-types.js';

// Prefix, separator 1, data and a checksum of six characters; the alphabet has no 1, b, i and o (BIP 173).
const bech32Pattern = /^[!-~]{1,83}1[02-9ac-hj-np-z]{7,}$/;

/** An address of a validator: account, operator or external. */
export const validatorAddress = valueType(
  'address',
  'a bech32 address, such as inj1…, or 0x followed by 40 hexadecimal digits',
  (text) => {
    const lower = text.toLowerCase();
    if (/^0x[0-9a-f]{40}$/.test(lower)) return accept(lower);
    if (lower.length > 90 || !bech32Pattern.test(lower)) return reject();
    const problem = bech32Problem(lower);
    return problem === undefined ? accept(lower) : reject(`${describeValue(text)} ${problem}`);
  },
);

/** Why a bech32 address in lower case is invalid; `undefined` for a valid one. */
function bech32Problem(address: string): string | undefined {
  if (isValid(address)) return undefined;
  const [position, ...others] = wrongPositions(address);
  // The checksum finds every wrong character that is the only one. After several, a position would be a guess.
  return position === undefined || others.length > 0
    ? 'has a wrong checksum'
    : `has a wrong checksum: character ${position + 1} (${address.charAt(position)}) is wrong`;
}

const isValid = (address: string): boolean => bech32.decodeUnsafe(address) !== undefined;

const ALPHABETS = { prefix: 'abcdefghijklmnopqrstuvwxyz', data: 'qpzry9x8gf2tvdw0s3jn54khce6mua7l' };

/** The positions at which another character makes the address valid. */
function wrongPositions(address: string): readonly number[] {
  const separator = address.lastIndexOf('1');
  const isWrong = (position: number): boolean => {
    if (position === separator) return false;
    const [before, after] = [address.slice(0, position), address.slice(position + 1)];
    const alphabet = position < separator ? ALPHABETS.prefix : ALPHABETS.data;
    return Array.from(alphabet).some((character) => isValid(before + character + after));
  };
  return Array.from(address, (_character, position) => position).filter(isWrong);
}
