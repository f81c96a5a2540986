import { formatSize, roughSize } from '../config/kit/units.js';
import { failureReasons } from '../http/errors.js';
import type { Condition, EndpointStatus } from './endpoint-status.js';
import { endpointTitles } from './endpoint-view.js';
import { headlineStatistics } from './headline-statistics.js';
import { markup, type Markup } from './html.js';
import { anchor } from './layout.js';
import { ago, distanceElement, duration } from './time.js';

/** Answers this near to the limit of their size are marked: the next may be over it. */
const NEAR_LIMIT = 0.8;

/** More than these are summed up by reason. */
const MANY = 5;

export const conditionWords: Readonly<Record<Condition, string>> = {
  stale: 'stale',
  failing: 'failing',
  unpolled: 'not polled yet',
  up: 'up',
};

type Cell = readonly [title: string, cell: (status: EndpointStatus, nowMs: number) => Markup, kind?: 'name' | 'wide'];

const common: readonly Cell[] = [
  ['State', ({ condition }) => state(condition)],
  ['Endpoint', name, 'name'],
  ['Last success', lastSuccess],
];

const attentionCells: readonly Cell[] = [...common, ['Why, and what to do', reasons, 'wide']];
const upCells: readonly Cell[] = [...common, ['What waits', numbers, 'wide'], ['Polls', polls]];

/** Those that fail, with the reason; many that fail for one reason have one cause. */
export function attentionTable(statuses: readonly EndpointStatus[], nowMs: number): Markup {
  const counts = new Map<string, number>();
  for (const { up, lastFailure } of statuses) {
    if (up === false && lastFailure) counts.set(lastFailure.reason, (counts.get(lastFailure.reason) ?? 0) + 1);
  }
  const byReason = Array.from(counts, ([reason, count]) => markup`<li>${count} × <code>${reason}</code>`);
  const summary = statuses.length > MANY ? markup`<ul class="names">${byReason}</ul>` : '';
  return markup`${summary}${table(attentionCells, statuses, nowMs)}`;
}

export const upTable = (statuses: readonly EndpointStatus[], nowMs: number): Markup => table(upCells, statuses, nowMs);

/** Nothing is known of these but that they are there. */
export function neverPolledList(statuses: readonly EndpointStatus[]): Markup {
  return markup`<ul class="names">
${statuses.map((status) => markup`<li id="${idOf(status)}"><span class="state unpolled"></span>${name(status)}\n`)}</ul>`;
}

function table(cells: readonly Cell[], statuses: readonly EndpointStatus[], nowMs: number): Markup {
  return markup`<table class="cards endpoints">
<thead><tr>${cells.map(([title]) => markup`<th scope="col" class="fixed">${title}`)}</thead>
<tbody>
${statuses.map((status) => row(cells, status, nowMs))}</tbody>
</table>`;
}

function row(cells: readonly Cell[], status: EndpointStatus, nowMs: number): Markup {
  const columns = cells.map(([title, cell, kind]) => {
    const content = cell(status, nowMs);
    if (kind === 'name') return markup`<th scope="row">${content}`;
    return markup`<td data-label="${title}"${kind === 'wide' ? markup` class="wide"` : ''}>${content}`;
  });
  return markup`<tr id="${idOf(status)}" class="${status.condition}">${columns}\n`;
}

function idOf({ target, endpoint }: EndpointStatus): string {
  return anchor(target, endpoint);
}

/** Word, colour and shape say the same, since not everybody sees colours. */
export function state(condition: Condition): Markup {
  return markup`<b class="state ${condition}">${conditionWords[condition]}</b>`;
}

function name({ target, endpoint }: EndpointStatus): Markup {
  return markup`<a class="target" href="/pending#${anchor(target, endpoint)}">${target}</a> <small>${endpointTitles[endpoint]} <code>${endpoint}</code></small>`;
}

function lastSuccess({ asOf, ageSeconds, withdrawal, condition }: EndpointStatus): Markup {
  if (asOf === null || withdrawal === null) return markup`never <small>so it has no chain series</small>`;
  const answered = distanceElement(asOf, ago(ageSeconds ?? 0));
  if (condition === 'up') return answered;
  const { at, inSeconds } = withdrawal;
  return inSeconds > 0
    ? markup`${answered} <small>chain series are withdrawn ${distanceElement(at, `in ${duration(inSeconds)}`)}</small>`
    : markup`${answered} <small>chain series were withdrawn ${distanceElement(at, ago(-inSeconds))}</small>`;
}

function reasons(status: EndpointStatus, nowMs: number): Markup {
  const { target, lastFailure, up, items } = status;
  const failure =
    up === false && lastFailure !== null
      ? markup`<p><code class="reason">${lastFailure.reason}</code> ${lastFailure.message} <small>${distanceElement(lastFailure.at, ago(lastFailure.ageSeconds))}</small></p><p class="remedy">${failureReasons[lastFailure.reason].remedy}</p>`
      : markup`<p>The last poll succeeded, and none has ended since.</p><p class="remedy">The exporter is held up: look into its log, and at the load of its machine.</p>`;
  const last =
    items === null
      ? ''
      : markup`<p class="note">As of the last success:</p>${headlineStatistics(target, items, nowMs)}`;
  return markup`${failure}${last}${failures(status)}`;
}

function numbers({ target, items }: EndpointStatus, nowMs: number): Markup {
  return items === null ? markup`` : headlineStatistics(target, items, nowMs);
}

/** How polling goes; what went wrong is behind a click, so that a page of many endpoints stays calm. */
function polls(status: EndpointStatus): Markup {
  return markup`${status.lastFailure === null && status.unreadable.length === 0 ? status.polls : failures(status)} <small class="polls">${lastPoll(status)}</small>`;
}

function failures(status: EndpointStatus): Markup {
  const failed = status.failures.reduce((sum, [, count]) => sum + count, 0);
  const wrong =
    status.unreadable.length === 0 ? '' : markup`, <span class="bad">${status.unreadable.length} unreadable</span>`;
  return markup`<details id="${idOf(status)}/polls"><summary>${failed} of ${status.polls} polls failed${wrong}</summary>${details(status)}</details>`;
}

function lastPoll({ lastPollSeconds, bodyBytes, maxBodyBytes }: EndpointStatus): Markup {
  const took = lastPollSeconds === null ? '' : exactDuration(lastPollSeconds);
  if (bodyBytes === null) return markup`${took}`;
  const isNear = bodyBytes > NEAR_LIMIT * maxBodyBytes;
  const size = isNear
    ? markup`<span class="bad">${roughSize(bodyBytes)} of at most ${formatSize(maxBodyBytes)}</span>`
    : markup`${roughSize(bodyBytes)}`;
  return markup`${took}, ${size}`;
}

function exactDuration(seconds: number): string {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`;
}

function details({ failures: counts, unreadable, lastFailure, lastPollSeconds, up }: EndpointStatus): Markup {
  const byReason = counts.map(([reason, count]) => markup`<li>${count} × <code>${reason}</code></li>`);
  const when = lastFailure && distanceElement(lastFailure.at, ago(lastFailure.ageSeconds));
  const last =
    lastFailure === null || when === null
      ? ''
      : up === true
        ? markup`<p>The last ${when}: <code>${lastFailure.reason}</code> ${lastFailure.message}</p>`
        : markup`<p>The last after ${exactDuration(lastPollSeconds ?? 0)}.</p>`;
  const fields =
    unreadable.length === 0
      ? ''
      : markup`<p>Of the wrong kind in the last answer, so that what reads them is absent:</p><ul>${unreadable.map((field) => markup`<li><code>${field}</code></li>`)}</ul>`;
  return markup`${byReason.length > 0 ? markup`<ul>${byReason}</ul>` : ''}${last}${fields}`;
}
