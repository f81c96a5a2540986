import { isoTime } from '../clock.js';
import type { ContractReading } from '../facts/contract/reading.js';

export type ContractItems = Readonly<ReturnType<typeof contractItems>>;

/** The contract on the pages. Nothing waits in it. */
export function contractItems(reading: ContractReading) {
  const { contract, height, blockSeconds, unobservedEvents } = reading;
  return {
    document: 'external_contract' as const,
    contract,
    externalHeight: String(height),
    externalTime: isoTime(blockSeconds),
    /** Events of the contract that the hub has not observed; `null` when unknown. */
    unobservedEvents: unobservedEvents === undefined ? null : String(unobservedEvents),
  };
}
