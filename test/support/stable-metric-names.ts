import { families } from '../../src/exposition/metrics-page.js';

/**
 * Names of the chain metrics that are stable. Experimental ones may change without changing a test that uses this set.
 */
export const stableMetricNames: ReadonlySet<string> = new Set(
  families.filter(({ stability }) => stability === undefined).map(({ name }) => name),
);
