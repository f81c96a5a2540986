import { describe, expect, it } from 'vitest';
import { cleanText, splitAddress, truncate, visibleText } from '../../src/text/untrusted-text.js';

describe('untrusted text', () => {
  it('becomes one line without characters that are invisible or change the direction of others', () => {
    expect(cleanText(' Alpha\n\r\u2028Beta\u202E\u200B\u3164 gamma\uD800 ')).toBe('Alpha Beta gamma\uFFFD');
    expect(cleanText('\u202E \u0000')).toBe('');
  });

  it('keeps emoji and letters of all languages', () => {
    expect(cleanText('Ünïted ✔\uFE0F 験証 שלום')).toBe('Ünïted ✔\uFE0F 験証 שלום');
  });

  it('is truncated by characters, not by code units', () => {
    expect(cleanText('🌉'.repeat(500), 4)).toBe('🌉🌉🌉…');
    expect(truncate('🌉🌉🌉🌉', 4)).toBe('🌉🌉🌉🌉');
    expect(Array.from(cleanText('x'.repeat(1_000_000)))).toHaveLength(200);
  });

  it('shows hidden characters on a page, and keeps its lines', () => {
    expect(visibleText('a\n\u202Eb\u0000\uD800')).toBe('a\n\uFFFDb\uFFFD\uFFFD');
    expect(visibleText(`e${'\u0301'.repeat(50)}`)).toBe(`e${'\u0301'.repeat(3)}`);
  });

  it('is split into the ends of an address and its middle', () => {
    expect(splitAddress('0x1234567890abcdef')).toEqual(['0x123456', '7890', 'abcdef']);
    expect(splitAddress('0x1234567890')).toEqual(['0x123456', '', '7890']);
    expect(splitAddress('0x1')).toEqual(['0x1', '', '']);
  });
});
