import { describe } from 'vitest';
import { testIncidents } from './incident-tests.js';
import { contractIncidents } from './contract-incidents.js';

describe('the alerts for the contract', () => {
  testIncidents(contractIncidents);
});
