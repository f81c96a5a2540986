import { describe, expect, it } from 'vitest';
import { canonicalJson, DASHBOARD_FOLDER } from './dashboard-files.js';
import { dashboards } from '../../grafana/source/dashboards.js';
import { dashboardJson, type Dashboard } from '../../grafana/source/grafana.js';

/*
 * The files generated from grafana/source. `npm test -- -u` updates them.
 */
const entries = Object.entries(dashboards);

describe('grafana/dashboards', () => {
  it.each(entries)('contains %s as defined in the source', async (file, dashboard) => {
    const json = await canonicalJson(dashboardJson(dashboard));
    await expect(json).toMatchFileSnapshot(`../../${DASHBOARD_FOLDER}/${file}`);
  });
});

describe('docs/dashboards.md', () => {
  it('describes all panels', async () => {
    await expect(dashboardReference()).toMatchFileSnapshot('../../docs/dashboards.md');
  });
});

function dashboardReference(): string {
  const rows = entries.map(([file, { title, description }]) => `| ${title} (\`${file}\`) | ${description} |\n`);
  return `# Dashboards

Generated from the dashboards by \`npm test -- -u\`.

There are four dashboards for Grafana 11 or later in \`grafana/dashboards\`. They need a Prometheus that scrapes the exporter. The list of
alerts and the red annotations in graphs also need the rules of \`prometheus/alerts.yml\`.

| dashboard | question |
|---|---|
${rows.join('')}
## Installation

To import a dashboard, choose *Dashboards*, *New*, *Import*, upload the file, and select the data source at the top of the dashboard.

To provision all of them, copy \`grafana/provisioning\` to the provisioning folder of Grafana, set the address of your Prometheus in
\`datasources/prometheus.yml\` (omit this file if Grafana already has the data source), and mount \`grafana/dashboards\` at the path in
\`dashboards/bridge-exporter.yml\`.

To try them, run \`npm run demo\` with a Prometheus that scrapes it. \`--scenario\` simulates an incident.

## Usage

- Start with the first tables of *Bridge / Overview*: the firing alerts, what waits by token with the most worth first, and one row per bridge. The target of a row and the headers
  of panels link to the other dashboards, which keep the variables and the time range.
- The variables *Cluster*, *Namespace*, *Job* and *Instance* select exporters, *Target* selects bridges. *All* includes series without the
  labels \`cluster\` and \`namespace\`. Targets of different clusters are separate, also with equal names.
- Set the variable *Exporter URL* to the address at which your browser reaches the exporter. The rows of bridges, signers and chains link
  to its page \`/pending\`, which lists the items behind the values, with their ids.
- Signers are shown by name, or by shortened address without one. The variable *Watched* selects those of the setting \`watch\`.
- Colors follow the severity of the alerts in \`prometheus/alerts.yml\`: red is critical, orange is a warning. A color changes at the
  threshold; the alert fires only after the threshold has been exceeded for some time.
- A dash, or a text such as “no batch”, means that the value is absent: it does not apply, or the node sent no data for it. An absent value is
  never shown as 0. *Bridge / Exporter* shows which values are missing.
- When several exporters poll a target, the panels show one value per target. *Bridge / Exporter* shows each exporter.
- Amounts are in whole coins for tokens with configured decimals. The values of *Bridge / Cross-chain* are divided by 10 to the power of the
  variable *Decimals of the native coin*, because the document does not contain the decimals.

## Changing a dashboard

The files are generated from \`grafana/source\`. Change the source and run \`npm test -- -u\`. The tests check that every metric and
label exists and that every stable metric is used, and run every query against a real Prometheus. The dashboards are read-only: save a
copy under another name to change it in Grafana. \`grafana/dashboards/.lint\` contains the exclusions of
[dashboard-linter](https://github.com/grafana/dashboard-linter), which a test runs if it is installed.

\`test/dashboards/pictures/README.md\` describes how to retake the pictures. They show an incident on simulated chains, rendered with the
components of Grafana, so details differ from Grafana.
${entries.map(([file, dashboard]) => panelReference(file, dashboard)).join('')}`;
}

function panelReference(file: string, { title, rows }: Dashboard): string {
  const sections = rows.map((row) => {
    const panels = row.panels.map((panel) => `- **${panel.title}**: ${panel.description}`);
    return `\n### ${title}: ${row.title}\n\n${panels.join('\n')}`;
  });
  const picture = `![The dashboard ${title} in an incident](dashboard-${file.replace('.json', '.png')})`;
  return `\n## ${title}\n\n${picture}\n${sections.join('\n')}\n`;
}
