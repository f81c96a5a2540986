import { describe, expect, it } from 'vitest';
import { cellKinds, coin, identifier, name } from '../../src/pages/cells.js';
import type { Markup } from '../../src/pages/html.js';
import { testLinks } from './sample-snapshots.js';

const textOf = ({ html }: Markup): string =>
  html
    .replaceAll(/<small[^>]*>/g, ' | ')
    .replaceAll(/<[^>]+>/g, '')
    .trim();

const titleOf = ({ html }: Markup): string | undefined => /title="([^"]*)"/.exec(html)?.[1];

const context = { links: testLinks(), nowMs: 0 };
const contract = '0xdac17f958d2ee523a2206206994597c13d831ec7';

describe('a token', () => {
  it.each([
    [{ contract, symbol: 'USDT', denom: 'peggy0xdac1' }, `USDT | ${contract}`],
    [{ contract, symbol: null, denom: 'inj' }, `inj | ${contract}`],
    [{ contract, symbol: null, denom: null }, contract],
    [{ contract: null, symbol: null, denom: null }, 'unknown'],
  ])('has its symbol, else its denom, and its contract: %o', (token, expected) => {
    expect(textOf(cellKinds.token(token, context))).toBe(expected);
  });

  it('has a link to its explorer', () => {
    const links = testLinks({ tokens: [{ contract, explorer: 'https://explorer.example/{address}?a={address}' }] });
    const { html } = cellKinds.token({ contract, denom: null, symbol: 'USDT' }, { ...context, links });
    expect(html).toContain(`<a href="https://explorer.example/${contract}?a=${contract}" rel="noreferrer">`);
    expect(cellKinds.token({ contract: '0x1', denom: null, symbol: null }, context).html).not.toContain('href');
  });
});

describe('an id', () => {
  it('that is not there yet is none', () => {
    expect(textOf(cellKinds.id('', context))).toBe('none');
  });
});

describe('an amount', () => {
  it.each([
    ['1234567890', '1234.56789', '1.23K USDT'],
    ['1', '0.000001', '0.000001 USDT'],
    ['1234567', '0.000000000001234567', '0.00000000000123 USDT'],
    ['5', '0.123456', '0.123 USDT'],
    ['0', '0', '0 USDT'],
    ['2500000', '2.5', '2.5 USDT'],
    ['999999999000000', '999999999', '1B USDT'],
    ['1', '123456789012.3', '123B USDT'],
  ])('is in whole tokens when the decimals are configured, and exact as a tooltip: %s', (amount, whole, expected) => {
    const cell = coin({ symbol: 'USDT', amount, wholeAmount: whole });
    expect(textOf(cell)).toBe(expected);
    expect(titleOf(cell)).toBe(`${whole} USDT: ${amount} in the smallest unit`);
  });

  it.each([
    ['99990000000000000000', '99.99e18 inj | smallest units'],
    [
      '115792089237316195423570985008687907853269984665640564039457584007913129639935',
      '115.79e75 inj | smallest units',
    ],
    ['1234567', '1.23M inj | smallest units'],
  ])('is in the smallest unit otherwise, with the exponent of whole coins: %s', (amount, expected) => {
    const cell = coin({ symbol: 'inj', amount, wholeAmount: null });
    expect(textOf(cell)).toBe(expected);
    expect(titleOf(cell)).toBe(`${amount} in the smallest unit`);
  });

  it('is unknown without a number', () => {
    expect(textOf(coin({ symbol: 'inj', amount: null, wholeAmount: null }))).toBe('unknown');
  });
});

describe('a span of blocks', () => {
  const span = { blocks: '1234', seconds: 150 };

  it.each([
    [span, 'ago', '≈ 2 min ago'],
    [{ ...span, seconds: null }, 'ago', '1234 blocks ago'],
    [{ blocks: '-7', seconds: -20 }, 'left', '≈ 20 s past'],
  ] as const)('has its time, else its blocks: %o %s', (value, kind, expected) => {
    expect(textOf(cellKinds[kind](value, context))).toBe(expected);
  });
});

describe('text of other people', () => {
  it('keeps text beside right-to-left text in order', () => {
    expect(name('אבג דה 53 %, Beta').html).toBe('<bdi>אבג דה</bdi> 53 %, Beta');
  });

  it('has no invisible characters, controls of direction and stacked marks', () => {
    expect(name('\u202Eahpla\u2066\u200B x\u0000\u{E0041}').html).toBe('�ahpla�� x��');
    expect(name(`e${'\u0301'.repeat(20)}!`).html).toBe(`e${'\u0301'.repeat(3)}!`);
    expect(name('❤️ family').html).toBe('❤️ family');
  });

  it('is truncated when it is long, with all of it as a tooltip', () => {
    const long = 'é'.repeat(10_000);
    expect(name(long).html).toBe(`<span title="${long}">${'é'.repeat(39)}…</span>`);
    expect(identifier(long).html).toBe(
      `<code class="id" title="${long}" dir="ltr">${'é'.repeat(8)}<span>${'é'.repeat(9986)}</span>${'é'.repeat(6)}</code>`,
    );
  });
});
