import type { bridgeItems } from './bridge.js';
import type { contractItems } from './contract.js';
import type { crosschainItems } from './crosschain.js';
import type { ItemList } from './item-list.js';
import type { batchSignatures } from '../bridge/signatures.js';

/* The types of the items, as their functions return them. */

export type { BatchState, WaitReason } from '../bridge/batches.js';
export type { DecimalString } from '../../chain/numeral.js';
export type { BlockSpan } from './block-spans.js';
export type { ItemList, ReadableList } from './item-list.js';
export type { Member, Members } from '../bridge/valsets.js';
export type { CoinItem, QueueItem, TokenItem } from './tokens.js';
export type { Duty } from './watched.js';

export type BridgeItems = Readonly<ReturnType<typeof bridgeItems>>;
export type ContractItems = Readonly<ReturnType<typeof contractItems>>;
export type CrosschainItems = Readonly<ReturnType<typeof crosschainItems>>;
export type Items = BridgeItems | ContractItems | CrosschainItems;

type RowOf<List extends ItemList<unknown>> = Readonly<Extract<List, { readable: true }>['rows'][number]>;

export type BatchItem = RowOf<BridgeItems['batches']>;
export type TransferItem = RowOf<BridgeItems['transfers']>;
export type ValsetItem = RowOf<BridgeItems['valsets']>;
export type ClaimItem = RowOf<BridgeItems['claims']>;
export type WaitingTokenItem = RowOf<BridgeItems['tokens']>;
export type WatchedItem = Readonly<BridgeItems['watched'][number]>;
export type MissingItems = NonNullable<WatchedItem['missingBatches']>;
export type HubCoin = NonNullable<BridgeItems['hubCoin']>;
export type Signatures = ReturnType<typeof batchSignatures>;
export type ChainItem = RowOf<CrosschainItems['chains']>;
export type CctxItem = RowOf<CrosschainItems['pending']>;
export type UnlistedItem = RowOf<NonNullable<CrosschainItems['unlisted']>>;
