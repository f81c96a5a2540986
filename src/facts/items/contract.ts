import { toDecimalString } from '../../chain/decimal.js';
import type { ContractReading } from '../contract/reading.js';
import { asDecimalString } from '../../chain/numeral.js';
import type { ContractItems } from './items.js';

/** What the pages show of the contract. Nothing waits there. */
export function contractItems(reading: ContractReading): ContractItems {
  const { contract, height, blockSeconds, unobservedEvents, configuredThreshold } = reading;
  return {
    document: 'external_contract',
    contract,
    externalHeight: toDecimalString(height),
    externalTime: new Date(blockSeconds * 1000).toISOString(),
    unobservedEvents: unobservedEvents === undefined ? null : toDecimalString(unobservedEvents),
    powerThreshold: configuredThreshold === undefined ? null : asDecimalString(configuredThreshold),
    backing: (reading.backing?.tokens ?? []).map(({ contract: token, surplus }) => ({
      token,
      surplus: surplus === undefined ? null : toDecimalString(surplus),
    })),
  };
}
