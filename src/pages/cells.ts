import type { BlockSpan, CoinItem, DecimalString, MissingMember, MissingMembers, TokenItem } from '../pending/items.js';
import { markup, type Markup } from './html.js';
import { duration } from './time.js';

/*
 * How the values of pending items are shown. `null` is shown as unknown, never as 0 or empty.
 */

const UNKNOWN: Markup = markup`<span class="quiet">unknown</span>`;

export function orUnknown<T>(value: T | null, format: (value: T) => Markup): Markup {
  return value === null ? UNKNOWN : format(value);
}

export function text(value: string | number | null): Markup {
  return orUnknown(value, (known) => markup`${known}`);
}

const HEAD_CHARACTERS = 8;
const TAIL_CHARACTERS = 6;

/** An address or hash. Only the style hides its middle, so that it can be searched for and copied as a whole. */
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

/** A number in groups of three digits. The style separates the groups, so that copying gives the digits alone. */
export function digits(value: DecimalString | null): Markup {
  return orUnknown(value, (known) => {
    const [integer = '', fraction] = known.split('.');
    const [first = '', ...groups] = integer.split(/(?=(?:\d{3})+$)/);
    const rest = groups.map((group) => markup`<span>${group}</span>`);
    return markup`<span class="digits">${first}${rest}${fraction === undefined ? '' : `.${fraction}`}</span>`;
  });
}

export function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(2)}%`;
}

const MAX_NAME_CHARACTERS = 20;

/** Symbol or denom, and the contract. */
export function token({ contract, denom, symbol }: TokenItem): Markup {
  const name = symbol ?? denom;
  if (name === null) return identifier(contract);
  return markup`${name.length > MAX_NAME_CHARACTERS ? identifier(name) : name}<small>${identifier(contract)}</small>`;
}

export function coin({ amount, wholeAmount, symbol }: CoinItem): Markup {
  if (wholeAmount === null) return digits(amount);
  return markup`${digits(wholeAmount)} ${symbol ?? ''}<small title="in the smallest unit">${digits(amount)}</small>`;
}

/** Blocks since or until an event. A negative number of blocks left is shown as past. */
export function blocks(span: BlockSpan | null, unit: string, direction: 'ago' | 'left'): Markup {
  return orUnknown(span, ({ blocks: count, seconds }) => {
    const isPast = direction === 'left' && count.startsWith('-');
    const estimate = seconds === null ? '' : markup` <span class="nowrap">≈ ${duration(seconds)}</span>`;
    const magnitude = digits((isPast ? count.slice(1) : count) as DecimalString);
    return markup`<span class="${isPast ? 'bad' : ''}">${magnitude} ${unit} ${isPast ? 'past' : direction}${estimate}</span>`;
  });
}

/** A share of power as a percentage and a bar, which is coloured if there is a threshold. */
export function share(ratio: number | null, isBelowThreshold: boolean | null): Markup {
  return orUnknown(ratio, (known) => {
    const cssClass = isBelowThreshold === null ? '' : isBelowThreshold ? 'bad' : 'ok';
    // An SVG, because the content security policy forbids style attributes.
    const bar = markup`<svg class="bar ${cssClass}" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true"><rect width="${known}" height="1"/></svg>`;
    return markup`<span class="nowrap">${bar} ${percent(known)}</span>`;
  });
}

/** Longer lists of members are collapsed. */
const MAX_OPEN_MEMBERS = 3;

export function missing(value: MissingMembers | null): Markup {
  return orUnknown(value, ({ total, powerRatio, members }) => {
    if (total === 0) return markup`<span class="ok">none</span>`;
    const power = powerRatio === null ? '' : ` · ${percent(powerRatio)} of power`;
    const more = total - members.length;
    return markup`<details class="missing"${total <= MAX_OPEN_MEMBERS ? markup` open` : ''}><summary>${total}${power}</summary>
<ol>${members.map(member)}</ol>${more > 0 ? markup`<p class="note">and ${more} with less power</p>` : ''}</details>`;
  });
}

function member({ name, orchestrator, externalAddress, powerRatio, watched }: MissingMember): Markup {
  const label = name === null ? '' : markup`<bdi class="name">${name}</bdi> `;
  const address = orchestrator === null ? markup`unknown orchestrator` : identifier(orchestrator);
  const power = powerRatio === null ? '' : percent(powerRatio);
  return markup`<li${watched ? markup` class="watched"` : ''}>${label}${address} ${identifier(externalAddress)} <span class="nowrap">${power}</span></li>`;
}
