import { listedRows } from '../problems/sentence.js';
import type { BridgeItems, ItemList } from '../facts/items/items.js';
import { lateAlerts, type BlockingValidator } from './blocking.js';
import * as cells from './cells.js';
import { contactHtml } from './contacts.js';
import { markup, type Markup } from './html.js';
import { anchor } from './layout.js';
import { tableHtml, type Column, type Table } from './table.js';
import { count, duration, percent } from '../text/format.js';

/** The section about who has to act: validators for which something waits, then those that are late without consequences yet. */
export function blockingSection(validators: readonly BlockingValidator[], items: BridgeItems): Markup {
  const blocking = validators.filter(({ isBlocking }) => isBlocking);
  const late = validators.filter(({ isBlocking }) => !isBlocking);
  return markup`<section id="blocking" aria-labelledby="blocking-title">
<h2 id="blocking-title">Who is blocking <span class="quiet">${blocking.length}</span></h2>
${blocking.length === 0 ? nobody(items, late) : blockingTable(blocking, items)}${late.length === 0 ? '' : lateTable(late, items, blocking.length === 0)}${extentNote(items)}
</section>
`;
}

function nobody({ batches, valsets, claims }: BridgeItems, late: readonly BlockingValidator[]): Markup {
  if (late.length > 0) return markup`<p>Nothing waits: enough others have signed and voted.</p>`;
  const isComplete = [batches, valsets, claims].every(({ readable }) => readable);
  return markup`<p>Nothing has waited for a validator for more than five minutes${isComplete ? '' : ' in the lists that can be read'}.</p>`;
}

/** Share of the stake that must vote for an event. Fixed by the hub, whatever the contract requires of signatures. */
const QUORUM = 0.66;

function blockingTable(validators: readonly BlockingValidator[], items: BridgeItems): Markup {
  const ratios = validators.flatMap(({ powerRatio }) => powerRatio ?? []);
  const power = ratios.reduce((sum, ratio) => sum + ratio, 0);
  const having = ratios.length < validators.length ? '' : ` with ${percent(power, 2)} of the power`;
  const disputed = validators.filter(({ otherClaims }) => otherClaims.length > 0).length;
  const dispute =
    disputed === 0
      ? ''
      : ` ${disputed} voted for another claim of an event than the one with the most power; either claim can be right.`;
  const intro = markup`<p>${count(validators.length, 'validator')}${having}. Signatures of ${percent(Number(items.powerThreshold), 2)} and votes of ${percent(QUORUM, 2)} are required.${dispute}</p>`;
  return markup`${intro}
${validatorTable('Who is blocking', validators, items)}`;
}

function lateTable(validators: readonly BlockingValidator[], items: BridgeItems, isAlone: boolean): Markup {
  const title = isAlone ? 'Who is late' : 'Who else is late';
  return markup`
<h3 id="late-title">${title} <span class="quiet">${validators.length}</span></h3>
<p>${isAlone ? '' : 'Enough others sign and vote, so nothing waits for these validators. '}A validator that misses the deadline of a validator set is jailed.</p>
${validatorTable(title, validators, items)}`;
}

/** Rows are missing here if they are missing in the lists. */
function extentNote(items: BridgeItems): Markup {
  const { batches, valsets, claims, batchesBelowThreshold } = items;
  const lists = [
    ['batches', batches, hasAllUnsignedBatches(items)],
    ['validator sets', valsets, hasAllRows(valsets)],
    ['claims', claims, hasAllRows(claims)],
  ] as const;
  const notes = lists.flatMap(([noun, list, hasAll]) => {
    if (!list.readable) return [`The list of ${noun} cannot be read.`];
    if (hasAll) return [];
    const total = list === batches ? (batchesBelowThreshold ?? list.total) : list.total;
    return [`Only the ${list.rows.length} oldest of ${total} ${noun} are considered.`];
  });
  return notes.length === 0 ? markup`` : markup`<p class="note">${notes.join(' ')}</p>`;
}

function hasAllRows(list: ItemList<unknown>): boolean {
  return list.readable && list.rows.length === list.total;
}

/** Batches that lack signatures come first in their list, so the others may be missing. */
function hasAllUnsignedBatches({ batches, batchesBelowThreshold }: BridgeItems): boolean {
  const unsigned = listedRows(batches).filter(({ belowThreshold }) => belowThreshold !== false);
  return hasAllRows(batches) || (batches.readable && unsigned.length === batchesBelowThreshold);
}

type ValidatorColumn = Column<BlockingValidator, BridgeItems>;

const columns: readonly ValidatorColumn[] = [
  { title: 'Validator', cell: who, type: 'row-header' },
  { title: 'Power', cell: ({ powerRatio }) => cells.orUnknown(powerRatio, (ratio) => markup`${percent(ratio, 2)}`) },
  {
    title: 'Late for',
    cell: ({ oldestSeconds }) => cells.orUnknown(oldestSeconds, (seconds) => markup`${duration(seconds)}`),
  },
  { title: 'Missing or disputed', cell: missing, type: 'wide' },
];

const deadlineColumn: ValidatorColumn = { title: 'Deadline', cell: deadline, type: 'wide' };

function validatorTable(title: string, validators: readonly BlockingValidator[], items: BridgeItems): Markup {
  const hasDeadline = validators.some(({ jailedIn, timeoutIn }) => jailedIn !== null || timeoutIn !== null);
  const table: Table<BlockingValidator, BridgeItems> = {
    title,
    cssClass: 'blocking',
    columns: hasDeadline ? [...columns, deadlineColumn] : columns,
    rowId: ({ externalAddress }) => anchor('blocking', externalAddress),
    rowClass: ({ watched }) => (watched ? 'watched' : ''),
  };
  return tableHtml(table, validators, items);
}

/** Names are not unique: anyone can choose any name, also one that looks like another. The address is beside it. */
function who({ name, orchestrator, externalAddress, watched, contact }: BlockingValidator): Markup {
  const badge = watched ? markup` <span class="badge">yours</span>` : '';
  const label = name === null ? markup`<span class="quiet">no name</span>` : markup`<b>${cells.name(name)}</b>`;
  const address = orchestrator === null ? markup`unknown orchestrator` : cells.identifier(orchestrator);
  return markup`${label}${badge}<small>${address} ${cells.identifier(externalAddress)}</small>${contactHtml(contact)}`;
}

function missing({ batches, valsets, events, otherClaims, alerts }: BlockingValidator, items: BridgeItems): Markup {
  const parts = [
    ...nonces('votes for', 'event', events, hasAllRows(items.claims)),
    ...nonces('voted for another claim of', 'event', otherClaims, hasAllRows(items.claims)),
    ...nonces('', 'batch', batches, hasAllUnsignedBatches(items)),
    ...nonces('', 'validator set', valsets, hasAllRows(items.valsets)),
    ...alerts.map((alert) => markup`${lateAlerts.get(alert) ?? alert}`),
  ];
  return markup`${parts.map((part, index) => markup`${index === 0 ? '' : '; '}${part}`)}`;
}

const MAX_NONCES = 3;

/** Shortened; of an incomplete list, more may be missing. */
function nonces(verb: string, noun: string, list: readonly string[], isComplete: boolean): Markup[] {
  const [first] = list;
  const last = list.at(-1);
  if (first === undefined || last === undefined) return [];
  const plural = list.length === 1 ? noun : noun === 'batch' ? 'batches' : `${noun}s`;
  const range = isComplete ? `between ${first} and ${last}` : `from ${first} on`;
  const numbers = list.length <= MAX_NONCES ? list.join(', ') : range;
  const atLeast = isComplete || list.length === 1 ? '' : 'at least ';
  return [
    markup`${verb === '' ? '' : `${verb} `}${atLeast}${list.length === 1 ? '' : `${list.length} `}${plural} ${numbers}`,
  ];
}

function deadline({ jailedIn, timeoutIn }: BlockingValidator): Markup {
  const parts = [
    ...(jailedIn === null ? [] : [markup`<span>jailing: ${cells.blocks(jailedIn, 'hub blocks', 'left')}</span>`]),
    ...(timeoutIn === null
      ? []
      : [markup`<span>batch times out: ${cells.blocks(timeoutIn, 'external blocks', 'left')}</span>`]),
  ];
  return parts.length === 0 ? markup`<span class="quiet">none</span>` : markup`${parts}`;
}
