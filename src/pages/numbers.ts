import { judgeSeverity, type TargetVerdicts } from '../engine/verdicts.js';
import type { HeadlineNumber } from '../items/headline.js';
import { durationInWords } from '../text/format.js';
import { markup, type Markup } from './html.js';
import { pendingLink } from './layout.js';
import { alertsOfNumber } from './lists.js';

/* The backlog in numbers, on both pages and in their JSON: waiting transfers, events, validator sets and cctxs. */

type NumberView = ReturnType<typeof numberViews>[number];

const LABELS: Readonly<Record<HeadlineNumber['list'], string>> = {
  tokens: 'Waiting transfers',
  claims: 'Pending events',
  valsets: 'Unrelayed validator sets',
  missed: 'Missed cctxs',
  pending: 'Pending cctxs',
};

/** The shown numbers of an endpoint, each as severe as the worst firing alert about its lists. */
export function numberViews(
  judged: Pick<TargetVerdicts, 'verdicts'>,
  numbers: readonly HeadlineNumber[],
  nowMs: number,
) {
  return numbers.flatMap(({ list, count, parts, oldestSeconds, oldestCreatedAt }) => {
    const severity = judgeSeverity(judged, alertsOfNumber(list)) ?? null;
    // Not shown without an alert: validator sets, relayed with the next batch, and the usual 0 missed transactions.
    if (severity === null && (list === 'valsets' || (list === 'missed' && count === 0))) return [];
    const createdAt = oldestCreatedAt ?? null;
    const oldest = createdAt === null ? (oldestSeconds ?? null) : (nowMs - Date.parse(createdAt)) / 1000;
    return [{ list, label: LABELS[list], count, parts, oldestSeconds: oldest, severity }];
  });
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
