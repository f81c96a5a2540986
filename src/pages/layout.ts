import { createHash } from 'node:crypto';
import { markup, type Markup } from './html.js';
import { REFRESH_SCRIPT } from './refresh-script.js';
import { STYLE } from './style.js';
import { timeElement } from './time.js';

/*
 * The HTML pages: the status page and the pending page render view models (endpoint-view.ts) into this layout. They load
 * nothing, and only the status page has a script, which refreshes it.
 */

/** Allows the inline style and script by their hashes and requests to this server only; nothing else is loaded. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src ${hashSource(STYLE)}`,
  `script-src ${hashSource(REFRESH_SCRIPT)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** An open page reloads itself when it is served by another build. */
function buildId(version: string): string {
  return createHash('sha256').update(version).update(STYLE).update(REFRESH_SCRIPT).digest('hex').slice(0, 12);
}

export interface Page {
  readonly path: '/' | '/pending';
  /** Title of the browser tab. */
  readonly title: string;
  readonly heading: Markup;
  /** Time of the data of a page that refreshes itself; absent for a static page. */
  readonly asOf?: string;
  readonly telemetryPath: string;
  /** Version of the exporter. */
  readonly version: string;
  readonly body: Markup;
}

/** A complete HTML page with inline style and script. */
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
<nav aria-label="Pages">${links.map(([href, text]) => markup`<a href="${href}"${href === path ? markup` aria-current="page"` : ''}>${text}</a> `)}</nav>
</header>
${asOf === undefined ? '' : freshness(asOf)}<main>
<h1>${heading}</h1>
${body}
</main>
${asOf === undefined ? '' : markup`<script>${{ html: REFRESH_SCRIPT }}</script>\n`}</html>
`.html;
}

/** The script updates the time and shows the alert when a refresh fails. Without JavaScript, the link reloads the page. */
function freshness(asOf: string): Markup {
  return markup`<p id="as-of">As of ${timeElement(asOf)}<span id="live" hidden>, refreshed every few seconds</span>. <a href="">Refresh</a></p>
<p id="out-of-date" hidden><strong role="alert"></strong> <span aria-hidden="true"></span></p>
`;
}

/** The id of an element about a target, or about something of it. Encoded, because target names may contain any character. */
export function anchor(...parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join('/');
}
