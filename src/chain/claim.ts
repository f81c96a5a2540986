import { asDecimalString, type Numeral } from '../json/numeral.js';
import { numeralKey } from './decimal.js';

/** A varint of a 64-bit integer has at most ten bytes, of which the last one has only the 64th bit. */
const MAX_VARINT_BYTES = 10;
const MAX_TENTH_BYTE = 1;

/** A tag is a field number and a wire type in 32 bits. */
const MAX_TAG = 0xffff_ffffn;

const WireType = { varint: 0n, fixed64: 1n, lengthDelimited: 2n, fixed32: 5n } as const;

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
  let nonce: bigint | undefined;
  let offset = 0;
  while (offset < bytes.length) {
    const tag = readVarint(bytes, offset);
    if (tag === undefined || tag.value < 8n || tag.value > MAX_TAG) return undefined;
    const field = readField(bytes, tag.value & 7n, tag.end);
    if (field === undefined || field.end > bytes.length) return undefined;
    if (tag.value >> 3n === 1n) {
      if (field.value === undefined) return undefined;
      nonce = field.value;
    }
    offset = field.end;
  }
  return nonce === undefined ? undefined : numeralKey(asDecimalString(nonce.toString()));
}

/** The offset after a field, and its value if it is a varint. */
function readField(bytes: Uint8Array, wireType: bigint, start: number): { end: number; value?: bigint } | undefined {
  if (wireType === WireType.fixed64) return { end: start + 8 };
  if (wireType === WireType.fixed32) return { end: start + 4 };
  const varint = readVarint(bytes, start);
  if (varint === undefined || wireType === WireType.varint) return varint;
  return wireType === WireType.lengthDelimited ? { end: varint.end + Number(varint.value) } : undefined;
}

function readVarint(bytes: Uint8Array, start: number): { end: number; value: bigint } | undefined {
  let value = 0n;
  for (let length = 1; length <= MAX_VARINT_BYTES; length += 1) {
    const byte = bytes[start + length - 1];
    if (byte === undefined || (length === MAX_VARINT_BYTES && byte > MAX_TENTH_BYTE)) return undefined;
    value |= BigInt(byte & 0x7f) << BigInt(7 * (length - 1));
    if (byte < 0x80) return { end: start + length, value };
  }
  return undefined;
}
