import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { markup, type Markup, timeElement } from './html.js';
import { STYLE } from './style.js';

/*
 * The layout of the HTML pages. They load no other files, and their links are relative, so that a reverse proxy can
 * serve them under any path.
 */

const REFRESH_SCRIPT = readFileSync(new URL('browser/refresh.js', import.meta.url), 'utf8');

/** Allows the inline style and script by their hashes, and requests and forms to this server only. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src ${hashSource(STYLE)}`,
  `script-src ${hashSource(REFRESH_SCRIPT)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** An open page reloads itself when it is served by another build. */
function buildId(version: string): string {
  return createHash('sha256').update(version).update(STYLE).update(REFRESH_SCRIPT).digest('hex').slice(0, 12);
}

export interface Site {
  readonly telemetryPath: string;
  /** Version of the exporter. */
  readonly version: string;
}

export interface Page {
  readonly path: '/' | '/pending' | '/config';
  /** Title of the browser tab. */
  readonly title: string;
  readonly heading: Markup;
  /** Time of the data of a page that refreshes itself; absent for a static page. */
  readonly asOf?: string;
  readonly body: Markup;
}

/** A complete HTML page with inline style and script. */
export function layout({ path, title, heading, asOf, body }: Page, { telemetryPath, version }: Site): string {
  const isRefreshed = asOf !== undefined;
  const links = [
    ['/', 'Status'],
    ['/pending', 'Pending'],
    [telemetryPath, 'Metrics'],
    ['/config', 'Configuration'],
  ] as const;
  return markup`<!doctype html>
<html lang="en" data-build="${buildId(version)}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title} · bridge-exporter</title>
<style>${{ html: STYLE }}</style>
<a class="skip" href="#main">Skip to content</a>
<header>
<strong>bridge-exporter</strong> <span class="quiet">${version}</span>
<nav aria-label="Pages">${links.map(([to, text]) => markup`<a href="${relative(to)}"${to === path ? markup` aria-current="page"` : ''}>${text}</a> `)}</nav>
${asOf === undefined ? '' : freshness(asOf)}</header>
${isRefreshed ? outOfDate : ''}<main id="main" tabindex="-1">
<h1>${heading}</h1>
${body}
</main>
${!isRefreshed ? '' : markup`<script type="module">${{ html: REFRESH_SCRIPT }}</script>\n`}</html>
`.html;
}

/** A link from any page. All pages are in the same directory. */
export function relative(path: string): string {
  return `.${path}`;
}

/** The script updates the time. Without JavaScript, the link reloads the page. */
function freshness(asOf: string): Markup {
  return markup`<p id="as-of">As of ${timeElement(asOf)}<span id="live" hidden>, refreshed every few seconds</span>. <a href="">Refresh</a></p>
`;
}

/** The script shows it when a refresh fails. */
const outOfDate = markup`<p id="out-of-date" hidden><strong role="alert"></strong> <span aria-hidden="true"></span></p>
`;

/** A link to the page of a target, and on it to the element with an id. */
export function pendingLink(target: string, id?: string): string {
  return `${relative('/pending')}?target=${encodeURIComponent(target)}${id === undefined ? '' : `#${id}`}`;
}

/** A link to the rows of a target with a nonce, id or hash. */
export function filterLink(target: string, id: string): string {
  return `${pendingLink(target)}&q=${encodeURIComponent(id)}`;
}

/** The id of an element, encoded because names may contain any character. */
export function anchor(...parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join('/');
}

/** A part of a page with a heading of the second level; empty without a body. */
export function section(id: string, title: Markup | string, body: Markup): Markup {
  if (body.html === '') return body;
  return markup`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${body}
</section>
`;
}

/** A list of terms and their values. */
export function factList(facts: readonly (readonly [term: string | Markup, value: Markup])[]): Markup {
  return markup`<dl class="facts">${facts.map(([term, value]) => markup`<div><dt>${term}<dd>${value}</div>`)}</dl>`;
}
