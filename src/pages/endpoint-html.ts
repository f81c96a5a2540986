import { durationInWords } from '../text/format.js';
import { chooseRemedy } from '../http/failure-reasons.js';
import { isolated, markup, type Markup, ago, clockTimeElement, distanceElement } from './html.js';
import { pendingLink } from './layout.js';
import type { EndpointView, NodeView, NumberView } from './view.js';

/* How old the data of an endpoint is, why its polls fail, and its backlog in numbers. */

/** A shorter delay is not shown: the newest block is usually some seconds old. */
const SHOWN_BEHIND_SECONDS = 60;

/** The time of the newest block, if it is clearly older than the poll. */
export function renderBlockTime({ blockTime, behindSeconds }: NodeView): Markup | undefined {
  if (blockTime === null || behindSeconds === null) return undefined;
  if (behindSeconds <= SHOWN_BEHIND_SECONDS) return undefined;
  return markup`block time ${clockTimeElement(blockTime)}, ${durationInWords(behindSeconds)} behind`;
}

/** The last successful poll, and how far its node was behind. */
export function lastSuccess({ asOf, ageSeconds, availability, node }: EndpointView): Markup {
  if (asOf === null) return markup`never <small>no chain series are exported</small>`;
  const blockTime = renderBlockTime(node);
  const note =
    availability === 'withdrawn'
      ? markup` <small>chain series are withdrawn</small>`
      : blockTime === undefined
        ? ''
        : markup` <small class="warning">as of ${blockTime}</small>`;
  return markup`${distanceElement(asOf, ago(ageSeconds ?? 0))}${note}`;
}

/** The present failure of an endpoint, with its remedy. */
export function failureHtml({ lastFailure, up }: EndpointView): Markup {
  return up === false && lastFailure !== null
    ? markup`<p>${failureText(lastFailure)}</p><p class="remedy">${chooseRemedy(lastFailure)}</p>`
    : markup`<p>The last poll succeeded, but none has ended since.</p><p class="remedy">The exporter is stalled: check its log and the load of its machine.</p>`;
}

export function failureText({ at, ageSeconds, reason, message }: NonNullable<EndpointView['lastFailure']>): Markup {
  return markup`<code class="reason">${reason}</code> ${isolated(message)} <small>${distanceElement(at, ago(ageSeconds))}</small>`;
}

export function numbersHtml(target: string, backlog: readonly NumberView[] | null): Markup {
  return markup`<ul class="plain">${(backlog ?? []).map((number) => numberHtml(target, number))}</ul>`;
}

function numberHtml(target: string, { label, list, count, parts, oldestSeconds, severity }: NumberView): Markup {
  // The word of the severity, because no state may depend on color alone.
  const word = severity === null ? '' : markup` <span class="state ${severity}">${severity}</span>`;
  const notes = [...parts, ...(oldestSeconds === null ? [] : [`oldest ${durationInWords(oldestSeconds)}`])];
  const small = notes.length === 0 ? '' : markup` <small>${notes.join('; ')}</small>`;
  return markup`<li><a href="${pendingLink(target, list)}">${label} <b>${count ?? 'unknown'}</b></a>${word}${small}\n`;
}
