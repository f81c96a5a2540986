import type { ModuleState } from './chain/module-state.js';
import type { RateLimiterInput } from './chain/rate-limiter-input.js';
import type { Config, TargetLabels, ValidatorConfig } from './config/config.js';
import type { BridgeSettings, CrosschainSettings } from './config/endpoint-config.js';
import type { BridgeInput, BridgePast } from './facts/bridge/input.js';
import type { HubSide } from './facts/contract/hub-side.js';
import type { ContractReading, HubReading } from './facts/contract/reading.js';
import type { CrosschainInput, CrosschainPast, SeenAnswers } from './facts/crosschain/input.js';
import type { BridgeFlow } from './flow/bridge-flow.js';
import type { CrosschainFlow } from './flow/crosschain-flow.js';

/**
 * The types of each document, by the value of the label `document`: its configuration, the answers of other requests, what its body is read as,
 * what its families are derived from, what is remembered of the earlier documents, and what happened between them.
 */
export interface DocumentTypes {
  readonly module_state: {
    readonly settings: BridgeSettings;
    readonly otherAnswers: Pick<BridgeInput, 'externalHeight' | 'isContractPaused' | 'isNodeBehind'> & {
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
    /** Without calls before the poll, and without facts before the first module state. */
    readonly otherAnswers: { readonly [Key in keyof ContractExchange]?: ContractExchange[Key] | undefined };
    readonly content: ContractReading;
    readonly input: ContractReading;
    readonly past: ContractReading;
    readonly flow: undefined;
  };
  readonly rate_limiter_input: {
    readonly settings: CrosschainSettings;
    readonly otherAnswers: Pick<CrosschainInput, 'lookaheads' | 'cctxAnswers' | 'cctxsAskedAtMs'> & {
      /** All that the node has answered about transactions. */
      readonly seenAnswers?: SeenAnswers;
    };
    readonly content: RateLimiterInput;
    readonly input: CrosschainInput;
    readonly past: CrosschainPast;
    readonly flow: CrosschainFlow;
  };
}

export type DocumentName = keyof DocumentTypes;

/** What a document is read and derived with: what is selected of the answers to queries, and of the other documents of the target. */
export type OtherAnswers<Name extends DocumentName = DocumentName> = DocumentTypes[Name]['otherAnswers'];

/** A call at a block, as recordings have it. Without `data` it requests the block; `data` of 32 bytes is a storage slot. */
export interface ContractCall {
  readonly id: number;
  readonly to: string;
  readonly data: string;
  /** The height in hexadecimal digits. */
  readonly block: string;
}

/** What the answers of a contract are read with. Plain data. */
export interface ContractExchange {
  /** What the module state says about the contract. */
  readonly hubSide: HubSide;
  readonly calls: readonly ContractCall[];
  readonly hub?: HubReading | undefined;
  /** The last reading: some values are read less often. */
  readonly lastReading?: ContractReading | undefined;
}

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
  /** The configured limits of problems; by default the shipped ones. */
  readonly problems?: Config['problems'];
  /** Whether one document is enough for a problem to begin, as in `once`. */
  readonly isSinglePoll?: boolean;
}
