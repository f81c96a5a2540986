import type { ModuleState } from './chain/module-state.js';
import type { RateLimiterInput } from './chain/rate-limiter-input.js';
import type { Instant, Moment } from './clock.js';
import type { Config, TargetLabels, ValidatorConfig } from './config/config.js';
import type { BridgeSettings, CrosschainSettings } from './config/endpoint-config.js';
import type { BridgeInput, BridgePast } from './facts/bridge/bridge-input.js';
import type { ContractAnswers } from './facts/contract/multicall.js';
import type { ContractReading } from './facts/contract/reading.js';
import type { CrosschainInput, CrosschainPast } from './facts/crosschain/crosschain-input.js';
import type { BridgeFlow } from './flow/bridge-flow.js';
import type { CrosschainFlow } from './flow/unlisted-cctxs.js';

/**
 * The types of each document, by the value of the label `document`. `content` is the decoded body; `input` is what
 * families are derived from, with the configuration and `additionalInput`; `past` is the memory of earlier documents;
 * `flow` accumulates changes from document to document, such as counters of executed batches.
 */
export interface DocumentTypes {
  readonly module_state: {
    readonly settings: BridgeSettings;
    readonly additionalInput: Pick<BridgeInput, 'externalHeight' | 'isNodeBehind'> & {
      /** Names of validators by the data part of the operator address, from the staking module. */
      readonly names?: BridgeInput['names']['staking'];
    };
    readonly content: ModuleState;
    readonly input: BridgeInput;
    readonly past: BridgePast;
    readonly flow: BridgeFlow;
  };
  readonly external_contract: {
    readonly settings: Readonly<Record<string, never>>;
    readonly additionalInput: ContractAnswers;
    readonly content: ContractReading;
    readonly input: ContractReading & Pick<Moment, 'clockOffset'>;
    readonly past: ContractReading;
    readonly flow: undefined;
  };
  readonly rate_limiter_input: {
    readonly settings: CrosschainSettings;
    readonly additionalInput: Pick<CrosschainInput, 'lookaheads' | 'cctxAnswers' | 'cctxsAskedAt' | 'isNodeBehind'>;
    readonly content: RateLimiterInput;
    readonly input: CrosschainInput;
    readonly past: CrosschainPast;
    readonly flow: CrosschainFlow;
  };
}

export const documentNames = ['module_state', 'external_contract', 'rate_limiter_input'] as const;
export type DocumentName = (typeof documentNames)[number];

/**
 * The values from answers to queries, and from the other documents of the target, that reading a document and deriving
 * its facts need.
 */
export type AdditionalInput<Name extends DocumentName = DocumentName> = DocumentTypes[Name]['additionalInput'];

/** The configured names of tokens, chains and validators. */
export interface ConfiguredNames extends Pick<Config, 'tokens'>, Pick<CrosschainInput, 'chains'> {
  readonly validators: readonly ValidatorConfig[];
}

/** What is configured for a document of a target: with it the document is read, derived and judged. */
export type StepContext<Name extends DocumentName = DocumentName> = {
  [Each in Name]: TargetOptions & { readonly document: Each; readonly settings: DocumentTypes[Each]['settings'] };
}[Name];

/** What all documents of a target share. */
export interface TargetOptions {
  readonly target: string;
  readonly targetLabels?: TargetLabels | undefined;
  readonly names: ConfiguredNames;
  readonly maxSeries: number;
  readonly maxBodyBytes: number;
  readonly staleAfterMs: number;
  /** The configured limits of problems; by default the shipped ones. */
  readonly problemSettings?: Config['problems'] | undefined;
  /** Whether one document is enough for a problem to begin, as in `once`. */
  readonly isSinglePoll?: boolean;
}

/** A node of an endpoint with several nodes, after a poll. */
export interface NodeStatus {
  /** Host and port, numbered when several nodes have the same. */
  readonly source: string;
  /** Whether it served the last document; before the first, the first node. */
  readonly isInUse: boolean;
  /** Why it is polled only after the others; `undefined` for a usable node. */
  readonly trouble?: NodeTrouble | undefined;
}

interface NodeTrouble {
  readonly since: Instant;
  /** Begins with the node. */
  readonly message: string;
  /** Whether it has failed; otherwise it is behind another node. */
  readonly isDown: boolean;
}
