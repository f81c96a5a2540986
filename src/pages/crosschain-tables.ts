import { asNumeral, compare, subtract } from '../chain/numeral.js';
import { durationInWords } from '../text/format.js';
import * as cells from './cells.js';
import { transactionUrl } from './external-links.js';
import { isolated, markup, type Markup } from './html.js';
import { anchor } from './layout.js';
import { itemSection, type ItemColumn, type ItemTable, type ListSection, type PageContext } from './table.js';
import { ago, distanceElement, timeElement } from './time.js';
import type { ProblemName } from '../problems/problems.js';
import { firingVerdicts, judgeSeverity } from '../engine/verdicts.js';
import type { CctxItem, ChainItem, CrosschainItems, UnlistedItem } from '../facts/items/crosschain-items.js';

/* Cross-chain transactions: the chains, and the lists of transactions. */

/** Colored, with the word of the severity, while an alert about the chain fires. */
function judged(
  value: Markup,
  { chainId }: ChainItem,
  { view }: PageContext,
  ...alerts: readonly ProblemName[]
): Markup {
  const severity = judgeSeverity(view, alerts, { chain_id: chainId });
  return severity === undefined
    ? value
    : markup`<span class="${severity}">${value}</span> <span class="state ${severity}">${severity}</span>`;
}

const chainTable: ItemTable<ChainItem> = {
  name: 'chains',
  title: 'Chains',
  cssClass: 'chains',
  orderText: 'those with missed ones first, then those that reach their age limit first',
  openRows: 50,
  rowId: ({ chainId }) => anchor('chains', chainId),
  columns: [
    {
      title: 'Chain',
      cell: ({ chain, chainId }) =>
        markup`${chain === null ? '' : isolated(chain)} <span class="quiet">${chainId === '' ? 'no chain' : isolated(chainId)}</span>`,
      type: 'row-header',
    },
    {
      title: 'Pending',
      cell: ({ pending, ignored }) =>
        markup`${cells.text(pending)}${ignored === null || ignored === 0 ? '' : markup`<small>and ${ignored} ignored</small>`}`,
    },
    {
      title: 'Oldest',
      cell: (chain, page) =>
        chain.oldestCreatedAt === null
          ? absent(chain.pending)
          : judged(age(chain.oldestCreatedAt, page), chain, page, ...OLDEST_ALERTS),
    },
    { title: 'Age limit', cell: ({ ageLimitSeconds }) => markup`${durationInWords(ageLimitSeconds)}` },
    {
      title: 'Lowest nonce',
      cell: (chain, page) =>
        judged(renderNonce(chain.lowestPendingNonce, chain.pending), chain, page, 'CrosschainBacklogStuck'),
    },
    { title: 'Highest nonce', cell: ({ highestPendingNonce, pending }) => renderNonce(highestPendingNonce, pending) },
    { title: 'No hash', cell: ({ withoutHash }) => cells.text(withoutHash) },

    { title: 'Missed', cell: (chain, page) => judged(cells.text(chain.missed), chain, page, 'CrosschainCctxsMissed') },
    {
      title: 'Lowest missed nonce',
      cell: (chain, page) =>
        judged(renderNonce(chain.lowestMissedNonce, chain.missed && 0), chain, page, 'CrosschainFreezeNear'),
    },
  ],
};

const OLDEST_ALERTS: readonly ProblemName[] = ['CrosschainOldestPendingTooOld', 'CrosschainBacklogStuck'];

function age(iso: string, { nowMs }: PageContext): Markup {
  return distanceElement(iso, durationInWords((nowMs - Date.parse(iso)) / 1000));
}

/** A value that is absent because there are no items, or because it cannot be read. */
const absent = (number: number | null): Markup => (number === 0 ? cells.NONE : cells.UNKNOWN);

function renderNonce(nonce: string | null, number: number | null): Markup {
  return nonce === null ? absent(number) : markup`${nonce}`;
}

const nonceColumn: ItemColumn<Pick<CctxItem, 'nonce'>> = { title: 'Nonce', cell: ({ nonce }) => cells.text(nonce) };
const amountColumn: ItemColumn<Pick<CctxItem, 'amount' | 'wholeAmount' | 'symbol' | 'coinType'>> = {
  title: 'Amount',
  cell: (cctx) => markup`${cells.coin(cctx)}<small>${cells.text(cctx.coinType)}</small>`,
};

const cctxColumns: readonly ItemColumn<CctxItem>[] = [
  { title: 'Created', cell: createdCell },
  { title: 'Index', cell: ({ index }) => cells.identifier(index) },
  { title: 'From', cell: sourceCell },
  { title: 'Pending on', cell: (cctx) => markup`${chainName(cctx)}${party('to', cctx.receiver)}` },
  nonceColumn,
  { title: 'Why it waits', cell: statusCell, type: 'wide' },
  amountColumn,
  { title: 'Outbound hash', cell: hashCell },
];

const missedTable: ItemTable<CctxItem> = {
  name: 'missed',
  alerts: ['CrosschainCctxsMissed', 'CrosschainFreezeNear'],
  title: 'Missed cctxs',
  orderText: 'the oldest first; each was overtaken by a later nonce of its chain',
  rowId: ({ index }) => anchor('missed', index),
  columns: cctxColumns,
};

const pendingTable: ItemTable<CctxItem> = {
  name: 'pending',
  alerts: ['CrosschainBacklogStuck', 'CrosschainOldestPendingTooOld'],
  firstRows: oldestOfJudgedChains,
  title: 'Pending cctxs',
  rowId: ({ index }) => anchor('pending', index),
  columns: cctxColumns,
};

/** The oldest of each chain that an alert is about. */
function oldestOfJudgedChains(rows: readonly CctxItem[], { view }: PageContext): readonly CctxItem[] {
  const chains = new Set(
    firingVerdicts(view).flatMap(({ alert, subject }) =>
      OLDEST_ALERTS.some((own) => own === alert) ? [subject.chain_id] : [],
    ),
  );
  return Array.from(chains).flatMap((id) => rows.find(({ chainId }) => chainId === id) ?? []);
}

const unlistedTable: ItemTable<UnlistedItem> = {
  name: 'unlisted',
  alerts: ['CrosschainCctxsUnlisted'],
  title: 'Unlisted cctxs',
  orderText: 'the oldest first; they have left the lists of the node, which still calls them pending',
  openRows: 25,
  rowId: ({ index }) => anchor('unlisted', index),
  columns: [
    { title: 'Created', cell: ({ createdAt }, page) => timeCell(createdAt, page) },
    { title: 'Index', cell: ({ index }) => cells.identifier(index) },
    { title: 'Pending on', cell: chainName },
    nonceColumn,
    amountColumn,
    {
      title: 'No longer listed',
      cell: ({ goneAt, ignored }, page) => markup`${timeCell(goneAt, page)}${ignored ? IGNORED : ''}`,
    },
  ],
};

export function crosschainLists(
  { chains, missed, pending, unlisted }: CrosschainItems,
  page: PageContext,
): readonly ListSection[] {
  const isUnlistedShown = unlisted !== null && (page.search !== null || unlisted.total !== 0);
  return [
    itemSection(chainTable, chains, page),
    itemSection(missedTable, missed, page),
    ...(isUnlistedShown ? [itemSection(unlistedTable, unlisted, page)] : []),
    itemSection(pendingTable, pending, page),
  ];
}

/** An estimated creation time is that of the last update, which is later. */
function createdCell({ createdAt, isCreationEstimated }: CctxItem, page: PageContext): Markup {
  return timeCell(createdAt, page, ...(isCreationEstimated ? ['at least ', 'last update '] : []));
}

function timeCell(time: string | null, { nowMs }: PageContext, before = '', what = ''): Markup {
  return cells.orUnknown(
    time,
    (iso) =>
      markup`<span class="nowrap">${before}${ago((nowMs - Date.parse(iso)) / 1000)}</span><small>${what}${timeElement(iso)}</small>`,
  );
}

/** The source chain, the sender and the inbound transaction. */
function sourceCell(cctx: CctxItem, { links, search }: PageContext): Markup {
  const { sourceChainId, sender, origin, inboundHash } = cctx;
  // A search can have found it.
  const signer = search === null || origin === sender ? markup`` : party('signed by', origin);
  const url = inboundHash === null ? undefined : transactionUrl(links, sourceChainId, inboundHash);
  return markup`${cells.orUnknown(cctx.sourceChain ?? sourceChainId, isolated)}${party('by', sender)}${signer}${party('tx', inboundHash, url)}`;
}

function party(word: string, id: string | null, url?: string): Markup {
  return id === null ? markup`` : markup`<small class="nowrap">${word} ${cells.identifier(id, url)}</small>`;
}

function chainName({ chain, chainId }: Pick<CctxItem, 'chain' | 'chainId'>): Markup {
  return chain === null ? cells.text(chainId) : markup`${isolated(chain)}<small>chain ${cells.text(chainId)}</small>`;
}

const IGNORED = markup` <span class="badge" title="left out of the metrics and alerts by crosschain.ignore">ignored</span>`;

/** Nonces of a chain are executed in order; a hash is posted when its transaction was seen on the chain. */
function waitText({ chainId, nonce, hash }: CctxItem, { view, chains }: PageContext): string {
  const {
    lowestPendingNonce: lowest = null,
    lowestMissedNonce: missed = null,
    lookaheadNonces = null,
  } = chains.find((chain) => chain.chainId === chainId) ?? {};
  if (nonce === null || hash === null) return 'unknown';
  if (lowest === null || compare(asNumeral(nonce), asNumeral(lowest)) < 0)
    return 'overtaken: an observer has to post its hash';
  if (judgeSeverity(view, ['CrosschainOutboundDisabled']) !== undefined) return 'the hub has switched off outbounds';
  if (hash !== '') return 'sent, waits for confirmations and votes';
  if (missed !== null && lookaheadNonces !== null && subtract(asNumeral(nonce), asNumeral(missed)) >= lookaheadNonces) {
    return `waits behind the missed nonce ${missed}`;
  }
  return nonce === lowest ? 'not sent, or not seen on its chain yet' : `waits behind nonce ${lowest}`;
}

function statusCell(cctx: CctxItem, page: PageContext): Markup {
  const { status, statusMessage, error, ignored } = cctx;
  const badge = ignored ? IGNORED : '';
  const texts = [statusMessage, error].flatMap((text) =>
    text === null ? [] : [markup`<small>${isolated(text)}</small>`],
  );
  return markup`${waitText(cctx, page)}${badge}<small>${cells.text(status)}</small>${texts}`;
}

function hashCell({ hash, chainId }: CctxItem, { links }: PageContext): Markup {
  if (hash === '') return markup`<span class="badge">no hash</span>`;
  return cells.identifier(hash, hash === null ? undefined : transactionUrl(links, chainId, hash));
}
