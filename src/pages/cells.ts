import { tokenUrl, type ExternalLinks } from './external-links.js';
import { isolated, markup, type Markup } from './html.js';
import { COMPACT, MAX_NAME_CHARACTERS } from '../problems/sentence.js';
import { durationInWords, percent } from '../text/format.js';
import { splitAddress, truncate } from '../text/untrusted-text.js';
import type { BlockSpan } from '../facts/bridge/block-times.js';
import type { CoinItem, TokenItem } from '../facts/bridge/coins.js';

/* The values of pending items as markup. `null` is shown as unknown, never as 0 or empty. */

export const UNKNOWN: Markup = markup`<span class="quiet">unknown</span>`;
export const NONE: Markup = markup`<span class="quiet">none</span>`;

export function orUnknown<T>(value: T | null, format: (value: T) => Markup): Markup {
  return value === null ? UNKNOWN : format(value);
}

export function text(value: string | number | null): Markup {
  return orUnknown(value, (known) => markup`${known}`);
}

/**
 * An address or hash, linked to its explorer if there is a URL. Only the style hides its middle, so that searching and
 * copying have the whole value.
 */
export function identifier(value: string | null, url?: string): Markup {
  return orUnknown(value, (known) => {
    const [head, middle, tail] = splitAddress(known);
    const hidden = middle === '' ? '' : markup`<span>${middle}</span>`;
    const code = markup`<code class="id" title="${known}" dir="ltr">${head}${hidden}${tail}</code>`;
    return url === undefined ? code : markup`<a href="${url}" rel="noreferrer">${code}</a>`;
  });
}

/** An untrusted name. A long name is truncated, and the whole name is a tooltip. */
export function name(value: string): Markup {
  const short = truncate(value, MAX_NAME_CHARACTERS);
  return short === value ? isolated(value) : markup`<span title="${value}">${isolated(short)}</span>`;
}

/** A number in groups of three digits. The style separates the groups, so that a copy has digits alone. */
export function digits(value: string | null): Markup {
  return orUnknown(value, groupDigits);
}

function groupDigits(known: string): Markup {
  const [integer = '', fraction] = known.split('.');
  const [first = '', ...groups] = integer.split(/(?=(?:\d{3})+$)/);
  const rest = groups.map((group) => markup`<span>${group}</span>`);
  return markup`<span class="digits">${first}${rest}${fraction === undefined ? '' : `.${fraction}`}</span>`;
}

/** Symbol or denom, and the contract. */
export function token({ contract, denom, symbol }: TokenItem, links: ExternalLinks): Markup {
  const url = contract === null ? undefined : tokenUrl(links, contract);
  const label = symbol ?? denom;
  if (label === null) return identifier(contract, url);
  return markup`${label.length > MAX_NAME_CHARACTERS ? identifier(label) : isolated(label)}<small>${identifier(contract, url)}</small>`;
}

/** An amount in whole tokens if their decimals are known, else in the smallest unit. The exact amount is a tooltip. */
type Amount = Pick<CoinItem, 'amount' | 'wholeAmount' | 'symbol'>;

export function coin({ amount, wholeAmount, symbol }: Amount): Markup {
  if (wholeAmount === null || amount === null) return smallestUnits(amount);
  const exact = `${wholeAmount} ${symbol ?? ''} (${amount} in the smallest unit)`;
  return markup`<span class="nowrap" title="${exact}">${shortNumber(wholeAmount)}</span> ${symbol === null ? '' : isolated(symbol)}`;
}

/** An amount without known decimals. */
export function smallestUnits(amount: string | null): Markup {
  return orUnknown(
    amount,
    (known) =>
      markup`<span title="${known} in the smallest unit">${shortNumber(known)}</span><small>smallest units</small>`,
  );
}

/** Larger amounts have the short form of the sentences, smaller amounts no digits. */
const LARGE = 1e9;
const HUGE = 1e15;
const SMALL = 1e-6;
const SIGNIFICANT_DIGITS = 4;
const FRACTION_DIGITS = 2;

/** A number with few digits. Rounding is only for the display: the exact number is beside it as a tooltip. */
function shortNumber(exact: string): Markup {
  const value = Number(exact);
  const magnitude = Math.abs(value);
  if (magnitude >= HUGE) return markup`${value.toExponential(SIGNIFICANT_DIGITS - 1)}`;
  if (magnitude >= LARGE) return markup`${COMPACT.format(value)}`;
  if (value > 0 && value < SMALL) return markup`less than 0.000001`;
  return groupDigits(
    trimZeros(magnitude >= 1 ? value.toFixed(FRACTION_DIGITS) : value.toPrecision(SIGNIFICANT_DIGITS)),
  );
}

function trimZeros(number: string): string {
  return number.includes('.') ? number.replace(/\.?0+$/, '') : number;
}

/** Blocks since or until an event, and its height. A negative number of blocks left is shown as past. */
export function blocks(
  span: BlockSpan | null,
  unit: string,
  direction: 'ago' | 'left' | '' = '',
  height?: { readonly preposition: string; readonly value: string | null },
): Markup {
  const at = height === undefined ? undefined : markup`${height.preposition} height ${digits(height.value)}`;
  if (span === null) return markup`${UNKNOWN}${at === undefined ? '' : markup`<small>${at}</small>`}`;
  const isPast = direction === 'left' && span.blocks.startsWith('-');
  const count = markup`${groupDigits(isPast ? span.blocks.slice(1) : span.blocks)} ${unit}`;
  const suffix = isPast ? 'past' : direction;
  const details = [...(span.seconds === null ? [] : [count]), ...(at === undefined ? [] : [at])];
  const main =
    span.seconds === null ? markup`${count} ${suffix}` : markup`≈ ${durationInWords(Math.abs(span.seconds))} ${suffix}`;
  return markup`<span class="nowrap">${main}</span>${details.length === 0 ? '' : markup`<small>${details.map((detail, index) => markup`${index === 0 ? '' : ', '}${detail}`)}</small>`}`;
}

/**
 * A share of power as a percentage and a bar, with decimals: a share just below a threshold must not look equal to it.
 */
export function share(ratio: number | null, cssClass: string): Markup {
  return orUnknown(ratio, (known) => {
    // An SVG, because the content security policy forbids style attributes.
    const bar = markup`<svg class="bar ${cssClass}" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true"><rect width="${known}" height="1"/></svg>`;
    return markup`<span class="nowrap">${bar} ${percent(known, 2)}</span>`;
  });
}
