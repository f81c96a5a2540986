import { describe } from 'vitest';
import { crosschainAndExporterIncidents } from '../alerts/incidents.js';
import { testComparison } from './alert-comparison.js';

describe('the verdicts about cross-chain transactions and endpoints', () => {
  testComparison(crosschainAndExporterIncidents);
});
