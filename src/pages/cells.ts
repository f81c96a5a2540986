import type { BlockSpan } from '../facts/bridge/block-times.js';
import type { CoinItem, TokenItem } from '../facts/bridge/tokens.js';
import { compactNumber, MAX_NAME_CHARACTERS } from '../problems/sentence.js';
import { durationInWords, percent, splitAddress, truncate } from '../text/format.js';
import { tokenUrl, type ExternalLinks } from './external-links.js';
import { isolated, markup, sentenceHtml, type Markup, agoElement } from './html.js';

/* The kinds of cells of a list. An unknown value is `null`, and what a row does not have is `undefined`. */

type Coin = Pick<CoinItem, 'amount' | 'wholeAmount' | 'symbol'>;

export interface CellValues {
  /** An id, hash or address, with a link to the explorer of its chain. Empty if there is none yet. */
  readonly id: string | null;
  readonly token: TokenItem;
  readonly coin: Coin | null;
  /** Of power, 0 to 1. */
  readonly share: number | null;
  readonly count: number | null;
  readonly ago: BlockSpan | null;
  readonly left: BlockSpan | null;
  /** ISO 8601. */
  readonly time: string | null;
  readonly text: string | null;
}

export type CellKind = keyof CellValues;

interface CellContext {
  readonly links: ExternalLinks;
  /** Time of the page in milliseconds since 1970. */
  readonly nowMs: number;
  /** Of an id. */
  readonly url?: string | undefined;
}

export const cellKinds: {
  readonly [Kind in CellKind]: (value: NonNullable<CellValues[Kind]>, context: CellContext) => Markup;
} = {
  id: (value, { url }) => (value === '' ? NONE : identifier(value, url)),
  token: (value, { links }) => token(value, links),
  coin,
  share,
  count: (value) => markup`${value}`,
  ago: (span) => blocks(span, 'ago'),
  left: (span) => blocks(span, 'left'),
  time: (iso, { nowMs }) => agoElement(iso, nowMs),
  text: sentenceHtml,
};

export const UNKNOWN: Markup = markup`<span class="quiet">unknown</span>`;
export const NONE: Markup = markup`<span class="quiet">none</span>`;

/** A number or text, or that it is unknown. */
export function orUnknown(value: string | number | null): Markup {
  return value === null ? UNKNOWN : markup`${value}`;
}

/**
 * An address or hash, linked to its explorer if there is a URL. Only the style hides its middle, so that searching and
 * copying have the whole value.
 */
export function identifier(value: string, url?: string): Markup {
  const [head, middle, tail] = splitAddress(value);
  const hidden = middle === '' ? '' : markup`<span>${middle}</span>`;
  const code = markup`<code class="id" title="${value}" dir="ltr">${head}${hidden}${tail}</code>`;
  return url === undefined ? code : markup`<a href="${url}" rel="noreferrer">${code}</a>`;
}

/** An untrusted name. A long name is truncated, and the whole name is a tooltip. */
export function name(value: string): Markup {
  const short = truncate(value, MAX_NAME_CHARACTERS);
  return short === value ? isolated(value) : markup`<span title="${value}">${isolated(short)}</span>`;
}

/** Symbol or denom, and the contract. */
function token({ contract, denom, symbol }: TokenItem, links: ExternalLinks): Markup {
  const url = contract === null ? undefined : tokenUrl(links, contract);
  const label = symbol ?? denom;
  const address = contract === null ? UNKNOWN : identifier(contract, url);
  return label === null ? address : markup`${name(label)}<small>${address}</small>`;
}

/**
 * An amount in whole tokens if their decimals are known, else in the smallest unit, as in sentences. The exact amount
 * is a tooltip.
 */
export function coin({ amount, wholeAmount, symbol }: Coin): Markup {
  if (amount === null) return UNKNOWN;
  const exact = `${wholeAmount === null ? '' : `${wholeAmount} ${symbol ?? ''}: `}${amount} in the smallest unit`;
  const value = Number(wholeAmount ?? amount);
  const short = Math.abs(value) < HUGE ? compactNumber(value) : ENGINEERING.format(value).toLowerCase();
  const smallest = wholeAmount === null ? markup`<small>smallest units</small>` : '';
  return markup`<span title="${exact}"><span class="nowrap">${short}</span> ${symbol === null ? '' : name(symbol)}</span>${smallest}`;
}

const HUGE = 1e15;

/** Such as 99.99e18: most coins have 18 decimals. */
const ENGINEERING = new Intl.NumberFormat('en', { notation: 'engineering', maximumFractionDigits: 2 });

/** The duration of blocks since or until a height. A negative number of blocks left is shown as past. */
function blocks({ blocks: number, seconds }: BlockSpan, direction: 'ago' | 'left'): Markup {
  const isPast = direction === 'left' && number.startsWith('-');
  const suffix = isPast ? 'past' : direction;
  const distance = `${isPast ? number.slice(1) : number} blocks`;
  if (seconds === null) return markup`<span class="nowrap">${distance} ${suffix}</span>`;
  return markup`<span class="nowrap" title="${distance}">≈ ${durationInWords(Math.abs(seconds))} ${suffix}</span>`;
}

/** A share of power, with decimals: a share just below a threshold must not look equal to it. */
function share(ratio: number): Markup {
  return markup`<span class="nowrap">${percent(ratio, 2)}</span>`;
}
