import { durationInWords, visibleText } from '../text/format.js';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for the content of an element and for a quoted attribute. */
function escapeHtml(text: string): string {
  // Most texts are plain, and a page has tens of thousands of them.
  if (/^[\w .:,%()/-]*$/.test(text)) return text;
  return visibleText(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Escaped HTML. Only `markup` creates it, so that no text gets into a page unescaped. */
export interface Markup {
  readonly html: string;
}

type Value = Markup | string | number | readonly Value[];

/** A template tag: escapes every value that is not markup. */
export function markup(literals: TemplateStringsArray, ...values: readonly Value[]): Markup {
  const output = [literals[0] ?? ''];
  for (const [index, value] of values.entries()) {
    append(value, output);
    output.push(literals[index + 1] ?? '');
  }
  return { html: output.join('') };
}

function append(value: Value, output: string[]): void {
  if (typeof value === 'string') output.push(escapeHtml(value));
  else if (typeof value === 'number') output.push(String(value));
  else if ('html' in value) output.push(value.html);
  else for (const inner of value) append(inner, output);
}

const RTL = String.raw`[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]`;
const RTL_RUN = new RegExp(`(${RTL}+(?: +${RTL}+)*)`, 'u');

/**
 * Untrusted text, such as a name in a sentence. Right-to-left runs are isolated, so that names, numbers and punctuation
 * beside them keep their order.
 */
export function isolated(text: string): Markup {
  const parts = text.split(RTL_RUN);
  return markup`${parts.map((part, index) => (index % 2 === 1 ? markup`<bdi>${part}</bdi>` : part))}`;
}

/** A sentence with numbers and names. A number and its unit stay on one line. */
export function sentenceHtml(text: string): Markup {
  return isolated(text.replaceAll(/(?<=\d) (?=(?:%|s|min|h|d)(?!\w))/g, '\u00A0'));
}

/** A negative age, after the clock was set back, counts as 0. */
export function ago(seconds: number): string {
  return `${durationInWords(seconds)} ago`;
}

/** A time in UTC, because readers and machine may be in different time zones. */
export function timeElement(iso: string): Markup {
  return markup`<time datetime="${iso}">${utc(iso)}</time>`;
}

/** An instant as its distance from now, such as `12 s ago`, with the instant as a tooltip. */
export function distanceElement(iso: string, distance: string): Markup {
  return markup`<time datetime="${iso}" title="${utc(iso)}">${distance}</time>`;
}

/** How long ago an instant was, at a time of the page. */
export function agoElement(iso: string, nowMs: number): Markup {
  return distanceElement(iso, ago((nowMs - Date.parse(iso)) / 1000));
}

/** The time of the day, with the date as a tooltip. */
export function clockTimeElement(iso: string): Markup {
  return distanceElement(iso, `${iso.slice(11, 16)} UTC`);
}

/** Such as "since 12:03 UTC (5 min)". */
export function sinceElement(iso: string, age: number): Markup {
  return markup`since ${clockTimeElement(iso)} (${durationInWords(age)})`;
}

function utc(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}
