import type { BlockSpan, BridgeItems, DecimalString } from '../pending/items.js';
import type { BlockingValidator } from './blocking.js';
import * as cells from './cells.js';
import { markup, type Markup } from './html.js';
import { anchor } from './layout.js';
import { duration } from './time.js';

/** The section about who has to act: validators that have not signed or voted where something waits for them. */
export function blockingSection(validators: readonly BlockingValidator[], items: BridgeItems): Markup {
  return markup`<section id="blocking" aria-labelledby="blocking-title">
<h2 id="blocking-title">Who is blocking <span class="quiet">${validators.length}</span></h2>
${validators.length === 0 ? nobody(items) : table(validators, items.powerThreshold)}${extentNote(items)}
</section>
`;
}

function nobody({ batches, valsets, claims }: BridgeItems): Markup {
  const isComplete = [batches, valsets, claims].every(({ readable }) => readable);
  return isComplete
    ? markup`<p>No validator is late to sign or vote for something that waits for it.</p>`
    : markup`<p>No validator is late in the lists that can be read.</p>`;
}

/** Rows are missing here if they are missing in the lists. */
function extentNote({ batches, valsets, claims }: BridgeItems): Markup {
  const lists = [
    ['batches', batches],
    ['validator sets', valsets],
    ['claims', claims],
  ] as const;
  const notes = lists.flatMap(([noun, list]) => {
    if (!list.readable) return [`The list of ${noun} cannot be read.`];
    return list.rows.length < list.total
      ? [`Only the ${list.rows.length} oldest of ${list.total} ${noun} are considered.`]
      : [];
  });
  return notes.length === 0 ? markup`` : markup`<p class="note">${notes.join(' ')}</p>`;
}

interface Column {
  readonly title: string;
  readonly cell: (validator: BlockingValidator) => Markup;
  readonly isWide?: boolean;
}

const columns: readonly Column[] = [
  { title: 'Power', cell: ({ powerRatio }) => cells.orUnknown(powerRatio, (ratio) => markup`${cells.percent(ratio)}`) },
  {
    title: 'Oldest waits for',
    cell: ({ oldestSeconds }) => cells.orUnknown(oldestSeconds, (seconds) => markup`${duration(seconds)}`),
  },
  { title: 'Missing or disputed', cell: missing, isWide: true },
];

const deadlineColumn: Column = { title: 'Deadline', cell: deadline, isWide: true };

function table(validators: readonly BlockingValidator[], powerThreshold: string): Markup {
  const power = validators.reduce((sum, { powerRatio }) => sum + (powerRatio ?? 0), 0);
  const subject = validators.length === 1 ? '1 validator' : `${validators.length} validators`;
  const hasDeadline = validators.some(({ jailedIn, timeoutIn }) => jailedIn !== null || timeoutIn !== null);
  const shown = hasDeadline ? [...columns, deadlineColumn] : columns;
  const titles = ['Validator', ...shown.map(({ title }) => title)];
  return markup`<p>${subject} with ${cells.percent(power)} of the power. Signatures and votes of ${cells.percent(Number(powerThreshold))} are required.</p>
<table class="cards blocking" role="table" aria-labelledby="blocking-title">
<thead role="rowgroup"><tr role="row">${titles.map((title) => markup`<th role="columnheader" scope="col" class="fixed">${title}`)}</tr></thead>
<tbody role="rowgroup">
${validators.map((validator) => row(validator, shown))}</tbody>
</table>`;
}

function row(validator: BlockingValidator, shown: readonly Column[]): Markup {
  const { externalAddress, watched } = validator;
  const rowCells = shown.map(
    ({ title, cell, isWide }) =>
      markup`<td role="cell" data-label="${title}"${isWide === true ? markup` class="wide"` : ''}>${cell(validator)}`,
  );
  return markup`<tr role="row" id="${anchor('blocking', externalAddress)}"${watched ? markup` class="watched"` : ''}><th role="rowheader" scope="row">${who(validator)}${rowCells}
`;
}

/** Names are not unique: anyone can choose any name, also one that looks like another. The address is beside it. */
function who({ name, orchestrator, externalAddress, watched }: BlockingValidator): Markup {
  const badge = watched ? markup` <span class="badge">yours</span>` : '';
  const label = name === null ? markup`<span class="quiet">no name</span>` : markup`<b>${cells.name(name)}</b>`;
  const address = orchestrator === null ? markup`unknown orchestrator` : cells.identifier(orchestrator);
  return markup`${label}${badge}<small>${address} ${cells.identifier(externalAddress)}</small>`;
}

function missing({ batches, valsets, events, otherClaims }: BlockingValidator): Markup {
  const parts = [
    ...nonces('votes for', 'event', events),
    ...nonces('voted for another claim of', 'event', otherClaims),
    ...nonces('', 'batch', batches),
    ...nonces('', 'validator set', valsets),
  ];
  return markup`${parts.map((part, index) => markup`${index === 0 ? '' : '; '}${part}`)}`;
}

const MAX_NONCES = 3;

function nonces(verb: string, noun: string, list: readonly DecimalString[]): Markup[] {
  const [first] = list;
  const last = list.at(-1);
  if (first === undefined || last === undefined) return [];
  const plural = list.length === 1 ? noun : noun === 'batch' ? 'batches' : `${noun}s`;
  const numbers = list.length <= MAX_NONCES ? list.join(', ') : `from ${first} to ${last}`;
  return [markup`${verb === '' ? '' : `${verb} `}${list.length === 1 ? '' : `${list.length} `}${plural} ${numbers}`];
}

function deadline({ jailedIn, timeoutIn }: BlockingValidator): Markup {
  const parts = [
    ...(jailedIn === null ? [] : [markup`<span>jailed: ${left(jailedIn, 'hub blocks')}</span>`]),
    ...(timeoutIn === null ? [] : [markup`<span>batch times out: ${left(timeoutIn, 'external blocks')}</span>`]),
  ];
  return parts.length === 0 ? markup`<span class="quiet">none</span>` : markup`${parts}`;
}

function left(span: BlockSpan, unit: string): Markup {
  return cells.blocks(span, unit, 'left');
}
