import { decimalText, EXACT_LENGTH, integer, type Numeral } from '../json/decimal.js';

/** A field of a protobuf message that ends where the message does not is malformed; so is a varint over 64 bits. */
const MAX_VARINT_BYTES = 10;
/** What the last of so many bytes may hold: the 64th bit. */
const MAX_LAST_BYTE = 1;
const UINT32 = 2 ** 32;

const WireType = { varint: 0, fixed64: 1, lengthDelimited: 2, fixed32: 5 } as const;

/**
 * The event nonce in the bytes of a claim: field 1, which is a varint in every kind of claim; the last one, as protobuf has it.
 * `undefined` when the bytes are not a well-formed message with that field.
 */
export function eventNonceInClaim(bytes: Uint8Array): Numeral | undefined {
  let nonce: Numeral | undefined;
  let at = 0;
  while (at < bytes.length) {
    const start = endOfVarint(bytes, at);
    if (start === undefined) return undefined;
    const tag = varint(bytes, at, start);
    if (tag < 8 || tag >= UINT32) return undefined;
    const isNonce = Math.floor(tag / 8) === 1;
    const wireType = tag % 8;
    if (isNonce && wireType !== WireType.varint) return undefined;
    const end = endOfField(bytes, wireType, start);
    if (end === undefined || end > bytes.length) return undefined;
    if (isNonce) nonce = numeral(bytes, start, end);
    at = end;
  }
  return nonce;
}

function endOfField(bytes: Uint8Array, wireType: number, at: number): number | undefined {
  switch (wireType) {
    case WireType.varint:
      return endOfVarint(bytes, at);
    case WireType.fixed64:
      return at + 8;
    case WireType.fixed32:
      return at + 4;
    case WireType.lengthDelimited: {
      const start = endOfVarint(bytes, at);
      return start === undefined ? undefined : start + varint(bytes, at, start);
    }
    default:
      return undefined;
  }
}

function endOfVarint(bytes: Uint8Array, start: number): number | undefined {
  for (let at = start; at < start + MAX_VARINT_BYTES; at += 1) {
    const byte = bytes[at];
    if (byte === undefined) return undefined;
    if (byte >= 0x80) continue;
    const end = at + 1;
    return end - start === MAX_VARINT_BYTES && byte > MAX_LAST_BYTE ? undefined : end;
  }
  return undefined;
}

/** About the value between two places; exactly when it is one that a double counts. */
function varint(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = end - 1; at >= start; at -= 1) value = value * 0x80 + ((bytes[at] ?? 0) & 0x7f);
  return value;
}

function numeral(bytes: Uint8Array, start: number, end: number): Numeral {
  const value = varint(bytes, start, end);
  return value < 10 ** EXACT_LENGTH ? value : decimalText(integer(exactVarint(bytes, start, end)));
}

function exactVarint(bytes: Uint8Array, start: number, end: number): bigint {
  return bytes.subarray(start, end).reduceRight((value, byte) => (value << 7n) | BigInt(byte & 0x7f), 0n);
}
