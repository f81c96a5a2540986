import { describe, expect, it } from 'vitest';
import { gauge, labelledGauge, toLabelValue, type Family, type Keep } from '../../src/metrics/family.js';
import { render } from '../../src/metrics/render.js';
import { WITHDRAWN } from '../../src/metrics/withdrawal.js';

const described = { help: 'A test.', unit: 'things', reads: ['a'] };

function single(value: (input: number) => number | undefined): Family<number> {
  return gauge({ name: 'bridge_x', ...described, value });
}

function labelled(keep: Keep, samples: Readonly<Record<string, number>>): Family<number> {
  return labelledGauge({
    name: 'bridge_x',
    ...described,
    labels: ['token', 'denom'],
    keep,
    derive: () => Object.entries(samples).map(([token, value]) => ({ labels: [token, ''], value })),
  });
}

function rendered(family: Family<number>, maxSeries = 200): string {
  return render([family], 1, 'target="t"', maxSeries)
    .map(({ lines, dropped }) => `${lines}dropped ${dropped}\n`)
    .join('');
}

describe('rendering families', () => {
  it('writes one line a series, with the target first', () => {
    expect(rendered(single((input) => input + 0.5))).toBe('bridge_x{target="t"} 1.5\ndropped undefined\n');
  });

  it('leaves out a family that is withdrawn, and no other', () => {
    const withdrawn = single(() => {
      throw WITHDRAWN;
    });
    const other = gauge<number>({ name: 'bridge_y', ...described, value: () => 1 });
    expect(render([withdrawn, other], 1, '', 200).map(({ name }) => name)).toEqual(['bridge_y']);
  });

  it.each([undefined, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])('never writes %s', (value) => {
    expect(rendered(single(() => value))).toBe('');
  });

  it('lets a fault of ours through', () => {
    const faulty = single(() => {
      throw new TypeError('a fault');
    });
    expect(() => rendered(faulty)).toThrow('a fault');
  });

  it('escapes what an issuer may write into a label', () => {
    expect(rendered(labelled('largest', { 'a"b\\c\nd': 1 }))).toContain('token="a\\"b\\\\c\\nd",denom=""');
  });

  const samples = { a: 3, b: 9, c: 1, d: 9, e: 5 };

  it.each<[Keep, string[], number]>([
    ['first', ['a 3', 'b 9', 'c 1'], 2],
    ['lowest', ['c 1', 'a 3', 'e 5'], 2],
    ['largest', ['b 9', 'd 9', 'e 5'], 2],
    ['fold', ['b 9', 'd 9', 'other 9'], 3],
  ])('over the limit keeps %s: %j', (keep, kept, dropped) => {
    const text = rendered(labelled(keep, samples), 3);
    expect([...text.matchAll(/token="(\w+)".*} (\d+)/g)].map(([, token, value]) => `${token} ${value}`)).toEqual(kept);
    expect(text).toContain(`dropped ${dropped}\n`);
  });

  it('names every label of what is folded `other`', () => {
    expect(rendered(labelled('fold', samples), 1)).toBe(
      'bridge_x{target="t",token="other",denom="other"} 27\ndropped 5\n',
    );
  });

  it('keeps the order of the family within the limit', () => {
    expect(rendered(labelled('largest', samples), 5)).toMatch(/"a".*\n.*"b".*\n.*"c"/);
  });
});

describe('a label text', () => {
  it('is cut at 128 characters, not in the middle of one', () => {
    expect(toLabelValue('x'.repeat(500))).toBe('x'.repeat(128));
    expect(toLabelValue('😀'.repeat(200))).toBe('😀'.repeat(128));
    expect(toLabelValue(`${'x'.repeat(127)}😀😀`)).toBe(`${'x'.repeat(127)}😀`);
  });

  it('is well-formed', () => {
    expect(toLabelValue('a\ud800b')).toBe('a\ufffdb');
  });
});
