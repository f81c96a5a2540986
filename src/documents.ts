import { bridgeDialects, crosschainDialects, documentPaths, type DocumentPath } from './chain/dialects.js';
import { readDocument, unreadable, type DocumentResult } from './chain/document.js';
import { isValid, validOrUndefined, hasKnownField } from './chain/fields.js';
import { moduleState, moduleStateResponse } from './chain/module-state.js';
import { rateLimiterInput, type RateLimiterInput } from './chain/rate-limiter-input.js';
import type { Instant } from './clock.js';
import type { TargetConfig } from './config/config.js';
import { defaultBridgeSettings, defaultCrosschainSettings, splitConnection } from './config/endpoint-config.js';
import type { NodeConnection } from './config/http-client-config.js';
import type { DocumentName, DocumentTypes, ConfiguredNames } from './document-types.js';
import { MAX_CONTRACT_BYTES, NO_CONTRACT, readContract } from './facts/contract/multicall.js';
import { bridgeFlowFamilies, trackBridge, type FlowOptions } from './flow/bridge-flow.js';
import { trackCrosschain, unlistedCctxs, unlistedFamilies } from './flow/unlisted-cctxs.js';
import type { Numeral } from './chain/numeral.js';
import { bridgeFamilies } from './metrics/bridge-families.js';
import { bridgeIdentity } from './facts/bridge/bridge-input.js';
import { bridgePast } from './facts/bridge/bridge-past.js';
import { contractFamilies } from './metrics/contract-families.js';
import { crosschainFamilies } from './metrics/crosschain-families.js';
import { crosschainIdentity, crosschainPast } from './facts/crosschain/chains.js';
import type { Family } from './metrics/family.js';
import { bridgeItems, contractItems, type BridgeItems, type ContractItems } from './items/bridge-items.js';
import { type CrosschainItems, crosschainItems } from './items/crosschain-items.js';
import { bridgeHeadline, crosschainHeadline, type BridgeHeadline, type CrosschainHeadline } from './items/headline.js';
import type { Filter } from './items/item-list.js';
import type { InParts } from './tasks.js';

/** The items behind the gauges, for `/pending`. */
export type Items = BridgeItems | ContractItems | CrosschainItems;

/** The numbers of the status page. */
export type Headline = BridgeHeadline | CrosschainHeadline;

type AnyTypes = DocumentTypes[DocumentName];

/** A document: where it is requested, how it is read, and what is derived from it. */
export interface DocumentDefinition<Types extends AnyTypes> {
  /** The title of its endpoints on the pages. */
  readonly title: string;
  /**
   * Whether the exporter is ready, and `once` succeeds, without the document. Alerts about its polls are warnings at
   * most.
   */
  readonly isOptional: boolean;
  /** The document of the target that has the address of this one: a contract is polled after the module state. */
  readonly after?: DocumentName;
  /** Whether a lower height is accepted: the time of the block shows whether the node is behind. */
  readonly mayGoBack?: true;
  /** The limit of a body, if it is lower than that of the setting. */
  readonly maxBodyBytes?: number;
  /**
   * How the document of a target is requested, by its configuration; `undefined` if the target does not have the
   * document.
   */
  readonly request: (target: Pick<TargetConfig, 'bridge' | 'crosschain'>) => ConfiguredDocument<Types> | undefined;
  /** The settings for reading a recorded body. A recorded target need not be in the configuration. */
  readonly recordedSettings: (target: Partial<TargetConfig>) => Types['settings'];
  /** The paths in all dialects. */
  readonly paths: readonly DocumentPath[];
  /** Reads a response body. The result has no value when the body is valid JSON with none of the expected fields. */
  readonly read: (body: Buffer, context: ReadContext<Types>) => InParts<DocumentResult<Types['content']>>;
  /** What the families are derived from. */
  readonly input: (content: Types['content'], context: DocumentContext<Types>) => Types['input'];
  /** The height of its chain, to detect a node that falls behind, and to compare several nodes. */
  readonly height: (content: Types['content'], header: Numeral | undefined) => Numeral | undefined;
  /**
   * What identifies the bridge; empty when the document does not say it. Documents with nothing in common are of
   * different bridges.
   */
  readonly identity: (content: Types['content'], settings: Types['settings']) => readonly string[];
  readonly families: readonly Family<Types['input']>[];
  /** What the next document of the endpoint gets as its past. */
  readonly past: (input: Types['input']) => Types['past'];
  readonly flow: FlowDefinition<Types>;
  /** What the status page shows of the document. */
  readonly headline: (input: Types['input']) => Headline | undefined;
  /** The lists for `/pending`; with a filter, only the rows that match. */
  readonly items: (tracked: Tracked<Types>, filter?: Filter) => Items;
}

/** A document with the flow up to it. */
type Tracked<Types extends AnyTypes> = Pick<Types, 'input' | 'flow'>;

/** How the documents of an endpoint are compared. */
interface FlowDefinition<Types extends AnyTypes> {
  /** `before` is `undefined` for the first document, and after a restart where the flow begins anew. */
  readonly track: (before: Types['flow'] | undefined, input: Types['input'], options: FlowOptions) => Types['flow'];
  /** What is derived from the flow, and withdrawn like the families of the document. */
  readonly gauges: readonly Family<Tracked<Types>>[];
  /** What the flow has counted, which is exported for as long as the endpoint exists. */
  readonly cumulative: readonly Family<Types['flow']>[];
}

/** A document of a target, by its configuration. */
export interface ConfiguredDocument<Types extends AnyTypes = AnyTypes> {
  /** In order of preference. */
  readonly nodes: readonly NodeConnection[];
  /** The rest of the configuration, without credentials. */
  readonly settings: Types['settings'];
  /** The paths to request, in this order, until a node knows one. */
  readonly paths: readonly DocumentPath[];
  /** Appended to the path: empty, or beginning with a question mark. */
  readonly query: string;
  /** The nodes of the module state, which has the address of the contract. */
  readonly hubNodes?: readonly NodeConnection[];
  /** The time between polls; by default, `poll.interval`. */
  readonly intervalMs?: number;
}

/** What a body is read with. */
interface ReadContext<Types extends AnyTypes> {
  /** How many JSON values fit into the heap; without a limit if the body has been read before. */
  readonly maxValues?: number;
  /** When the response was received. */
  readonly at: Instant;
  readonly clockOffset: number;
  readonly additionalInput?: Types['additionalInput'] | undefined;
}

/** Everything besides the body that families are derived from. */
export interface DocumentContext<Types extends AnyTypes> extends Omit<ReadContext<Types>, 'maxValues'> {
  readonly settings: Types['settings'];
  readonly names: ConfiguredNames;
  /** Hub height from the response header; `undefined` without a valid one. */
  readonly height: Numeral | undefined;
  readonly past: Types['past'] | undefined;
  /** Whether no other document follows, as in `once`. */
  readonly isSinglePoll?: boolean | undefined;
}

const NO_STAKING_NAMES: ReadonlyMap<string, string> = new Map();

/** Some proxies drop the header; the document has its own height. */
function crosschainHeight({ height }: RateLimiterInput, header: Numeral | undefined): Numeral | undefined {
  return header ?? validOrUndefined(height);
}

/** All documents, in the order of the exposition. */
export const documents: { readonly [Name in DocumentName]: DocumentDefinition<DocumentTypes[Name]> } = {
  module_state: {
    title: 'Bridge',
    isOptional: false,
    request: ({ bridge }) => {
      if (bridge === undefined) return undefined;
      const { external: _external, ...others } = bridge;
      return { ...splitConnection(others), paths: documentPaths(bridgeDialects, bridge.dialect), query: '' };
    },
    recordedSettings: ({ bridge = defaultBridgeSettings }) => bridge,
    paths: documentPaths<keyof typeof bridgeDialects>(bridgeDialects, 'auto'),
    read: function* (body, { maxValues }) {
      const result = yield* readDocument(moduleStateResponse, body, maxValues);
      if (!result.ok) return result;
      const state = result.value?.state;
      return { ...result, value: isValid(state) && hasKnownField(moduleState, state) ? state : undefined };
    },
    input: (state, { names, additionalInput = {}, ...context }) => {
      const { names: staking = NO_STAKING_NAMES, ...answers } = additionalInput;
      return {
        state,
        ...context,
        ...answers,
        tokens: names.tokens,
        names: { configured: names.validators, staking },
      };
    },
    height: (_state, header) => header,
    identity: bridgeIdentity,
    families: bridgeFamilies,
    past: bridgePast,
    flow: { track: trackBridge, gauges: [], cumulative: bridgeFlowFamilies },
    headline: bridgeHeadline,
    items: ({ input }, filter) => bridgeItems(input, filter),
  },
  external_contract: {
    title: 'Contract',
    isOptional: true,
    after: 'module_state',
    mayGoBack: true,
    maxBodyBytes: MAX_CONTRACT_BYTES,
    request: ({ bridge }) => {
      if (bridge?.external === undefined) return undefined;
      const { nodes, settings } = splitConnection(bridge.external);
      const hubNodes = splitConnection(bridge).nodes;
      return { nodes, settings: {}, paths: [], query: '', hubNodes, intervalMs: settings.interval };
    },
    recordedSettings: () => ({}),
    paths: [],
    read: function* (body, { additionalInput = {}, ...now }) {
      const { hubSide, call } = additionalInput;
      if (hubSide === undefined) return unreadable('schema', NO_CONTRACT);
      if (call === undefined) throw new Error('a contract is read by its call');
      return yield* readContract(body, call, hubSide, additionalInput, now);
    },
    input: (reading, { clockOffset }) => ({ ...reading, clockOffset }),
    height: ({ height }) => height,
    identity: ({ contract }) => [contract],
    families: contractFamilies,
    past: (reading) => reading,
    flow: { track: () => undefined, gauges: [], cumulative: [] },
    headline: () => undefined,
    items: ({ input }) => contractItems(input),
  },
  rate_limiter_input: {
    title: 'Cross-chain',
    isOptional: false,
    request: ({ crosschain }) => {
      if (crosschain === undefined) return undefined;
      const { dialect, limit, window } = crosschain;
      const query = new URLSearchParams({ ...(limit !== undefined && { limit }), window });
      return {
        ...splitConnection(crosschain),
        paths: documentPaths(crosschainDialects, dialect),
        query: `?${query.toString()}`,
      };
    },
    recordedSettings: ({ crosschain = defaultCrosschainSettings }) => crosschain,
    paths: documentPaths<keyof typeof crosschainDialects>(crosschainDialects, 'auto'),
    read: function* (body, { maxValues }) {
      const result = yield* readDocument(rateLimiterInput, body, maxValues);
      if (!result.ok || result.value === undefined || hasKnownField(rateLimiterInput, result.value)) return result;
      return { ...result, value: undefined };
    },
    input: (document, { names, additionalInput, ...context }) => ({
      document,
      ...context,
      ...additionalInput,
      height: crosschainHeight(document, context.height),
      chains: names.chains,
      tokens: names.tokens,
    }),
    height: crosschainHeight,
    identity: crosschainIdentity,
    families: crosschainFamilies,
    past: crosschainPast,
    flow: { track: trackCrosschain, gauges: unlistedFamilies, cumulative: [] },
    headline: crosschainHeadline,
    items: (tracked, filter) => crosschainItems(tracked.input, unlistedCctxs(tracked), filter),
  },
};
