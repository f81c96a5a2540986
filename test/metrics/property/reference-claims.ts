import { field, integer, isMissing, number, string, Withdrawn, type Rational } from './exact.js';

/** The event nonce of an attestation: `event_nonce` of the claim, or field 1 of the protobuf message in `value`. */
export function eventNonce(attestation: unknown): Rational {
  const claim = field(attestation, 'claim');
  const named = field(claim, 'event_nonce');
  if (!isMissing(named) && named !== '') return number(named);
  const nonce = fieldOne(bytesOf(string(field(claim, 'value'))));
  if (nonce === undefined) throw new Withdrawn('the claim has no field 1');
  return integer(nonce);
}

function bytesOf(base64: string): readonly number[] {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64) throw new Withdrawn('not strict base64');
  return [...bytes];
}

/** The last field 1 of a protobuf message. Rejects a malformed message. */
function fieldOne(bytes: readonly number[]): bigint | undefined {
  let found: bigint | undefined;
  let offset = 0;
  const next = (): number => {
    const byte = bytes[offset];
    if (byte === undefined) throw new Withdrawn('the protobuf ends too early');
    offset += 1;
    return byte;
  };
  const skip = (length: number): void => {
    if (offset + length > bytes.length) throw new Withdrawn('the protobuf ends too early');
    offset += length;
  };
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = next();
      value += BigInt(byte % 128) << shift;
      if (byte < 128) return value;
    }
    throw new Withdrawn('a varint of more than ten bytes');
  };
  while (offset < bytes.length) {
    const tag = varint();
    const wireType = tag % 8n;
    if (wireType === 0n) {
      const value = varint();
      if (tag / 8n === 1n) found = value;
    } else if (wireType === 1n) skip(8);
    else if (wireType === 5n) skip(4);
    else if (wireType === 2n) skip(Number(varint()));
    else throw new Withdrawn(`wire type ${wireType}`);
  }
  return found;
}
