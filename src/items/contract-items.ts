import { isoTime } from '../clock.js';
import type { ContractReading } from '../facts/contract/reading.js';
import type { TokenConfig } from '../config/config.js';
import { amountItem } from '../facts/bridge/coins.js';

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
    /** The tokens with `backing`, at most 20, with the surplus. */
    backing: reading.backing.map(({ contract: token, surplus }) => ({
      token,
      ...amountItem(
        tokens.find((candidate) => candidate.contract === token),
        surplus === undefined ? null : String(surplus),
      ),
    })),
  };
}
