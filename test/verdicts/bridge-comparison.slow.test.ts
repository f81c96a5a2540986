import { describe } from 'vitest';
import { bridgeIncidents } from '../alerts/incidents.js';
import { testComparison } from './alert-comparison.js';

describe('the verdicts about the bridge', () => {
  testComparison(bridgeIncidents);
});
