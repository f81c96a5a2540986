import { describe, expect, it } from 'vitest';
import { metricsPage, renderEndpoints } from '../../src/exposition/metrics-page.js';
import { NOW, sampleSnapshots } from '../support/sample-endpoints.js';

const renderProcess = async (format: string): Promise<string> => `process ${format}\n`;

describe('the metrics page', () => {
  const states = sampleSnapshots().states();

  it('joins the metrics of endpoints and process, and ends with # EOF in OpenMetrics', async () => {
    expect(await metricsPage(states, renderProcess, 'text', NOW)).toBe(
      `${renderEndpoints(states, 'text', NOW)}process text\n`,
    );
    expect(await metricsPage(states, renderProcess, 'openmetrics', NOW)).toBe(
      `${renderEndpoints(states, 'openmetrics', NOW)}process openmetrics\n# EOF\n`,
    );
  });
});
