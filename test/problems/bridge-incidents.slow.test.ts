import { describe } from 'vitest';
import { testIncidents } from './incident-tests.js';
import { bridgeIncidents } from './incidents.js';

describe('the alerts for the bridge', () => {
  testIncidents(bridgeIncidents);
});
