import { expect, it } from 'vitest';
import { files, type File } from './files.js';

/*
 * docs/dashboards.md is written from the dashboards and checked in: `npm test -- -u` renews it.
 */
it('the reference of dashboards', async () => {
  await expect(reference()).toMatchFileSnapshot('../../docs/dashboards.md');
});

const ORDER = ['bridge-overview', 'bridge-signers', 'bridge-cross-chain', 'bridge-exporter'];

function reference(): string {
  const ordered = files.toSorted((a, b) => ORDER.indexOf(a.dashboard.uid) - ORDER.indexOf(b.dashboard.uid));
  return `# Dashboards

Written from the dashboards by \`npm test -- -u\`.

Four dashboards for Grafana 11 or newer, in \`grafana/dashboards\`. They need a Prometheus that scrapes the exporter; only the
list of alerts and the red marks of alerts in the graphs need the rules of \`prometheus/alerts.yml\` as well.

| dashboard | answers |
|---|---|
${ordered.map(({ name, dashboard }) => `| ${dashboard.title} (\`${name}\`) | ${dashboard.description} |\n`).join('')}
## Import or provision

By hand: *Dashboards*, *New*, *Import*, upload the file, then choose the data source at the top of the dashboard.

By files: put \`grafana/provisioning\` into Grafana's provisioning folder, with the address of your Prometheus in
\`datasources/prometheus.yml\` (leave that file out when Grafana has the data source already), and mount
\`grafana/dashboards\` at the path named in \`dashboards/bridge-exporter.yml\`.

Try them with \`npm run demo\` and a Prometheus that scrapes it; \`--scenario\` shows an incident.

## How to read them

- Start with the first two tables of *Bridge overview*: what fires, and one row for each bridge.
- Red is what would wake someone, orange what can wait for working hours: colours change where the alerts of
  \`prometheus/alerts.yml\` do. An alert also waits for a while before it fires, a colour does not.
- A dash, or words such as “no batch”, is a figure that is absent: it does not apply, or the node gave no data for it. It is never 0.
  *Exporter* tells which.
- The newest value of a target is taken over all exporters that poll it; *Exporter* shows them one by one.
- Amounts are in whole coins where the decimals of the token are configured. The values of *Cross-chain* are divided by
  10 to the power of the variable *Decimals of the native coin*, since the document does not tell them.
- The ids behind the numbers are on the page \`/pending\` of the exporter.

## Change them

The files are written from \`test/dashboards/source\`: change that and run \`npm test -- -u\`. The tests check that every metric and
label exists, that every family is shown somewhere, and ask a real Prometheus every query.
${ordered.map(panelsOf).join('')}`;
}

function panelsOf({ dashboard }: File): string {
  const rows = dashboard.panels.flatMap((panel) => {
    if (panel.type !== 'row') return [line(panel.title, panel.description)];
    return [
      `\n### ${dashboard.title}: ${panel.title}\n`,
      ...(panel.panels ?? []).map((inner) => line(inner.title, inner.description)),
    ];
  });
  return `\n## ${dashboard.title}\n${rows.join('\n')}\n`;
}

function line(title: string, description = ''): string {
  return `- **${title}**: ${description}`;
}
