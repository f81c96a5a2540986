import { describe } from 'vitest';
import { crosschainAndExporterIncidents } from './incidents.js';
import { testSetups } from './setup-tests.js';

describe('the alerts for cross-chain transactions, nodes and the exporter fire and resolve at the same times', () => {
  testSetups(crosschainAndExporterIncidents);
});
