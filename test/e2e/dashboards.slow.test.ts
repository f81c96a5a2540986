import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dashboardFiles, queriesOf, substituteVariables } from '../dashboards/dashboard-files.js';
import { get } from '../support/http.js';
import { MAIN, startProcess, type RunningProcess } from '../support/processes.js';
import { projectPath } from '../support/project-files.js';
import { startPrometheus, type Prometheus } from '../support/prometheus.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool } from '../support/tools.js';
import { waitUntil } from '../support/wait-for.js';

/*
 * Runs every query of every dashboard in a Prometheus that scrapes the demo in several scenarios. The description of a
 * panel determines when it needs data: by default in the healthy demo, with the words "empty when" in some scenario,
 * and with "as in the demo" in none. "… is empty …, as in the demo" is about the last query of the panel only.
 */

const hasPrometheus = hasTool('prometheus');

const HEALTHY = 'healthy';
const SCENARIOS = [HEALTHY, 'silent-signer', 'valset-drift', 'missed-cctxs', 'backlog'] as const;

/** Some data needs time: a batch, an event, or the step of 15 s of a subquery. */
const WAIT = { timeoutMs: 45_000, intervalMs: 1000 };

interface PanelQuery {
  /** Dashboard, panel and query. */
  readonly where: string;
  readonly expr: string;
  readonly description: string;
  /** The targets of which at least one needs data. */
  readonly targets: readonly string[];
}

const queries: readonly PanelQuery[] = dashboardFiles.flatMap((file) => {
  const ofPanels = file.panels.flatMap(({ title, description = '', targets = [] }) =>
    targets.map(({ refId, expr }, index) => ({
      where: `${file.name}: ${title} ${refId}`,
      expr,
      description: index === targets.length - 1 ? description : description.replace(/[^.]* is empty [^.]*\./, ''),
    })),
  );
  const ofVariablesAndAnnotations = queriesOf(file)
    .filter(({ where }) => !ofPanels.some((panel) => panel.where === where))
    .map(({ where, expr }) => ({
      where,
      expr,
      description: where.includes('annotation') ? 'Empty when nothing is wrong, as in the demo.' : '',
    }));
  return [...ofPanels, ...ofVariablesAndAnnotations].map((query) => ({
    ...query,
    // The healthy chain does not always have such a value, such as an unrelayed validator set.
    targets: /empty when|a dash is|is shown while/i.test(query.description) ? SCENARIOS : [HEALTHY],
  }));
});

const emptyInDemo = queries.filter(({ description }) => description.includes('as in the demo'));
const withData = queries.filter((query) => !emptyInDemo.includes(query));

describe.skipIf(!hasPrometheus)('the queries of the dashboards', () => {
  const folder = createTempFolder();
  const demos: RunningProcess[] = [];
  let prometheus: Prometheus;

  /** Starts the demo and returns the address of the exporter. */
  async function startDemo(scenario: string): Promise<string> {
    const flags = ['--listen=127.0.0.1:0', '--web.listen-address=127.0.0.1:0', '--log.level=error'];
    const args = [MAIN, 'demo', ...flags, `--scenario=${scenario}`, '--block-time=500ms'];
    const demo = startProcess(process.execPath, args);
    demos.push(demo);
    const [, address = ''] = /http:\/\/(\S+)\/metrics\b/.exec(await demo.printed(/\/metrics\b/)) ?? [];
    return address;
  }

  beforeAll(async () => {
    const jobs = await Promise.all(
      SCENARIOS.map(async (scenario) => {
        const address = await startDemo(scenario);
        // The target is called `demo` in all of them.
        return `  - job_name: ${scenario}
    static_configs: [{targets: ["${address}"]}]
    metric_relabel_configs: [{source_labels: [target], regex: .+, target_label: target, replacement: ${scenario}}]
`;
      }),
    );
    prometheus = await startPrometheus(
      folder,
      `global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [${JSON.stringify(projectPath('prometheus/alerts.yml'))}]
scrape_configs:
${jobs.join('')}`,
    );
  });

  afterAll(async () => {
    await prometheus.stop();
    await Promise.all(demos.map(async ({ stop }) => stop('SIGKILL')));
  });

  async function seriesCount(expr: string, target: string): Promise<number> {
    return (await prometheus.query(substituteVariables(expr, { target }))).length;
  }

  async function hasData({ expr, targets }: PanelQuery): Promise<boolean> {
    for (const target of targets) {
      if ((await seriesCount(expr, target)) > 0) return true;
    }
    return false;
  }

  it('return data within a minute, unless the description of the panel excludes it', async () => {
    let missing = withData;
    await waitUntil(async () => {
      const results = await Promise.all(missing.map(hasData));
      missing = missing.filter((_, index) => results[index] === false);
      return missing.length === 0;
    }, WAIT).catch(() => undefined);
    expect(missing.map(({ where }) => where)).toEqual([]);
  });

  it('return no data in the healthy demo if the description of the panel says so', async () => {
    expect(emptyInDemo.length).toBeGreaterThan(0);
    const counts = await Promise.all(emptyInDemo.map(async ({ expr }) => seriesCount(expr, HEALTHY)));
    expect(emptyInDemo.filter((_, index) => counts[index] !== 0).map(({ where }) => where)).toEqual([]);
  });

  it('are valid range queries in panels that show a time range', async () => {
    const end = Math.floor(Date.now() / 1000);
    const rangeQueries = dashboardFiles.flatMap(({ panels }) =>
      panels.flatMap(({ targets = [] }) => targets.filter(({ instant }) => !instant)),
    );
    for (const { expr } of rangeQueries) {
      const query = encodeURIComponent(substituteVariables(expr));
      const { status } = await get(
        `${prometheus.url}/api/v1/query_range?start=${end - 30}&end=${end}&step=5&query=${query}`,
      );
      expect(status, expr).toBe(200);
    }
  });
});
