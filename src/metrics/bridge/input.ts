import type { ModuleState } from '../../chain/module-state.js';
import type { BridgeSettings, TokenConfig } from '../../config/config.js';
import type { Numeral } from '../../json/numeral.js';
import type { Family } from '../family.js';

/** The input of the bridge families: one response and the configuration. */
export interface BridgeInput {
  readonly state: ModuleState;
  /** Hub height of the response; `undefined` when the node does not send the header. */
  readonly height: Numeral | undefined;
  readonly settings: BridgeSettings;
  readonly tokens: readonly TokenConfig[];
}

export type BridgeFamily = Family<BridgeInput>;
