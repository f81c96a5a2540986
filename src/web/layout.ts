import { VERSION } from '../version.js';
import { markup, type Markup } from './html.js';
import { STYLE } from './style.js';

/** A whole page; there is nothing to load and nothing to run beside it. */
export function layout(title: string, telemetryPath: string, body: Markup): string {
  return markup`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title} · bridge-exporter</title>
<style>${{ html: STYLE }}</style>
<header>
<strong>bridge-exporter</strong> <span class="quiet">${VERSION}</span>
<nav><a href="/">Status</a> <a href="/pending">Pending</a> <a href="${telemetryPath}">Metrics</a> <a href="/-/healthy">Health</a> <a href="/-/ready">Readiness</a></nav>
</header>
<main>
<h1>${title}</h1>
${body}
</main>
</html>
`.html;
}

/** Id of the part of `/pending` on a target or on something of it; names may hold any character. */
export function anchor(...parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join('/');
}
