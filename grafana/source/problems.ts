import { tablePanel, type Panel, type Table } from './grafana.js';
import { lasting, PROBLEM, problemAge, problemSeverity } from './queries.js';
import { problemSeverities } from './thresholds.js';

/** A row for each problem, those whose alert fires first. `matchers` select some of them. */
export function problemTable(
  panel: Pick<Table, 'title' | 'description' | 'height' | 'noValue' | 'cellLinks'>,
  ...matchers: readonly string[]
): Panel {
  return tablePanel({
    ...panel,
    rowLabels: { problem: 'Problem', cluster: 'Cluster', target: 'Target' },
    lastLabels: {
      kind: 'Kind',
      token_contract: 'Token',
      chain_id: 'Chain id',
      orchestrator: 'Orchestrator',
      address: 'Address',
      watched: 'Watched',
    },
    columns: [
      {
        title: 'Severity',
        expr: lasting(problemSeverity(PROBLEM, ...matchers), ...matchers),
        unit: 'none',
        valueTexts: problemSeverities,
      },
      { title: 'Age', expr: lasting(problemAge(...matchers), ...matchers), unit: 's', decimals: 0 },
    ],
    widths: { Problem: 270, Severity: 160 },
    sortBy: { column: 'Severity', isDescending: true },
  });
}
