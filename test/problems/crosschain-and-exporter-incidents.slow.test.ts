import { describe } from 'vitest';
import { testIncidents } from './incident-tests.js';
import { crosschainAndExporterIncidents } from './incidents.js';

describe('the alerts for cross-chain transactions, nodes and the exporter', () => {
  testIncidents(crosschainAndExporterIncidents);
});
