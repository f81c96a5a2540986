import { describe, expect, it } from 'vitest';
import { STYLE } from '../../src/pages/style.js';

/*
 * Contrast as defined by WCAG 2, whose level AA requires a ratio of 4.5 for text of any size.
 */
const colors = new Map(
  Array.from(STYLE.matchAll(/--(\w+):light-dark\((#\w{6}),(#\w{6})\)/g), ([, name = '', light = '', dark = '']) => [
    name,
    { light, dark },
  ]),
);

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const value = Number.parseInt(color.slice(start, start + 2), 16) / 255;
    return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [bright = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (bright + 0.05) / (dark + 0.05);
}

const texts = ['ink', 'quiet', 'ok', 'warn', 'bad', 'link'];

describe.each(['light', 'dark'] as const)('the %s colors', (theme) => {
  const color = (name: string): string => colors.get(name)?.[theme] ?? '';

  it.each(texts.flatMap((text) => ['page', 'soft'].map((ground) => [text, ground] as const)))(
    '%s has enough contrast on %s',
    (text, ground) => {
      expect(contrast(color(text), color(ground))).toBeGreaterThanOrEqual(4.5);
    },
  );

  it('the out-of-date alert has enough contrast', () => {
    expect(contrast(color('page'), color('bad'))).toBeGreaterThanOrEqual(4.5);
  });
});

it('the style uses no other colors', () => {
  const used = Array.from(STYLE.matchAll(/var\(--(\w+)\)/g), ([, name = '']) => name);
  expect(new Set(used)).toEqual(new Set(colors.keys()));
  expect(STYLE.replaceAll(/--\w+:light-dark\([^)]*\)/g, '')).not.toMatch(/#[0-9a-f]{3,6}\b|\brgb|\bhsl/);
});
