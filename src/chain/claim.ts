import type { Numeral } from '../json/numeral.js';
import { integer, numeralKey, toDecimalString } from './decimal.js';

/** A varint of a 64-bit integer has at most ten bytes, of which the last one has only the 64th bit. */
const MAX_VARINT_BYTES = 10;
const MAX_TENTH_BYTE = 1;

/** A tag is a field number and a wire type in 32 bits. */
const MAX_TAG = 0xffff_ffffn;

const WireType = { varint: 0, fixed64: 1, lengthDelimited: 2, fixed32: 5 } as const;

/**
 * The event nonce of a packed claim, a protobuf message in base64: field 1, a varint in every type of claim. When it repeats, the
 * last one counts. `undefined` unless the value is strict base64 of a well-formed message with that field.
 */
export function eventNonceOfPackedClaim(value: string): Numeral | undefined {
  const bytes = Buffer.from(value, 'base64');
  // Node.js ignores invalid characters and missing padding.
  return bytes.toString('base64') === value ? eventNonceOf(bytes) : undefined;
}

function eventNonceOf(bytes: Uint8Array): Numeral | undefined {
  let nonce: Numeral | undefined;
  let offset = 0;
  while (offset < bytes.length) {
    const tagEnd = endOfVarint(bytes, offset);
    if (tagEnd === undefined) return undefined;
    const tag = varint(bytes, offset, tagEnd);
    if (tag < 8n || tag > MAX_TAG) return undefined;
    const isNonce = tag >> 3n === 1n;
    const wireType = Number(tag & 7n);
    if (isNonce && wireType !== WireType.varint) return undefined;
    const end = endOfField(bytes, wireType, tagEnd);
    if (end === undefined || end > bytes.length) return undefined;
    if (isNonce) nonce = numeralKey(toDecimalString(integer(varint(bytes, tagEnd, end))));
    offset = end;
  }
  return nonce;
}

function endOfField(bytes: Uint8Array, wireType: number, start: number): number | undefined {
  switch (wireType) {
    case WireType.varint:
      return endOfVarint(bytes, start);
    case WireType.fixed64:
      return start + 8;
    case WireType.fixed32:
      return start + 4;
    case WireType.lengthDelimited: {
      const contentStart = endOfVarint(bytes, start);
      return contentStart === undefined ? undefined : contentStart + Number(varint(bytes, start, contentStart));
    }
    default:
      return undefined;
  }
}

function endOfVarint(bytes: Uint8Array, start: number): number | undefined {
  for (let offset = start; offset < start + MAX_VARINT_BYTES; offset += 1) {
    const byte = bytes[offset];
    if (byte === undefined) return undefined;
    if (byte >= 0x80) continue;
    const length = offset + 1 - start;
    return length === MAX_VARINT_BYTES && byte > MAX_TENTH_BYTE ? undefined : offset + 1;
  }
  return undefined;
}

function varint(bytes: Uint8Array, start: number, end: number): bigint {
  return bytes.subarray(start, end).reduceRight((value, byte) => (value << 7n) | BigInt(byte & 0x7f), 0n);
}
