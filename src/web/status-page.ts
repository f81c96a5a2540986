import type { EndpointView } from './endpoint-view.js';
import { figures } from './figures.js';
import { markup, type Markup } from './html.js';
import { anchor, layout } from './layout.js';
import { ago } from './time.js';

/** Every target and endpoint with its state, for a person who asks whether the numbers can be believed. */
export function statusPage(endpoints: readonly EndpointView[], telemetryPath: string): string {
  const body = markup`<table class="cards">
<thead><tr>${TITLES.map((title) => markup`<th class="fixed">${title}`)}</tr></thead>
<tbody>
${endpoints.map(row)}</tbody>
</table>`;
  return layout('Status', telemetryPath, body);
}

const TITLES = ['Target', 'Endpoint', 'State', 'Last success', 'Chain series', 'Last failure', 'What waits'] as const;

function row(view: EndpointView): Markup {
  const { target, endpoint, up, ageSeconds, shown, lastFailure, items } = view;
  const [word, kind] = up === null ? ['not polled yet', 'quiet'] : up ? ['up', 'ok'] : ['failing', 'bad'];
  const cells: readonly (Markup | string)[] = [
    target,
    markup`<a href="/pending#${anchor(target, endpoint)}">${endpoint}</a>`,
    markup`<span class="${kind}">${word}</span>`,
    ageSeconds === null ? 'never' : ago(ageSeconds),
    shown ? 'shown' : ageSeconds === null ? 'none' : 'withdrawn, too old',
    lastFailure ? `${lastFailure.reason}: ${lastFailure.message} (${ago(lastFailure.ageSeconds)})` : 'none',
    items ? figures(target, items) : 'not known',
  ];
  return markup`<tr>${cells.map((cell, index) => markup`<td data-label="${TITLES[index] ?? ''}"${index < cells.length - 1 ? '' : markup` class="wide"`}>${cell}`)}\n`;
}
