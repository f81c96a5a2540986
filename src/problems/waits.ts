import type { WaitReason } from '../facts/bridge/batches.js';

/* What waiting transfers wait for, and what can be done: the same words in actions of problems and on pages. */

interface WaitTexts {
  /** Of a single row. */
  readonly row: string;
  /** Of some batches: "2 timed out". */
  readonly batches: string;
  /** Of most transfers: "Most are …". */
  readonly transfers: string;
}

export const WAIT_TEXTS: Readonly<Record<WaitReason, WaitTexts>> = {
  timeout: { row: 'timed out', batches: 'timed out', transfers: 'in batches that have timed out' },
  observation: {
    row: 'claimed as executed, not observed yet',
    batches: 'claimed as executed',
    transfers: 'in batches that are claimed as executed',
  },
  signatures: {
    row: 'needs signatures',
    batches: 'short of signatures',
    transfers: 'in batches that lack signatures',
  },
  fees: {
    row: 'fees below the minimum',
    batches: 'below the minimum fee',
    transfers: 'below the minimum fee of their token',
  },
  relayer: { row: 'signed, waits for a relayer', batches: 'signed', transfers: 'in signed batches' },
  batch: { row: 'waits for a batch', batches: 'without a batch', transfers: 'in no batch' },
};

/** Advice that holds unless the contract is paused; `isContractPaused` is `undefined` without a recent reading. */
function unlessPaused(isContractPaused: boolean | undefined, possible: string, impossible: string): string {
  switch (isContractPaused) {
    case undefined:
      return `${possible}, unless the contract is paused`;
    case true:
      return `${impossible} while the contract is paused: find out who paused it and why`;
    case false:
      return `${possible}: the contract is not paused`;
  }
}

/** Who can relay something. */
export function relayAdvice(isContractPaused: boolean | undefined, what = 'a signed batch'): string {
  return unlessPaused(isContractPaused, `anyone can relay ${what}`, `nobody can relay ${what}`);
}

/** What can be done about a wait, as a part of a sentence. */
export function waitAdvice(reason: WaitReason, isContractPaused: boolean | undefined): string {
  switch (reason) {
    case 'timeout':
      return `the hub cancels the batch with the next observed event; ${unlessPaused(isContractPaused, 'a small deposit on the external chain makes such an event', 'nobody can make one')}`;
    case 'observation':
      return 'find out who has not voted for the pending events';
    case 'signatures':
      return 'find out who has not signed, the most power first';
    case 'fees':
      return 'the sender of an unbatched transfer can cancel it and send it again with a higher fee';
    case 'relayer':
      return relayAdvice(isContractPaused);
    case 'batch':
      return 'anyone can request a batch (build-batch, see the runbook); the error shows what prevents it';
  }
}
