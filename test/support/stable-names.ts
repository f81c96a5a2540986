import { families } from '../../src/exposition/exposition.js';

/** Names of the families that are promised. What is experimental may come and go without a test that knows of it. */
export const stableNames: ReadonlySet<string> = new Set(
  families.filter(({ stability }) => stability === undefined).map(({ name }) => name),
);
