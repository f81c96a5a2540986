import { toDecimalString } from '../../chain/decimal.js';
import type { ContractReading } from '../contract/reading.js';
import { asDecimalString } from '../../chain/numeral.js';

/** What the pages show of the contract. Nothing waits there. */
export function contractItems(reading: ContractReading) {
  const { contract, height, blockSeconds, unobservedEvents, configuredThreshold } = reading;
  return {
    document: 'external_contract' as const,
    contract,
    externalHeight: toDecimalString(height),
    externalTime: new Date(blockSeconds * 1000).toISOString(),
    /** Events of the contract that the hub has not observed; `null` when that is unknown. */
    unobservedEvents: unobservedEvents === undefined ? null : toDecimalString(unobservedEvents),
    /** With which the threshold of the contract is compared. */
    powerThreshold: configuredThreshold === undefined ? null : asDecimalString(configuredThreshold),
    /** The tokens with `backing`, at most 20; the surplus is `null` when it is unknown. */
    backing: (reading.backing?.tokens ?? []).map(({ contract: token, surplus }) => ({
      token,
      surplus: surplus === undefined ? null : toDecimalString(surplus),
    })),
  };
}
