import { describe } from 'vitest';
import { crosschainAndExporterIncidents } from './incidents.js';
import { metricsInRules } from './promtool.js';
import { testSetups } from './setup-tests.js';

describe('the alerts for cross-chain transactions, nodes and the exporter fire and resolve at the same times', () => {
  // The series of orchestrators would take most of the time. The incidents of the bridge have them.
  const keep = Array.from(metricsInRules).filter((name) => !name.startsWith('bridge_orchestrator_'));
  testSetups(crosschainAndExporterIncidents, new Set(keep));
});
