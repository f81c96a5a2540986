import type { Claim } from './module-state.js';
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

/** What happened on the external chain according to a claim. Its type does not have all fields. */
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
