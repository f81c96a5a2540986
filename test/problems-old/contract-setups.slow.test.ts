import { describe } from 'vitest';
import { contractIncidents } from './contract-incidents.js';
import { testSetups } from './setup-tests.js';

describe('the alerts for the contract fire and resolve at the same times', () => {
  testSetups(contractIncidents);
});
