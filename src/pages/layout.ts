import { createHash } from 'node:crypto';
import { markup, type Markup } from './html.js';
import { REFRESH_SCRIPT } from './refresh-script.js';
import { STYLE } from './style.js';
import { timeElement } from './time.js';

export interface Page {
  readonly path: '/' | '/pending';
  /** What the tab says. */
  readonly title: string;
  readonly heading: Markup;
  /** When what a page that refreshes itself shows was so; a page without it stays as it is. */
  readonly asOf?: string;
  readonly telemetryPath: string;
  /** Of the exporter. */
  readonly version: string;
  readonly body: Markup;
}

/** An open page loads itself anew when what serves it was replaced by another version. */
function buildId(version: string): string {
  return createHash('sha256').update(version).update(STYLE).update(REFRESH_SCRIPT).digest('hex').slice(0, 12);
}

/** A whole page; there is nothing to load beside it. */
export function layout({ path, title, heading, asOf, telemetryPath, version, body }: Page): string {
  const links = [
    ['/', 'Status'],
    ['/pending', 'Pending'],
    [telemetryPath, 'Metrics'],
    ['/-/healthy', 'Health'],
    ['/-/ready', 'Readiness'],
  ] as const;
  return markup`<!doctype html>
<html lang="en" data-build="${buildId(version)}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title} · bridge-exporter</title>
<style>${{ html: STYLE }}</style>
<header>
<strong>bridge-exporter</strong> <span class="quiet">${version}</span>
<nav aria-label="Pages">${links.map(([to, text]) => markup`<a href="${to}"${to === path ? markup` aria-current="page"` : ''}>${text}</a> `)}</nav>
</header>
${asOf === undefined ? '' : freshness(asOf)}<main>
<h1>${heading}</h1>
${body}
</main>
${asOf === undefined ? '' : markup`<script>${{ html: REFRESH_SCRIPT }}</script>\n`}</html>
`.html;
}

/** The script moves the time and says whether it could; without it, the link does what can be done. */
function freshness(asOf: string): Markup {
  return markup`<p id="as-of">As of ${timeElement(asOf)}<span id="live" hidden>, refreshed every few seconds</span>. <a href="">Refresh</a></p>
<p id="out-of-date" hidden><strong role="alert"></strong> <span aria-hidden="true"></span></p>
`;
}

/** Id of the part of `/pending` on a target or on something of it; names may hold any character. */
export function anchor(...parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join('/');
}
