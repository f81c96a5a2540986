import type { EndpointState, Instant } from '../endpoint-state.js';
import type { Snapshots } from '../snapshots.js';
import { VERSION } from '../version.js';
import { escapeHtml } from './html.js';

const STYLE = `
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:0 auto;max-width:60rem;padding:1rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.4rem .6rem;border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent);vertical-align:top}
.ok{color:light-dark(#116329,#4ac26b)}.bad{color:light-dark(#a40e26,#ff8182)}.idle{opacity:.7}
.wide{overflow-x:auto}`;

/** Every target and endpoint with its state, for a person who asks whether the numbers can be believed. */
export function statusPage(snapshots: Snapshots, now: Instant, telemetryPath: string): string {
  const rows = snapshots.all().map((state) => row(state, snapshots.isShown(state, now), now));
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>bridge-exporter</title>
<style>${STYLE}</style>
<h1>bridge-exporter ${escapeHtml(VERSION)}</h1>
<p><a href="${escapeHtml(telemetryPath)}">Metrics</a> · <a href="/-/healthy">Health</a> · <a href="/-/ready">Readiness</a></p>
<div class="wide"><table>
<thead><tr><th>Target<th>Endpoint<th>State<th>Last success<th>Chain series<th>Last failure</thead>
<tbody>
${rows.join('\n')}
</tbody>
</table></div>
</html>
`;
}

function row(state: EndpointState, isShown: boolean, now: Instant): string {
  const { last, success, failure } = state;
  const [word, kind] = last === undefined ? ['not polled yet', 'idle'] : last.ok ? ['up', 'ok'] : ['failing', 'bad'];
  const failed = failure && `${failure.error.reason}: ${failure.error.message} (${ago(failure.at, now)})`;
  const cells = [
    escapeHtml(state.target),
    state.endpoint,
    `<span class="${kind}">${word}</span>`,
    success === undefined ? 'never' : ago(success.at, now),
    isShown ? 'shown' : success === undefined ? 'none' : 'withdrawn, too old',
    escapeHtml(failed ?? 'none'),
  ];
  return `<tr>${cells.map((cell) => `<td>${cell}`).join('')}</tr>`;
}

function ago(then: Instant, now: Instant): string {
  const seconds = Math.max(0, Math.round((now.monotonicMs - then.monotonicMs) / 1000));
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`;
  return `${Math.round(seconds / 3600)} h ago`;
}
