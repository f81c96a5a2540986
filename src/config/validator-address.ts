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
    return bech32.decodeUnsafe(lower) !== undefined
      ? accept(lower)
      : reject(`${describeValue(text)} has a wrong checksum`);
  },
);
