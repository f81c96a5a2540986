/** A field of a protobuf message that ends where the message does not is malformed; so is a varint over 64 bits. */
const MAX_VARINT_BYTES = 10;
const UINT64 = 1n << 64n;

const WireType = { varint: 0, fixed64: 1, lengthDelimited: 2, fixed32: 5 } as const;

interface Varint {
  readonly value: bigint;
  readonly end: number;
}

/**
 * The event nonce in the bytes of a claim: field 1, which is a varint in every kind of claim; the last one, as protobuf has it.
 * `undefined` when the text is not strict base64 or the bytes are not a well-formed message with that field.
 */
export function eventNonceInClaim(base64: string): bigint | undefined {
  const bytes = Buffer.from(base64, 'base64');
  // Node's decoder takes anything; only strict base64 survives the way back.
  if (bytes.toString('base64') !== base64) return undefined;
  let nonce: bigint | undefined;
  let at = 0;
  while (at < bytes.length) {
    const tag = readVarint(bytes, at);
    if (tag === undefined || tag.value >> 3n === 0n || tag.value >= 1n << 32n) return undefined;
    const isNonce = tag.value >> 3n === 1n;
    const wireType = Number(tag.value & 7n);
    if (isNonce && wireType !== WireType.varint) return undefined;
    if (wireType === WireType.varint) {
      const varint = readVarint(bytes, tag.end);
      if (varint === undefined) return undefined;
      if (isNonce) nonce = varint.value;
      at = varint.end;
    } else {
      const end = endOfField(bytes, wireType, tag.end);
      if (end === undefined || end > bytes.length) return undefined;
      at = end;
    }
  }
  return nonce;
}

function endOfField(bytes: Buffer, wireType: number, at: number): number | undefined {
  switch (wireType) {
    case WireType.fixed64:
      return at + 8;
    case WireType.fixed32:
      return at + 4;
    case WireType.lengthDelimited: {
      const length = readVarint(bytes, at);
      return length && length.end + Number(length.value);
    }
    default:
      return undefined;
  }
}

function readVarint(bytes: Buffer, start: number): Varint | undefined {
  let value = 0n;
  for (let index = 0; index < MAX_VARINT_BYTES; index += 1) {
    const byte = bytes[start + index];
    if (byte === undefined) return undefined;
    value |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) return value < UINT64 ? { value, end: start + index + 1 } : undefined;
  }
  return undefined;
}
