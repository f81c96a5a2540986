import { describe } from 'vitest';
import { testIncidents } from './incident-tests.js';
import { exporterIncidents } from './exporter-incidents.js';

describe('the alerts for exporters, their configuration and parameters', () => {
  testIncidents(exporterIncidents);
});
