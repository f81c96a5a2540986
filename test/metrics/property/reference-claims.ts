import { address, field, integer, isMissing, list, number, string, Withdrawn, type Rational } from './exact.js';

/** The event nonce of an attestation: `event_nonce` of the claim, or field 1 of the protobuf message in `value`. */
export function eventNonce(attestation: unknown): Rational {
  const claim = field(attestation, 'claim');
  const named = field(claim, 'event_nonce');
  if (!isMissing(named) && named !== '') return number(named);
  const nonces = fieldsOf(bytesOf(string(field(claim, 'value')))).filter(({ tag }) => tag === 1);
  const last = nonces.map(({ content }) => integerContent(content)).at(-1);
  if (last === undefined) throw new Withdrawn('the claim has no field 1');
  return integer(last);
}

/** The name of the message of a claim. */
export function claimName(attestation: unknown): string {
  const claim = field(attestation, 'claim');
  const named = field(claim, '@type');
  return (
    string(isMissing(named) ? field(claim, 'type_url') : named)
      .split('.')
      .at(-1) ?? ''
  );
}

/** The batch of a MsgWithdrawClaim. */
export function claimedBatch(attestation: unknown): { readonly nonce: Rational; readonly token: string } {
  const claim = field(attestation, 'claim');
  const isPresent = (json: unknown): boolean => !isMissing(json) && json !== '';
  const [nonce, token] = [field(claim, 'batch_nonce'), field(claim, 'token_contract')];
  const packed = () => fieldsOf(bytesOf(string(field(claim, 'value'))));
  const unpackedNonce = isPresent(nonce) ? number(nonce) : undefined;
  const unpackedToken = isMissing(token) ? undefined : address(token);
  if (unpackedNonce !== undefined && unpackedToken !== undefined) return { nonce: unpackedNonce, token: unpackedToken };
  const fields = packed();
  const packedNonce = integer(integersOf(fields, 3).at(-1) ?? 0n);
  const packedToken = (textsOf(fields, 4).at(-1) ?? '').toLowerCase();
  return { nonce: unpackedNonce ?? packedNonce, token: unpackedToken ?? packedToken };
}

type ClaimedMembers = readonly (readonly [string, Rational])[];

/** The validator set of a MsgValsetUpdatedClaim. */
export function claimedValset(attestation: unknown): {
  readonly nonce: Rational;
  readonly members: () => ClaimedMembers;
} {
  const claim = field(attestation, 'claim');
  const [nonce, members] = [field(claim, 'valset_nonce'), field(claim, 'members')];
  const packed = (): { readonly nonce: Rational; readonly members: ClaimedMembers } => {
    const fields = fieldsOf(bytesOf(string(field(claim, 'value'))));
    return {
      nonce: integer(integersOf(fields, 2).at(-1) ?? 0n),
      members: fields
        .filter(({ tag }) => tag === 4)
        .map(({ content }) => fieldsOf(bytesContent(content)))
        .map((own) => [(textsOf(own, 2).at(-1) ?? '').toLowerCase(), integer(integersOf(own, 1).at(-1) ?? 0n)]),
    };
  };
  return {
    nonce: isMissing(nonce) || nonce === '' ? packed().nonce : number(nonce),
    members: () =>
      isMissing(members)
        ? packed().members
        : list(members).map((member) => [address(field(member, 'external_address')), number(field(member, 'power'))]),
  };
}

/** A field of a protobuf message: a varint, the bytes of a string or message, or a number of fixed width. */
interface WireField {
  readonly tag: number;
  readonly content: bigint | readonly number[] | undefined;
}

function integerContent(content: WireField['content']): bigint {
  if (typeof content !== 'bigint') throw new Withdrawn('not a varint');
  return content;
}

function bytesContent(content: WireField['content']): readonly number[] {
  if (content === undefined || typeof content === 'bigint') throw new Withdrawn('not a list of bytes');
  return content;
}

function integersOf(fields: readonly WireField[], tag: number): readonly bigint[] {
  return fields.filter((wire) => wire.tag === tag).map(({ content }) => integerContent(content));
}

function textsOf(fields: readonly WireField[], tag: number): readonly string[] {
  return fields
    .filter((wire) => wire.tag === tag)
    .map(({ content }) => {
      try {
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
          Uint8Array.from(bytesContent(content)),
        );
      } catch (error) {
        throw error instanceof TypeError ? new Withdrawn('not UTF-8') : error;
      }
    });
}

function bytesOf(base64: string): readonly number[] {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64) throw new Withdrawn('not strict base64');
  return [...bytes];
}

/** All fields of a protobuf message. Rejects a malformed message. */
function fieldsOf(bytes: readonly number[]): readonly WireField[] {
  const fields: WireField[] = [];
  let offset = 0;
  const next = (): number => {
    const byte = bytes[offset];
    if (byte === undefined) throw new Withdrawn('the protobuf ends too early');
    offset += 1;
    return byte;
  };
  const take = (length: number): readonly number[] => {
    if (offset + length > bytes.length) throw new Withdrawn('the protobuf ends too early');
    offset += length;
    return bytes.slice(offset - length, offset);
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
    const key = varint();
    const tag = Number(key / 8n);
    const wireType = key % 8n;
    if (tag === 0) throw new Withdrawn('field 0');
    if (wireType === 0n) fields.push({ tag, content: varint() });
    else if (wireType === 2n) fields.push({ tag, content: take(Number(varint())) });
    else if (wireType === 1n || wireType === 5n) {
      take(wireType === 1n ? 8 : 4);
      fields.push({ tag, content: undefined });
    } else throw new Withdrawn(`wire type ${wireType}`);
  }
  return fields;
}
