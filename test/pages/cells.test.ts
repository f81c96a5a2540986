import { describe, expect, it } from 'vitest';
import { coin, token } from '../../src/pages/cells.js';
import type { Markup } from '../../src/pages/html.js';
import { asDecimalString } from '../../src/json/numeral.js';

const textOf = ({ html }: Markup): string =>
  html
    .replaceAll(/<small[^>]*>/g, ' | ')
    .replaceAll(/<[^>]+>/g, '')
    .trim();

const contract = '0xdac17f958d2ee523a2206206994597c13d831ec7';

describe('a token', () => {
  it.each([
    [{ symbol: 'USDT', denom: 'peggy0xdac1' }, `USDT | ${contract}`],
    [{ symbol: null, denom: 'inj' }, `inj | ${contract}`],
    [{ symbol: null, denom: null }, contract],
  ])('has its symbol, else its denom, and its contract: %o', (names, expected) => {
    expect(textOf(token({ contract, ...names }))).toBe(expected);
  });

  it('is unknown without a contract and a name', () => {
    expect(textOf(token({ contract: null, symbol: null, denom: null }))).toBe('unknown');
  });
});

describe('an amount', () => {
  const amount = asDecimalString('1234567');

  it('is in whole tokens with the symbol, and in the smallest unit, when the decimals are configured', () => {
    const whole = { contract, denom: null, symbol: 'USDT', amount, wholeAmount: asDecimalString('1.234567') };
    expect(textOf(coin(whole))).toBe('1.234567 USDT | 1234567');
  });

  it('is in the smallest unit otherwise', () => {
    expect(textOf(coin({ contract, denom: 'peggy', symbol: 'USDT', amount, wholeAmount: null }))).toBe('1234567');
  });
});
