import type { ModuleState } from './chain/module-state.js';
import type { RateLimiterInput } from './chain/rate-limiter-input.js';
import type { Config, TargetLabels, ValidatorConfig } from './config/config.js';
import type { BridgeSettings, CrosschainSettings } from './config/endpoint-config.js';
import type { BridgeInput, BridgeObservations } from './facts/bridge/input.js';
import type { ContractReading } from './facts/contract/reading.js';
import type { CrosschainInput, CrosschainObservations } from './facts/crosschain/input.js';
import type { BridgeFlow } from './flow/bridge-flow.js';
import type { CrosschainFlow } from './flow/crosschain-flow.js';

/**
 * The types of each document, by the value of the label `document`: its configuration, what its body is read as, what its families are derived
 * from, what is remembered of the earlier documents, and what happened between them.
 */
export interface DocumentTypes {
  readonly module_state: {
    readonly settings: BridgeSettings;
    readonly content: ModuleState;
    readonly input: BridgeInput;
    readonly observations: BridgeObservations;
    readonly flow: BridgeFlow;
  };
  readonly external_contract: {
    readonly settings: Readonly<Record<string, never>>;
    readonly content: ContractReading;
    readonly input: ContractReading;
    readonly observations: ContractReading;
    readonly flow: undefined;
  };
  readonly rate_limiter_input: {
    readonly settings: CrosschainSettings;
    readonly content: RateLimiterInput;
    readonly input: CrosschainInput;
    readonly observations: CrosschainObservations;
    readonly flow: CrosschainFlow;
  };
}

export type DocumentName = keyof DocumentTypes;

/** Names of tokens, chains and validators, for labels. */
export interface LabelSettings extends Pick<Config, 'tokens'>, Pick<CrosschainInput, 'chains'> {
  readonly validators: readonly ValidatorConfig[];
}

/** What is configured for a document of a target: with it the document is read, derived and judged. */
export type StepContext<Name extends DocumentName = DocumentName> = {
  [Each in Name]: TargetOptions & { readonly document: Each; readonly settings: DocumentTypes[Each]['settings'] };
}[Name];

/** What all documents of a target share. */
export interface TargetOptions {
  readonly target: string;
  readonly targetLabels?: TargetLabels;
  readonly labels: LabelSettings;
  readonly maxSeries: number;
  readonly maxBodyBytes: number;
  readonly staleAfterMs: number;
  /** The most JSON values of a body. */
  readonly maxValues: number;
  /** The configured limits of problems; by default the shipped ones. */
  readonly problems?: Config['problems'];
  /** Whether one document is enough for a problem to begin, as in `once`. */
  readonly isSinglePoll?: boolean;
}
