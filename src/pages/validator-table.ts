import { QUORUM_RATIO } from '../facts/bridge/power-shares.js';
import { listedRows } from '../facts/items/item-list.js';
import { firstDispute } from '../problems/oracle.js';
import { membersOf, shownValidatorNames } from '../problems/sentence.js';
import { count, durationInWords, percent } from '../text/format.js';
import * as cells from './cells.js';
import { isolated, markup, type Markup } from './html.js';
import { anchor, pendingLink, section } from './layout.js';
import { tableHtml, type Column } from './table.js';
import { blockTimeOf } from './time.js';
import { timeAfter, validatorCells, type ValidatorOfBridge } from './validator-cells.js';
import type { WatchedValidator } from './validator-view.js';
import { bridgeOf, type EndpointView, type TargetView, type View } from './view.js';
import { severityOf } from '../engine/verdicts.js';
import type { BridgeItems } from '../facts/items/bridge.js';

/*
 * The table of validators: watched validators, also when all is well, then validators for whose signature or vote an item waits, then validators that are
 * late although the others are sufficient. The status page has the watched validators of all targets.
 */

function membersIn({ endpoints }: View, view: TargetView): readonly ValidatorOfBridge[] {
  const bridge = bridgeOf(endpoints, view.target);
  if (bridge === undefined) return [];
  return (view.validators ?? []).map((validator) => ({ ...bridge, view, validator }));
}

/** The section of the watched validators of all targets; empty without an entry of `watch`. */
export function ownValidatorsSection(view: View): Markup {
  const members = view.targets.flatMap((target) => membersIn(view, target)).filter(isWatched);
  const table = members.length === 0 ? '' : validatorTable(members, [targetColumn, ...columns]);
  return validatorSection('Your validators', members, markup`${unknownValidators(view.endpoints)}${table}`);
}

const isWatched = ({ validator }: ValidatorOfBridge): boolean => validator.own !== null;

function validatorSection(title: string, members: readonly ValidatorOfBridge[], body: Markup): Markup {
  return section(
    'validators',
    markup`${title}${members.length === 0 ? '' : markup` <span class="quiet">${members.length}</span>`}`,
    body,
  );
}

/** The nearest deadline of a watched validator that is late with a signature, unless an alert says it. */
export function deadlineNote(view: View): Markup {
  const isSaid = (own: WatchedValidator, target: TargetView): boolean =>
    severityOf(target, ['BridgeOrchestratorDeadlineNear'], { orchestrator: own.orchestrator ?? '' }) !== undefined;
  const late = view.targets
    .flatMap((target) => membersIn(view, target))
    .flatMap(({ validator: { own }, endpoint: { asOf }, view: target }) => {
      const seconds = own?.jailedIn?.seconds ?? null;
      if (own === null || own.lateSignature === null || own.jailed === true || isSaid(own, target)) return [];
      return seconds === null || asOf === null ? [] : [{ ...own, ...own.lateSignature, asOf, seconds }];
    });
  const [nearest] = late.toSorted((a, b) => a.seconds - b.seconds);
  if (nearest === undefined) return markup``;
  const { name, address, of, nonce, seconds } = nearest;
  return markup`<p><b>${cells.name(name ?? address)}</b> has to sign ${of} ${nonce} by ${timeAfter(nearest.asOf, seconds)} <small>(${durationInWords(seconds)} left)</small> or is jailed.</p>\n`;
}

/** A note for entries of `watch` without a row, because no document is shown. */
function unknownValidators(endpoints: readonly EndpointView[]): Markup {
  const notes = endpoints.flatMap(({ target, items, source: { job } }) => {
    const watch = job.context.document === 'module_state' ? job.context.settings.watch : [];
    if (items !== null || watch.length === 0) return [];
    const what = watch.length === 1 ? 'your validator' : `your ${watch.length} validators`;
    return [markup`<p>Nothing is known of ${what} of ${isolated(target)} until a poll of its bridge succeeds.</p>`];
  });
  return markup`${notes}`;
}

/** The section of the validators of a target; empty without a bridge whose items are shown. */
export function validatorsSection(view: View, target: TargetView): Markup {
  const bridge = bridgeOf(view.endpoints, target.target);
  if (bridge === undefined) return validatorSection('Validators', [], unknownValidators(view.endpoints));
  const members = membersIn(view, target);
  const table = members.length === 0 ? '' : validatorTable(members, columns);
  return validatorSection(
    'Validators',
    members,
    markup`${introduction(members, bridge)}
${table}${extentNote(bridge.items)}`,
  );
}

/** The validators that have to act, in a sentence. */
function introduction(
  members: readonly ValidatorOfBridge[],
  { items, endpoint }: Pick<ValidatorOfBridge, 'items' | 'endpoint'>,
): Markup {
  const late = members.map(({ validator }) => validator).filter((validator) => validator.late.length > 0);
  const blocking = late.filter(({ late: waiting }) => waiting.some(({ isBlocking }) => isBlocking));
  const notBlocking = late.length - blocking.length;
  const jailing =
    notBlocking === 0
      ? ''
      : `${count(notBlocking, 'validator')} ${notBlocking === 1 ? 'is' : 'are'} late although enough others sign and vote. A validator that misses the deadline of a validator set or batch is jailed.`;
  const dispute = disputeHtml(items);
  // The node knows nothing after its newest block.
  const time = blockTimeOf(endpoint.node);
  const asOf = time === undefined ? '' : markup`As of ${time}: `;
  if (blocking.length === 0) {
    const nothing = dispute.html === '' ? 'Nothing has waited for a validator for more than five minutes.' : '';
    const text = jailing || nothing;
    return markup`${text === '' ? '' : markup`<p>${asOf}${text}</p>`}${dispute}`;
  }
  const ratios = blocking.flatMap(({ powerRatio }) => powerRatio ?? []);
  const power = ratios.reduce((sum, ratio) => sum + ratio, 0);
  const having = ratios.length < blocking.length ? '' : ` with ${percent(power, 2)} of the power`;
  const required = `Signatures of ${percent(Number(items.powerThreshold), 2)} and votes of ${percent(QUORUM_RATIO, 2)} are required.`;
  return markup`<p>${asOf}Something has waited for <b>${count(blocking.length, 'validator')}</b>${having} for more than five minutes. ${required}${jailing === '' ? '' : ` ${jailing}`}</p>${dispute}`;
}

/** A dispute is not a delay of any validator. */
function disputeHtml(items: BridgeItems): Markup {
  const dispute = firstDispute(items);
  if (dispute === undefined) return markup``;
  const sides = dispute.claims.map(({ claim: { voted, votes }, text }) => {
    const names = shownValidatorNames(membersOf(voted));
    const more = Math.max(0, (votes ?? 0) - names.length);
    const all = [...names, ...(more === 0 ? [] : [`${more} more`])];
    return markup`<li>${text || 'one thing'}: ${count(votes ?? 0, 'validator')}: ${isolated(all.join(', '))}`;
  });
  return markup`\n<p>Of event ${dispute.eventNonce}, validators claim different things, any of which can be right:</p><ul>${sides}</ul>`;
}

/** Validators can be missing in the table if the lists of items are incomplete. */
function extentNote({ batches, valsets, claims, batchesBelowThreshold, valsetsBelowThreshold }: BridgeItems): Markup {
  // Items that lack signatures come first in their lists.
  const unsigned = (list: BridgeItems['batches'] | BridgeItems['valsets']): number =>
    listedRows<{ readonly belowThreshold: boolean | null }>(list).filter((row) => row.belowThreshold !== false).length;
  const lists = [
    ['batches', batches.readable, unsigned(batches), batchesBelowThreshold ?? batches.total],
    ['validator sets', valsets.readable, unsigned(valsets), valsetsBelowThreshold ?? valsets.total],
    ['claims', claims.readable, listedRows(claims).length, claims.total],
  ] as const;
  const notes = lists.flatMap(([noun, isReadable, listed, total]) => {
    if (!isReadable) return [`The list of ${noun} cannot be read.`];
    return listed < (total ?? 0) ? [`Only the ${listed} oldest of ${total} ${noun} are considered.`] : [];
  });
  return notes.length === 0 ? markup`` : markup`<p class="note">${notes.join(' ')}</p>`;
}

interface Row extends ValidatorOfBridge {
  readonly cells: ReturnType<typeof validatorCells>;
}

/** The table without the columns that are empty for all rows. */
function validatorTable(members: readonly ValidatorOfBridge[], all: readonly Column<Row>[]): Markup {
  const table = {
    title: 'Validators',
    cssClass: 'validators',
    columns: members.some(isWatched) ? all : all.filter((column) => !watchedColumns.includes(column)),
    rowId: ({ view, validator: { own, externalAddress } }: Row) =>
      anchor('validators', view.target, own?.address ?? externalAddress ?? ''),
    rowClass: (row: Row) => (isWatched(row) ? 'watched' : ''),
  };
  const rows = members.map((member) => ({ ...member, cells: validatorCells(member) }));
  return tableHtml(table, rows, undefined);
}

const targetColumn: Column<Row> = {
  title: 'Target',
  cell: ({ view }) => markup`<a href="${pendingLink(view.target)}">${isolated(view.target)}</a>`,
};

const watchedColumns: readonly Column<Row>[] = [
  { title: 'Orchestrator', cell: (row) => row.cells.orchestrator },
  { title: 'What to do', cell: (row) => row.cells.action, type: 'wide' },
];

const columns: readonly Column<Row>[] = [
  { title: 'Validator', cell: (row) => row.cells.name, type: 'row-header' },
  { title: 'State', cell: (row) => row.cells.state },
  {
    title: 'Power',
    cell: ({ validator }) => cells.orUnknown(validator.powerRatio, (ratio) => markup`${percent(ratio, 2)}`),
  },
  { title: 'Votes and signatures', cell: (row) => row.cells.duties, type: 'wide' },
  { title: 'Deadline', cell: (row) => row.cells.deadline, type: 'wide' },
  ...watchedColumns,
];
