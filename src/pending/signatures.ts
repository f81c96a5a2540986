import type { Batch, Valset } from '../chain/module-state.js';
import type { BridgeInput } from '../metrics/bridge/input.js';
import { batchSigners, newestValset, valsetSigners } from '../metrics/bridge/joins.js';
import { batchSignedPower, isBelowThreshold, valsetSignedPower, type SignedPower } from '../metrics/bridge/signing.js';
import type { MissingMembers, Signatures } from './items.js';
import { missingOf } from './members.js';
import { orNull } from './section.js';
import { ratio } from '../chain/decimal.js';

export function batchSignatures(input: BridgeInput, batch: Batch): Signatures {
  return signatures(
    () => batchSignedPower(input, batch),
    () => {
      const signers = batchSigners(input, batch);
      return missingOf(input, newestValset(input), (address) => signers.has(address));
    },
  );
}

export function valsetSignatures(input: BridgeInput, valset: Valset): Signatures {
  return signatures(
    () => valsetSignedPower(input, valset),
    () => {
      const signers = valsetSigners(input, valset);
      return missingOf(input, valset, (address) => signers.has(address));
    },
  );
}

function signatures(power: () => SignedPower | undefined, missing: () => MissingMembers | undefined): Signatures {
  const signed = orNull(power);
  return {
    signedPowerRatio: signed && orNull(() => ratio(signed.signed, signed.total)),
    belowThreshold: signed && isBelowThreshold(signed),
    missing: orNull(missing),
  };
}
