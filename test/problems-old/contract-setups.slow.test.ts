import { beforeAll, describe } from 'vitest';
import { loadAbi } from '../../src/queries/abi-loader.js';
import { contractIncidents } from './contract-incidents.js';
import { testSetups } from './setup-tests.js';

beforeAll(async () => {
  await loadAbi();
});

describe('the alerts for the contract fire and resolve at the same times', () => {
  testSetups(contractIncidents);
});
