import type { BlockSpan, CoinItem, Digits, Missing, MissingMember, TokenItem } from '../pending/items.js';
import { markup, type Markup } from './html.js';
import { duration } from './time.js';

export const UNKNOWN: Markup = markup`<span class="quiet">unknown</span>`;

/** What `show` makes of a value, or that it is unknown. */
export function orUnknown<T>(value: T | null, show: (value: T) => Markup): Markup {
  return value === null ? UNKNOWN : show(value);
}

export function text(value: string | number | null): Markup {
  return orUnknown(value, (known) => markup`${known}`);
}

const HEAD_CHARACTERS = 8;
const TAIL_CHARACTERS = 6;

/** An address or hash. Its middle is hidden by style alone: it can be searched for, and one click selects all of it. */
export function identifier(value: string | null): Markup {
  return orUnknown(value, (known) => {
    const characters = Array.from(known);
    const head = characters.slice(0, HEAD_CHARACTERS).join('');
    const middle = characters.slice(HEAD_CHARACTERS, -TAIL_CHARACTERS).join('');
    const tail = characters.slice(HEAD_CHARACTERS).slice(-TAIL_CHARACTERS).join('');
    const hidden = middle === '' ? '' : markup`<span>${middle}</span>`;
    return markup`<code class="id" title="${known}">${head}${hidden}${tail}</code>`;
  });
}

/** A number in groups of three; the gaps are no characters, so what is copied are the digits alone. */
export function digits(value: Digits | null): Markup {
  return orUnknown(value, (known) => {
    const [whole = '', fraction] = known.split('.');
    const [first = '', ...groups] = whole.split(/(?=(?:\d{3})+$)/);
    const rest = groups.map((group) => markup`<span>${group}</span>`);
    return markup`<span class="digits">${first}${rest}${fraction === undefined ? '' : `.${fraction}`}</span>`;
  });
}

export function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(2)}%`;
}

/** Symbol or denom with the contract, as far as they are known. */
export function token({ contract, denom, symbol }: TokenItem): Markup {
  const name = symbol ?? denom;
  if (name === null) return identifier(contract);
  return markup`${name.length > 20 ? identifier(name) : name}<small>${identifier(contract)}</small>`;
}

export function coin({ amount, wholeAmount, symbol }: CoinItem): Markup {
  if (wholeAmount === null) return digits(amount);
  return markup`${digits(wholeAmount)} ${symbol ?? ''}<small title="in the smallest unit">${digits(amount)}</small>`;
}

/** Blocks since or until something: `left`, or past by how many when the number is negative. */
export function blocks(span: BlockSpan | null, unit: string, word: 'ago' | 'left'): Markup {
  return orUnknown(span, ({ blocks: count, seconds }) => {
    const isPast = word === 'left' && count.startsWith('-');
    const about = seconds === null ? '' : markup` <span class="nowrap">≈ ${duration(seconds)}</span>`;
    const size = digits((isPast ? count.slice(1) : count) as Digits);
    return markup`<span class="${isPast ? 'bad' : ''}">${size} ${unit} ${isPast ? 'past' : word}${about}</span>`;
  });
}

/** A share of power, as a bar as well; its colour tells whether it is enough, when that is known. */
export function share(ratio: number | null, tooLittle: boolean | null): Markup {
  return orUnknown(ratio, (known) => {
    const kind = tooLittle === null ? '' : tooLittle ? 'bad' : 'ok';
    // A drawing, because the content policy lets no element have a style of its own.
    const bar = markup`<svg class="bar ${kind}" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true"><rect width="${known}" height="1"/></svg>`;
    return markup`<span class="nowrap">${bar} ${percent(known)}</span>`;
  });
}

/** Members listed at once; more than these are behind a click. */
const SHORT_LIST = 3;

export function missing(value: Missing | null, all: string): Markup {
  return orUnknown(value, ({ total, powerRatio, members }) => {
    if (total === 0) return markup`<span class="ok">${all}</span>`;
    const power = powerRatio === null ? '' : ` · ${percent(powerRatio)} of power`;
    const more = total - members.length;
    return markup`<details class="missing"${total <= SHORT_LIST ? markup` open` : ''}><summary>${total}${power}</summary>
<ol>${members.map(member)}</ol>${more > 0 ? markup`<p class="note">and ${more} of less power</p>` : ''}</details>`;
  });
}

function member({ orchestrator, externalAddress, powerRatio, watched }: MissingMember): Markup {
  const name = orchestrator === null ? markup`orchestrator unknown` : identifier(orchestrator);
  const power = powerRatio === null ? '' : percent(powerRatio);
  return markup`<li${watched ? markup` class="watched"` : ''}>${name} ${identifier(externalAddress)} <span class="nowrap">${power}</span></li>`;
}
