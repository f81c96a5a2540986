import { describe } from 'vitest';
import { bridgeIncidents } from './incidents.js';
import { testIncidents } from './alert-tests.js';

describe('the alerts for the bridge', () => {
  testIncidents(bridgeIncidents);
});
