import { field, isMissing, number, text, whole, Withdrawn, type Exact } from './exact.js';

/** Event nonce of an attestation: named in the claim, or field 1 of its protobuf. */
export function eventNonce(attestation: unknown): Exact {
  const claim = field(attestation, 'claim');
  const named = field(claim, 'event_nonce');
  if (!isMissing(named) && named !== '') return number(named);
  const nonce = fieldOne(bytesOf(text(field(claim, 'value'))));
  if (nonce === undefined) throw new Withdrawn('the claim has no field 1');
  return whole(nonce);
}

function bytesOf(base64: string): readonly number[] {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64) throw new Withdrawn('not strict base64');
  return [...bytes];
}

/** The last field 1 of a protobuf message, which has to be well-formed to its end. */
function fieldOne(bytes: readonly number[]): bigint | undefined {
  let found: bigint | undefined;
  let at = 0;
  const next = (): number => {
    const byte = bytes[at];
    if (byte === undefined) throw new Withdrawn('the protobuf ends too early');
    at += 1;
    return byte;
  };
  const skip = (length: number): void => {
    if (at + length > bytes.length) throw new Withdrawn('the protobuf ends too early');
    at += length;
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
  while (at < bytes.length) {
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
