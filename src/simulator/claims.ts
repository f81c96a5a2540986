import type { Claim, Valset, ValsetMember } from './module-state.js';

/** What the bridge contract on the external chain has reported: the content of a claim but for who claims it. */
export type ContractReport =
  | {
      readonly kind: 'deposit';
      readonly tokenContract: string;
      readonly amount: string;
      readonly sender: string;
      readonly receiver: string;
    }
  | { readonly kind: 'withdraw'; readonly batchNonce: number; readonly tokenContract: string }
  | { readonly kind: 'valset-update'; readonly valset: Valset };

export interface ContractEvent {
  readonly nonce: number;
  readonly externalHeight: number;
  readonly report: ContractReport;
}

/** The claim as protobuf in base64; field 1 is the event nonce in every kind. */
export function encodeClaim({ nonce, externalHeight, report }: ContractEvent, orchestrator: string): Claim {
  if (report.kind === 'deposit') {
    return claim('MsgDepositClaim', [
      ...numberField(1, nonce),
      ...numberField(2, externalHeight),
      ...textField(3, report.tokenContract),
      ...textField(4, report.amount),
      ...textField(5, report.sender),
      ...textField(6, report.receiver),
      ...textField(7, orchestrator),
    ]);
  }
  if (report.kind === 'withdraw') {
    return claim('MsgWithdrawClaim', [
      ...numberField(1, nonce),
      ...numberField(2, externalHeight),
      ...numberField(3, report.batchNonce),
      ...textField(4, report.tokenContract),
      ...textField(5, orchestrator),
    ]);
  }
  const { valset } = report;
  return claim('MsgValsetUpdatedClaim', [
    ...numberField(1, nonce),
    ...numberField(2, Number(valset.nonce)),
    ...numberField(3, externalHeight),
    ...valset.members.flatMap(memberField),
    ...textField(5, valset.reward_amount),
    ...textField(7, orchestrator),
  ]);
}

function memberField({ power, external_address }: ValsetMember): number[] {
  return bytesField(4, [...numberField(1, Number(power)), ...textField(2, external_address)]);
}

function claim(message: string, bytes: readonly number[]): Claim {
  return { type_url: `/hub.bridge.v1.${message}`, value: Buffer.from(bytes).toString('base64') };
}

function numberField(field: number, value: number): number[] {
  return [field * 8, ...varint(value)];
}

function textField(field: number, text: string): number[] {
  return bytesField(field, [...Buffer.from(text)]);
}

function bytesField(field: number, bytes: readonly number[]): number[] {
  return [field * 8 + 2, ...varint(bytes.length), ...bytes];
}

/** Seven bits a byte, the lowest first; the high bit says that more follow. */
function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) + 0x80, ...varint(Math.floor(value / 0x80))];
}
