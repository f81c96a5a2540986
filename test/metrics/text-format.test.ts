import { describe, expect, it } from 'vitest';
import { families, gauge, labeledGauge, perKind, type Family, type OverLimit } from '../../src/metrics/family.js';
import { renderFamilies } from '../../src/metrics/text-format.js';
import { WITHDRAWN } from '../../src/facts/required-fields.js';

const description = { help: 'A test.' };

type Value = (input: number) => number | undefined;

function unlabeled(value: Value): readonly Family<number>[] {
  return families<number>({ bridge_x: gauge({ ...description, value }) });
}

function labeled(overLimit: OverLimit, values: Readonly<Record<string, number>>): readonly Family<number>[] {
  return families<number>({
    bridge_x: labeledGauge({
      ...description,
      labels: ['token', 'denom'],
      overLimit,
      derive: () => Object.entries(values).map(([token, value]) => ({ labels: { token, denom: '' }, value })),
    }),
  });
}

function textOf(rendered: readonly Family<number>[], maxSeries = 200): string {
  return renderFamilies(rendered, 1, 'target="t"', maxSeries)
    .map(({ text, dropped }) => `${text}dropped ${dropped}\n`)
    .join('');
}

describe('renderFamilies', () => {
  it('omits only withdrawn families', () => {
    const withdraw: Value = () => {
      throw WITHDRAWN;
    };
    const both = families<number>({
      bridge_x: gauge({ ...description, value: withdraw }),
      bridge_y: gauge({ ...description, value: () => 1 }),
    });
    expect(renderFamilies(both, 1, '', 200)).toEqual([
      { name: 'bridge_x', text: '', dropped: undefined, withdrawn: true },
      { name: 'bridge_y', text: 'bridge_y 1\n', dropped: undefined },
    ]);
  });

  it('omits only withdrawn parts of a family', () => {
    const withdraw = (): number => {
      throw WITHDRAWN;
    };
    const parts = families<number>({
      bridge_x: labeledGauge({ ...description, labels: ['kind'], derive: perKind({ a: withdraw, b: () => 2 }) }),
    });
    expect(renderFamilies(parts, 1, '', 200)).toEqual([
      {
        name: 'bridge_x',
        text: 'bridge_x{kind="b"} 2\n',
        dropped: undefined,
        withdrawn: true,
      },
    ]);
  });

  it.each([undefined, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'exports no series for the value %s',
    (value) => {
      expect(textOf(unlabeled(() => value))).toBe('');
    },
  );

  it('rethrows an unexpected error', () => {
    const faulty = unlabeled(() => {
      throw new TypeError('a bug');
    });
    expect(() => textOf(faulty)).toThrow('a bug');
  });

  it('escapes quotes, backslashes and line breaks in label values', () => {
    expect(textOf(labeled('keep-largest', { 'a"b\\c\nd': 1 }))).toContain('token="a\\"b\\\\c\\nd",denom=""');
  });

  const values = { a: 3, b: 9, c: 1, d: 9, e: 5 };

  it.each<[OverLimit, string[], number]>([
    ['keep-first', ['a 3', 'b 9', 'c 1'], 2],
    ['keep-lowest', ['c 1', 'a 3', 'e 5'], 2],
    ['keep-largest', ['b 9', 'd 9', 'e 5'], 2],
    ['aggregate', ['b 9', 'd 9', 'other 9'], 3],
  ])('applies the overLimit policy %s, which exports %j', (overLimit, exported, dropped) => {
    const text = textOf(labeled(overLimit, values), 3);
    expect([...text.matchAll(/token="(\w+)".*} (\d+)/g)].map(([, token, value]) => `${token} ${value}`)).toEqual(
      exported,
    );
    expect(text).toContain(`dropped ${dropped}\n`);
  });

  it('sets every label of the aggregated series to other', () => {
    expect(textOf(labeled('aggregate', values), 1)).toBe(
      'bridge_x{target="t",token="other",denom="other"} 27\ndropped 5\n',
    );
  });

  it('keeps the order of the samples within the limit', () => {
    expect(textOf(labeled('keep-largest', values), 5)).toMatch(/"a".*\n.*"b".*\n.*"c"/);
  });
});
