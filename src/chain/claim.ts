import { parseNumeral } from './fields.js';
import { isUtf8 } from 'node:buffer';
import type { Claim } from './module-state.js';
import type { Numeral } from './numeral.js';

/*
 * Packed claims: protobuf messages in base64, as in the spec. A field with another wire type than expected is
 * `undefined`.
 */

/** The message of a claim; `undefined` unless the value is strict base64 of a well-formed message. */
export function unpackClaim(value: string): Message | undefined {
  const bytes = Buffer.from(value, 'base64');
  // Node.js ignores invalid characters and missing padding.
  return bytes.toString('base64') === value ? readMessage(bytes) : undefined;
}

/** The event nonce: field 1 in every type of claim, never left out. */
export function readEventNonce(message: Message): Numeral | undefined {
  return message.has(1) ? readInteger(message, 1) : undefined;
}

/** The types of claims by the last part of their names. */
export const claimTypes = {
  MsgDepositClaim: 'deposit',
  MsgWithdrawClaim: 'withdraw',
  MsgValsetUpdatedClaim: 'valset',
  MsgERC20DeployedClaim: 'erc20_deployed',
} as const satisfies Readonly<Record<string, string>>;

export type ClaimType = (typeof claimTypes)[keyof typeof claimTypes];

/** What happened on the external chain according to a claim. A claim has only the fields of its type. */
export type ClaimContent = Pick<
  Claim,
  | 'block_height'
  | 'token_contract'
  | 'amount'
  | 'external_sender'
  | 'hub_receiver'
  | 'batch_nonce'
  | 'valset_nonce'
  | 'members'
>;

const FIELD_NUMBERS: Readonly<Record<ClaimType, Readonly<Partial<Record<keyof ClaimContent, number>>>>> = {
  deposit: { block_height: 2, token_contract: 3, amount: 4, external_sender: 5, hub_receiver: 6 },
  withdraw: { block_height: 2, batch_nonce: 3, token_contract: 4 },
  valset: { valset_nonce: 2, block_height: 3, members: 4 },
  erc20_deployed: { block_height: 2, token_contract: 4 },
};

export function readClaimContent(type: ClaimType, message: Message): ClaimContent {
  const fields = FIELD_NUMBERS[type];
  const integer = (field: number | undefined) => (field === undefined ? undefined : readInteger(message, field));
  const text = (field: number | undefined) =>
    field === undefined ? undefined : readString(message, field) || undefined;
  const members = fields.members === undefined ? undefined : readMessages(message, fields.members)?.map(readMember);
  return {
    block_height: integer(fields.block_height),
    token_contract: text(fields.token_contract)?.toLowerCase(),
    amount: parseNumeral(text(fields.amount)),
    external_sender: text(fields.external_sender),
    hub_receiver: text(fields.hub_receiver),
    batch_nonce: integer(fields.batch_nonce),
    valset_nonce: integer(fields.valset_nonce),
    members: members?.every((member) => member !== undefined) === true ? members : undefined,
  };
}

function readMember(message: Message) {
  const [power, address] = [readInteger(message, 1), readString(message, 2)];
  return power === undefined || address === undefined ? undefined : { power, external_address: address.toLowerCase() };
}

/* Protobuf messages. */

/** A varint of a 64-bit integer has at most ten bytes; the tenth has only the 64th bit. */
const MAX_VARINT_BYTES = 10;
const MAX_TENTH_BYTE = 1;

/** A tag is a field number and a wire type in 32 bits. */
const MAX_TAG = 0xffff_ffff;

const WireType = { varint: 0, fixed64: 1, lengthDelimited: 2, fixed32: 5 } as const;

/** A varint, or the bytes of a string or of another message. Values of fixed width are not read. */
type WireValue = bigint | Uint8Array | undefined;

/** The values of each field of a message, by field number, in the order of the message. */
type Message = ReadonlyMap<number, readonly WireValue[]>;

/**
 * Reads the fields of a protobuf message; `undefined` for a malformed message, and for groups, which are deprecated.
 */
function readMessage(bytes: Uint8Array): Message | undefined {
  const fields = new Map<number, WireValue[]>();
  let offset = 0;
  while (offset < bytes.length) {
    const tag = readVarint(bytes, offset);
    if (tag === undefined || tag.value < 8 || tag.value > MAX_TAG) return undefined;
    const wireType = Number(tag.value) % 8;
    const number = Math.floor(Number(tag.value) / 8);
    const field = readValue(bytes, wireType, tag.end);
    if (field === undefined || field.end > bytes.length) return undefined;
    const values = fields.get(number);
    if (values === undefined) fields.set(number, [field.value]);
    else values.push(field.value);
    offset = field.end;
  }
  return fields;
}

/** The last value of an integer field, 0 when the field is left out; `undefined` when it has another wire type. */
function readInteger(message: Message, field: number): bigint | undefined {
  const values = message.get(field) ?? [0n];
  return values.every((value) => typeof value === 'bigint') ? values.at(-1) : undefined;
}

/** The last value of a string field, empty when the field is left out; `undefined` without valid UTF-8. */
function readString(message: Message, field: number): string | undefined {
  const texts = (message.get(field) ?? [new Uint8Array()]).map(decodeText);
  return texts.includes(undefined) ? undefined : texts.at(-1);
}

/** The messages of a repeated field; `undefined` when a message is malformed. */
function readMessages(message: Message, field: number): readonly Message[] | undefined {
  const messages = (message.get(field) ?? []).map((value) =>
    value instanceof Uint8Array ? readMessage(value) : undefined,
  );
  return messages.every((each) => each !== undefined) ? messages : undefined;
}

function decodeText(value: WireValue): string | undefined {
  if (!(value instanceof Uint8Array)) return undefined;
  return isUtf8(value) ? Buffer.from(value.buffer, value.byteOffset, value.length).toString('utf8') : undefined;
}

/** The value of a field and the offset after it. */
function readValue(
  bytes: Uint8Array,
  wireType: number,
  start: number,
): { readonly end: number; readonly value: WireValue } | undefined {
  if (wireType === WireType.fixed64) return { end: start + 8, value: undefined };
  if (wireType === WireType.fixed32) return { end: start + 4, value: undefined };
  const varint = readVarint(bytes, start);
  if (varint === undefined) return undefined;
  if (wireType === WireType.varint) return varint;
  if (wireType !== WireType.lengthDelimited) return undefined;
  const end = varint.end + Number(varint.value);
  return { end, value: bytes.subarray(varint.end, end) };
}

function readVarint(bytes: Uint8Array, start: number): { readonly end: number; readonly value: bigint } | undefined {
  let value = 0n;
  for (let length = 1; length <= MAX_VARINT_BYTES; length += 1) {
    const byte = bytes[start + length - 1];
    if (byte === undefined || (length === MAX_VARINT_BYTES && byte > MAX_TENTH_BYTE)) return undefined;
    value |= BigInt(byte & 0x7f) << BigInt(7 * (length - 1));
    if (byte < 0x80) return { end: start + length, value };
  }
  return undefined;
}
