import { isPresent } from '../../chain/field.js';
import { withAllFields } from '../../chain/fields.js';
import { params as paramsSchema, type ModuleState } from '../../chain/module-state.js';
import { toLabelValue } from '../label-value.js';
import { required } from '../required-fields.js';
import type { BridgeInput } from './input.js';

/** The contract with its bridge id, in one string; empty without one of both. */
export function bridgeIdentity({ params }: ModuleState): readonly string[] {
  const { bridge_id: id, bridge_external_address: contract } = isPresent(params) ? params : {};
  return isPresent(id) && isPresent(contract) && id !== '' ? [`${contract} ${toLabelValue(id)}`] : [];
}

/** The parameters with those that are missing, so that a hash of them shows every change. */
export function allParams({ state }: BridgeInput): unknown {
  return withAllFields(paramsSchema, required(state.params));
}
