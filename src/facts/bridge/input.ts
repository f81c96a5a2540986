import type { ModuleState } from '../../chain/module-state.js';
import type { TokenConfig, ValidatorConfig } from '../../config/config.js';
import type { BridgeSettings } from '../../config/endpoint-config.js';
import type { Numeral } from '../../chain/numeral.js';
import type { Instant } from '../../clock.js';
import type { BridgeObservations } from './observations.js';

/** The input of the bridge families: one response and the configuration. */
export interface BridgeInput {
  readonly state: ModuleState;
  /** Hub height of the response; `undefined` when the node does not send the header. */
  readonly height: Numeral | undefined;
  readonly settings: BridgeSettings;
  readonly tokens: readonly TokenConfig[];
  readonly names: ValidatorNames;
  /** The external height that was read a moment ago; `undefined` without such a reading. */
  readonly externalHeight?: Numeral | undefined;
  /** Whether the contract is paused, for texts; `undefined` without a recent reading. */
  readonly isContractPaused?: boolean | undefined;
  /** Whether the node is behind the chain: then nothing says how much time is left until a height. */
  readonly isNodeBehind?: boolean | undefined;
  /** When the response was received. */
  readonly at: Instant;
  /** `undefined` for the first document of an endpoint. */
  readonly previous: BridgeObservations | undefined;
}

/** Names of validators for people. */
export interface ValidatorNames {
  readonly configured: readonly ValidatorConfig[];
  /** Names from the staking module of the node, by the data part of the operator address. */
  readonly staking: ReadonlyMap<string, string>;
}
