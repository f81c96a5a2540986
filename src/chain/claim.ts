import { decimalText, EXACT_LENGTH, integer, type Numeral } from './decimal.js';

/** A field of a protobuf message that ends where the message does not is malformed; so is a varint over 64 bits. */
const MAX_VARINT_BYTES = 10;
const UINT32 = 2 ** 32;
const UINT64 = 1n << 64n;

const WireType = { varint: 0, fixed64: 1, lengthDelimited: 2, fixed32: 5 } as const;

interface Varint {
  /** The nearest double, which every value that is used as a number is exactly. */
  readonly value: number;
  readonly end: number;
}

/**
 * The event nonce in the bytes of a claim: field 1, which is a varint in every kind of claim; the last one, as protobuf has it.
 * `undefined` when the bytes are not a well-formed message with that field.
 */
export function eventNonceInClaim(bytes: Uint8Array): Numeral | undefined {
  let nonce: Numeral | undefined;
  let at = 0;
  while (at < bytes.length) {
    const tag = readVarint(bytes, at);
    if (tag === undefined || tag.value < 8 || tag.value >= UINT32) return undefined;
    const isNonce = Math.floor(tag.value / 8) === 1;
    const wireType = tag.value % 8;
    if (isNonce && wireType !== WireType.varint) return undefined;
    if (wireType === WireType.varint) {
      const varint = readVarint(bytes, tag.end);
      if (varint === undefined) return undefined;
      if (isNonce) nonce = numeral(bytes, tag.end, varint);
      at = varint.end;
    } else {
      const end = endOfField(bytes, wireType, tag.end);
      if (end === undefined || end > bytes.length) return undefined;
      at = end;
    }
  }
  return nonce;
}

function endOfField(bytes: Uint8Array, wireType: number, at: number): number | undefined {
  switch (wireType) {
    case WireType.fixed64:
      return at + 8;
    case WireType.fixed32:
      return at + 4;
    case WireType.lengthDelimited: {
      const length = readVarint(bytes, at);
      return length && length.end + length.value;
    }
    default:
      return undefined;
  }
}

function readVarint(bytes: Uint8Array, start: number): Varint | undefined {
  const first = bytes[start];
  if (first !== undefined && first < 0x80) return { value: first, end: start + 1 };
  let value = 0;
  let scale = 1;
  for (let at = start; at < start + MAX_VARINT_BYTES; at += 1) {
    const byte = bytes[at];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * scale;
    scale *= 0x80;
    if (byte >= 0x80) continue;
    const end = at + 1;
    return Number.isSafeInteger(value) || exactVarint(bytes, start, end) < UINT64 ? { value, end } : undefined;
  }
  return undefined;
}

function numeral(bytes: Uint8Array, start: number, { value, end }: Varint): Numeral {
  return value < 10 ** EXACT_LENGTH ? value : decimalText(integer(exactVarint(bytes, start, end)));
}

function exactVarint(bytes: Uint8Array, start: number, end: number): bigint {
  return bytes.subarray(start, end).reduceRight((value, byte) => (value << 7n) | BigInt(byte & 0x7f), 0n);
}
