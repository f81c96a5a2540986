import { isPresent } from '../../chain/field.js';
import type { ModuleState } from '../../chain/module-state.js';
import { toLabelValue } from '../label-value.js';

/** The contract with its bridge id, in one string; empty without one of both. */
export function bridgeIdentity({ params }: ModuleState): readonly string[] {
  const { bridge_id: id, bridge_external_address: contract } = isPresent(params) ? params : {};
  return isPresent(id) && isPresent(contract) && id !== '' ? [`${contract} ${toLabelValue(id)}`] : [];
}
