import { describe } from 'vitest';
import { crosschainAndExporterIncidents } from './incidents.js';
import { testIncidents } from './alert-tests.js';

describe('the alerts for cross-chain transactions, nodes and the exporter', () => {
  testIncidents(crosschainAndExporterIncidents);
});
