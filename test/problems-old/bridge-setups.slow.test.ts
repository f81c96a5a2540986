import { describe } from 'vitest';
import { bridgeIncidents } from './incidents.js';
import { testSetups } from './setup-tests.js';

describe('the alerts for the bridge fire and resolve at the same times', () => {
  testSetups(bridgeIncidents);
});
