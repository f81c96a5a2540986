import { asDecimalString, type Numeral } from '../json/numeral.js';
import { numeralKey } from './decimal.js';
import { integerOf, messagesOf, readMessage, stringOf, type Message } from './protobuf.js';

/*
 * Packed claims: protobuf messages in base64, as in the spec. Each function returns `undefined` unless the value is strict base64 of a
 * well-formed message whose fields have the expected types.
 */

/** The event nonce, which is field 1 in every type of claim and is never left out. */
export function eventNonceOfPackedClaim(value: string): Numeral | undefined {
  const message = unpack(value);
  return message?.has(1n) === true ? numeral(integerOf(message, 1n)) : undefined;
}

export interface WithdrawClaim {
  readonly batchNonce: Numeral;
  readonly tokenContract: string;
}

/** The batch that a MsgWithdrawClaim says was executed. */
export function packedWithdrawClaim(value: string): WithdrawClaim | undefined {
  const message = unpack(value);
  if (message === undefined) return undefined;
  const [batchNonce, tokenContract] = [numeral(integerOf(message, 3n)), stringOf(message, 4n)];
  if (batchNonce === undefined || tokenContract === undefined) return undefined;
  return { batchNonce, tokenContract: tokenContract.toLowerCase() };
}

export interface ClaimedMember {
  readonly power: Numeral;
  readonly external_address: string;
}

export interface ValsetClaim {
  readonly valsetNonce: Numeral;
  readonly members: readonly ClaimedMember[];
}

/** The validator set that a MsgValsetUpdatedClaim says was installed. */
export function packedValsetClaim(value: string): ValsetClaim | undefined {
  const message = unpack(value);
  if (message === undefined) return undefined;
  const valsetNonce = numeral(integerOf(message, 2n));
  const members = messagesOf(message, 4n)?.map(memberOf);
  if (valsetNonce === undefined || members?.every((member) => member !== undefined) !== true) return undefined;
  return { valsetNonce, members };
}

function memberOf(message: Message): ClaimedMember | undefined {
  const [power, address] = [numeral(integerOf(message, 1n)), stringOf(message, 2n)];
  return power === undefined || address === undefined ? undefined : { power, external_address: address.toLowerCase() };
}

function unpack(value: string): Message | undefined {
  const bytes = Buffer.from(value, 'base64');
  // Node.js ignores invalid characters and missing padding.
  return bytes.toString('base64') === value ? readMessage(bytes) : undefined;
}

function numeral(value: bigint | undefined): Numeral | undefined {
  return value === undefined ? undefined : numeralKey(asDecimalString(value.toString()));
}
