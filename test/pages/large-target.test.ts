import { expect, it } from 'vitest';
import { largePage } from './large-page.js';

const MAX_PAGE_BYTES = 300_000;

it('the page of a target with 3,000 items of each kind is smaller than 300 KB', () => {
  expect(Buffer.byteLength(largePage())).toBeLessThan(MAX_PAGE_BYTES);
  expect(Buffer.byteLength(largePage({ q: 'abc' }))).toBeLessThan(1.5 * MAX_PAGE_BYTES);
});
