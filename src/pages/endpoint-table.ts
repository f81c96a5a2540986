import { SIZE_RATIO } from '../poll/endpoint-conditions.js';
import { documents } from '../documents.js';
import { formatApproximateSize, formatSize } from '../config/units.js';
import { remedyOf } from '../http/failure-reasons.js';
import type { LastPoll } from '../poll/endpoint-state.js';
import type { EndpointStatus } from './endpoint-view.js';
import { backlogHtml } from './backlog.js';
import { flowHtml } from './flow.js';
import { isolated, markup, type Markup } from './html.js';
import { anchor, pendingLink } from './layout.js';
import { blockTimeOf } from './node-view.js';
import { tableHtml, type Column, type Table } from './table.js';
import type { TargetView } from './target-view.js';
import { duration } from '../text/format.js';
import { ago, distanceElement } from './time.js';

/*
 * The tables of endpoints on the status page.
 */

/** With more failing endpoints than these, a summary by reason precedes the table. */
const SUMMARIZE_ABOVE = 5;

/** What cells need besides their row. */
export interface EndpointContext {
  readonly nowMs: number;
  readonly targets: ReadonlyMap<string, TargetView>;
}

type EndpointColumn = Column<EndpointStatus, EndpointContext>;

const commonColumns: readonly EndpointColumn[] = [
  { title: 'State', cell: availabilityCell },
  { title: 'Endpoint', cell: nameCell, type: 'row-header' },
  { title: 'Last success', cell: lastSuccessCell },
];

const attentionTable = endpointTable('Endpoints that need attention', [
  { title: 'Reason and remedy', cell: reasonCell, type: 'wide' },
]);

const upTable = endpointTable('Endpoints that are up', [
  { title: 'Backlog', cell: backlogCell, type: 'wide' },
  { title: 'Polls', cell: pollsCell },
]);

function endpointTable(title: string, columns: readonly EndpointColumn[]): Table<EndpointStatus, EndpointContext> {
  return {
    title,
    cssClass: 'endpoints',
    columns: [...commonColumns, ...columns],
    rowId: idOf,
    rowClass: ({ availability }) => availability,
  };
}

/** Failing and withdrawn endpoints. Many failures with the same reason have one cause, so that they are counted by reason. */
export function endpointsNeedingAttention(statuses: readonly EndpointStatus[], context: EndpointContext): Markup {
  const counts = new Map<string, number>();
  for (const { up, lastFailure } of statuses) {
    if (up === false && lastFailure) counts.set(lastFailure.reason, (counts.get(lastFailure.reason) ?? 0) + 1);
  }
  const byReason = Array.from(counts, ([reason, count]) => markup`<li>${count} × <code>${reason}</code>`);
  const summary = statuses.length > SUMMARIZE_ABOVE ? markup`<ul class="names">${byReason}</ul>` : '';
  return markup`${summary}${tableHtml(attentionTable, statuses, context)}`;
}

export function endpointsUp(statuses: readonly EndpointStatus[], context: EndpointContext): Markup {
  return tableHtml(upTable, statuses, context);
}

export function endpointsNotPolled(statuses: readonly EndpointStatus[]): Markup {
  return markup`<ul class="names">
${statuses.map((status) => markup`<li id="${idOf(status)}"><span class="state initial"></span>${nameCell(status)}\n`)}</ul>`;
}

function idOf({ target, document }: EndpointStatus): string {
  return anchor(target, document);
}

/** The style adds a color and a shape, so that no state depends on color alone. */
function availabilityCell({ availability }: EndpointStatus): Markup {
  return markup`<b class="state ${availability}">${availability}</b>`;
}

function nameCell({ target, document, host, state: { success } }: EndpointStatus): Markup {
  const foundPath = success?.foundPath;
  const path =
    foundPath === undefined ? '' : markup` <small>${foundPath.dialect} <code>${foundPath.path}</code></small>`;
  return markup`<a class="target" href="${pendingLink(target, document)}">${isolated(target)}</a> <small>${documents[document].title} <code>${document}</code></small> <small><code>${host}</code></small>${path}`;
}

function lastSuccessCell({ asOf, ageSeconds, withdrawal, availability, node }: EndpointStatus): Markup {
  if (asOf === null || withdrawal === null) return markup`never <small>no chain series are exported</small>`;
  const success = distanceElement(asOf, ago(ageSeconds ?? 0));
  const blockTime = blockTimeOf(node);
  if (availability === 'up')
    return blockTime === undefined ? success : markup`${success} <small class="warning">${blockTime}</small>`;
  const { at, inSeconds } = withdrawal;
  return inSeconds > 0
    ? markup`${success} <small>chain series are withdrawn ${distanceElement(at, `in ${duration(inSeconds)}`)}</small>`
    : markup`${success} <small>chain series were withdrawn ${distanceElement(at, ago(-inSeconds))}</small>`;
}

function reasonCell(status: EndpointStatus, context: EndpointContext): Markup {
  const { lastFailure, up, items } = status;
  const failure =
    up === false && lastFailure !== null
      ? markup`<p><code class="reason">${lastFailure.reason}</code> ${isolated(lastFailure.message)} <small>${distanceElement(lastFailure.at, ago(lastFailure.ageSeconds))}</small></p><p class="remedy">${remedyOf(lastFailure, status.document)}</p>`
      : markup`<p>The last poll succeeded, but none has ended since.</p><p class="remedy">The exporter is stalled: check its log and the load of its machine.</p>`;
  const lastBacklog =
    items === null ? '' : markup`<p class="note">As of the last success:</p>${backlogCell(status, context)}`;
  return markup`${failure}${lastBacklog}${failureDetails(status)}`;
}

function backlogCell({ target, items, flow }: EndpointStatus, { nowMs, targets }: EndpointContext): Markup {
  const view = targets.get(target);
  return items === null || view === undefined ? markup`` : markup`${backlogHtml(view, items, nowMs)}${flowHtml(flow)}`;
}

function pollsCell(status: EndpointStatus): Markup {
  const hasProblem = status.lastFailure !== null || status.invalidFields.length > 0;
  return markup`${hasProblem ? failureDetails(status) : status.state.polls} <small class="polls">${lastPollHtml(status)}</small>`;
}

function lastPollHtml({ state: { last, maxBodyBytes } }: EndpointStatus): Markup {
  const seconds = last === undefined ? '' : durationOf(last);
  const bodyBytes = last?.bodyBytes;
  if (bodyBytes === undefined) return markup`${seconds}`;
  const isNearLimit = bodyBytes > SIZE_RATIO * maxBodyBytes;
  const size = isNearLimit
    ? markup`<span class="warning">${formatApproximateSize(bodyBytes)} of at most ${formatSize(maxBodyBytes)}</span>`
    : markup`${formatApproximateSize(bodyBytes)}`;
  return markup`${seconds}, ${size}`;
}

/** The sum of all phases. */
function durationOf({ phaseSeconds }: LastPoll): string {
  const seconds = Object.values(phaseSeconds).reduce((sum, phase) => sum + phase, 0);
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`;
}

/** Collapsed, so that a page of many endpoints stays short. */
function failureDetails(status: EndpointStatus): Markup {
  const { state, invalidFields } = status;
  const failures = Object.entries(state.failures).filter(([, count]) => count > 0);
  const failed = failures.reduce((sum, [, count]) => sum + count, 0);
  const invalid =
    invalidFields.length === 0 ? '' : markup`, <span class="warning">${invalidFields.length} invalid fields</span>`;
  const byReason = failures.map(([reason, count]) => markup`<li>${count} × <code>${reason}</code></li>`);
  const fields =
    invalidFields.length === 0
      ? ''
      : markup`<p>Fields of the wrong type in the last response; the series that need them are withdrawn:</p><ul>${invalidFields.map((field) => markup`<li><code>${field}</code></li>`)}</ul>`;
  return markup`<details id="${idOf(status)}/polls"><summary>${failed} of ${state.polls} polls failed${invalid}</summary>${byReason.length > 0 ? markup`<ul>${byReason}</ul>` : ''}${lastFailureNote(status)}${fields}</details>`;
}

/** The reason of a current failure is in its row already. */
function lastFailureNote({ lastFailure, state: { last } }: EndpointStatus): Markup {
  if (lastFailure === null || last === undefined) return markup``;
  const { at, ageSeconds, reason, message } = lastFailure;
  return last.ok
    ? markup`<p>Last failure ${distanceElement(at, ago(ageSeconds))}: <code>${reason}</code> ${isolated(message)}</p>`
    : markup`<p>The last poll failed after ${durationOf(last)}.</p>`;
}
