import type { Field } from './field.js';
import type { Valset } from './module-state.js';
import { parseNumeral, type Numeral } from './numeral.js';
import { readInteger, readMessages, readMessage, readString, type Message } from './protobuf.js';

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

/**
 * What happened on the external chain according to a claim. A field is `undefined` if the type of claim does not have
 * it.
 */
export interface ClaimContent {
  /** Height of the event on the external chain. */
  readonly externalHeight: Field<Numeral>;
  readonly tokenContract: Field<string>;
  readonly amount: Field<Numeral>;
  readonly sender: Field<string>;
  readonly receiver: Field<string>;
  readonly batchNonce: Field<Numeral>;
  readonly valsetNonce: Field<Numeral>;
  /** The members of the validator set. */
  readonly members: Valset['members'];
}

const FIELD_NUMBERS: Readonly<Record<ClaimType, Readonly<Partial<Record<keyof ClaimContent, number>>>>> = {
  deposit: { externalHeight: 2, tokenContract: 3, amount: 4, sender: 5, receiver: 6 },
  withdraw: { externalHeight: 2, batchNonce: 3, tokenContract: 4 },
  valset: { valsetNonce: 2, externalHeight: 3, members: 4 },
  erc20_deployed: { externalHeight: 2, tokenContract: 4 },
};

export function readClaimContent(type: ClaimType, message: Message): ClaimContent {
  const fields = FIELD_NUMBERS[type];
  const integer = (field: number | undefined) => (field === undefined ? undefined : readInteger(message, field));
  const text = (field: number | undefined) =>
    field === undefined ? undefined : readString(message, field) || undefined;
  const members = fields.members === undefined ? undefined : readMessages(message, fields.members)?.map(readMember);
  return {
    externalHeight: integer(fields.externalHeight),
    tokenContract: text(fields.tokenContract)?.toLowerCase(),
    amount: parseNumeral(text(fields.amount)),
    sender: text(fields.sender),
    receiver: text(fields.receiver),
    batchNonce: integer(fields.batchNonce),
    valsetNonce: integer(fields.valsetNonce),
    members: members?.every((member) => member !== undefined) === true ? members : undefined,
  };
}

function readMember(message: Message) {
  const [power, address] = [readInteger(message, 1), readString(message, 2)];
  return power === undefined || address === undefined ? undefined : { power, external_address: address.toLowerCase() };
}
