import { beforeAll, describe } from 'vitest';
import { loadAbi } from '../../src/queries/abi-loader.js';
import { testIncidents } from './incident-tests.js';
import { contractIncidents } from './contract-incidents.js';

beforeAll(async () => {
  await loadAbi();
});

describe('the alerts for the contract', () => {
  testIncidents(contractIncidents);
});
