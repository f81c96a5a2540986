import { isoTime } from '../../clock.js';
import type { ContractReading } from '../contract/reading.js';
import type { TokenConfig } from '../../config/config.js';
import { toLabelValue } from '../label-value.js';
import { inWholeUnits } from '../plain-values.js';

export type ContractItems = Readonly<ReturnType<typeof contractItems>>;

/** The contract on the pages. Nothing waits in it. */
export function contractItems(reading: ContractReading, tokens: readonly TokenConfig[]) {
  const { contract, height, blockSeconds, unobservedEvents, configuredThreshold } = reading;
  return {
    document: 'external_contract' as const,
    contract,
    externalHeight: String(height),
    externalTime: isoTime(blockSeconds),
    /** Events of the contract that the hub has not observed; `null` when unknown. */
    unobservedEvents: unobservedEvents === undefined ? null : String(unobservedEvents),
    /** The setting, to compare with the threshold of the contract. */
    powerThreshold: configuredThreshold ?? null,
    /** The tokens with `backing`, at most 20; the surplus is `null` when unknown. */
    backing: reading.backing.map(({ contract: token, surplus }) => {
      const { symbol, decimals } = tokens.find((candidate) => candidate.contract === token) ?? {};
      const amount = surplus === undefined ? null : String(surplus);
      return {
        token,
        symbol: symbol === undefined ? null : toLabelValue(symbol),
        /** The surplus in the smallest unit, and in whole tokens when the decimals are configured. */
        surplus: amount,
        wholeSurplus: decimals === undefined ? null : inWholeUnits(amount, decimals),
      };
    }),
  };
}
