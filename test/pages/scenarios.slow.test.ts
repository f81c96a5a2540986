import { pino } from 'pino';
import { beforeAll, expect, it } from 'vitest';
import { logProblems } from '../../src/engine/poll-log.js';
import { judgeTargets, problemSeries, type TargetProblem } from '../../src/engine/target-problems.js';
import type { EndpointState } from '../../src/engine/endpoint-state.js';
import type { Moment } from '../../src/clock.js';
import { demoConfig, pollPast } from '../../src/commands/demo.js';
import { pendingPage } from '../../src/pages/pending-page.js';
import { statusPage } from '../../src/pages/status-page.js';
import { createView } from '../../src/pages/view.js';
import { createJobs } from '../../src/engine/jobs.js';
import { problemInfo } from '../../src/problems/problem-families.js';
import { scenarioNames, type ScenarioName } from '../../src/simulator/scenarios.js';
import { idleState } from '../items/bridge-state.js';
import { labelsOf, seriesOf } from '../support/exposition-text.js';
import { CHROMIUM, horizontalOverflow, launchBrowser, layoutFaults } from '../support/browser.js';
import { describeIf, hasTool } from '../support/tools.js';
import { at, BRIDGE, FAILED, instance, polledSnapshots, statusAt, testLinks, textOf } from './sample-snapshots.js';

/*
 * The pages when a demo of each scenario starts, as when the pager rings.
 */

const now: Moment = { at: 1_790_000_000, clockOffset: 0 };
const site = { telemetryPath: '/metrics', version: '0.1.0' };

interface Pages {
  readonly states: readonly EndpointState[];
  readonly problems: readonly TargetProblem[];
  readonly status: string;
  readonly target: string;
}

/** Blocks are slow, for a fast test. */
async function pagesOf(scenario: ScenarioName): Promise<Pages> {
  const chain = { seed: 1, scenario, blockTimeMs: 20_000, startTime: now.at };
  const { model, demoState } = await pollPast(chain, (past) => demoConfig('http://node.example', past), now);
  const config = demoConfig('http://node.example', model);
  const shown = createJobs(config).flatMap((job) => {
    const past = demoState(job);
    return past === undefined ? [] : [{ state: past, job }];
  });
  const states = shown.map(({ state }) => state);
  const judged = judgeTargets(states, now);
  const links = testLinks(config);
  const view = createView(shown, judged, links, now, '');
  return {
    states,
    problems: judged.flatMap(({ problems }) => problems),
    status: statusPage({ ...view, instance }, links, site),
    target: pendingPage(view, '', links, site),
  };
}

const pages = new Map<ScenarioName, Pages>();

beforeAll(async () => {
  for (const scenario of scenarioNames) pages.set(scenario, await pagesOf(scenario));
});

it('the heading of the status page says what is wrong, who has to act and how urgent it is, in every scenario', async () => {
  const headings = Array.from(pages, ([scenario, { status }]) => {
    const lines = textOf(status).split('\n');
    const last = lines.findIndex((line) => /^(Act |For the record|If it lasts |No problem)/.test(line));
    const heading = lines.slice(0, last + 1).map((line) => `    ${line}\n`);
    return `${scenario}\n\n${heading.join('')}`;
  });
  await expect(headings.join('\n')).toMatchFileSnapshot('golden/headings.txt');
});

type Info = Readonly<Record<'id' | 'problem' | 'severity' | 'summary' | 'action' | 'hidden_by', string>>;

/** The series from which notifications and dashboards have the words of problems (rules.test.ts, test/dashboards), so many seconds later. */
function infosAfter(seconds: number, states: readonly EndpointState[]): ReadonlyMap<string, Info> {
  const text = problemSeries(states, { ...now, at: now.at + seconds }).find(
    ({ name }) => name === problemInfo.name,
  )?.text;
  return new Map(seriesOf(text ?? '').map((series) => [labelsOf(series)['id'] ?? '', labelsOf(series) as Info]));
}

/** The lines of the log about problems that have begun. */
function logLines(problems: readonly TargetProblem[]): readonly { readonly msg: string; readonly action: string }[] {
  const lines: { msg: string; action: string }[] = [];
  const log = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });
  logProblems(log, new Map(), problems);
  return lines;
}

it.each(scenarioNames)('a problem has the same words in the series, on the page and in the log: %s', (scenario) => {
  const { states = [], problems = [], status = '' } = pages.get(scenario) ?? {};
  const page = textOf(status);
  const infos = infosAfter(0, states);
  for (const { id, alert, severity, summary, action, hiddenBy } of problems) {
    const info = { id, problem: alert, severity, summary, action, hidden_by: hiddenBy ?? '' };
    expect(infos.get(id), alert).toMatchObject(info);
    expect(status).toContain(` id="${id}"`);
    expect(page).toContain(summary);
  }
  for (const { summary, action, urgency } of problems.filter(
    (own) => own.hiddenBy === null && own.state === 'firing',
  )) {
    expect(page).toContain(action);
    expect(page.toLowerCase()).toContain(urgency === 'for the record' ? urgency : `act ${urgency}`);
    expect(logLines(problems).find(({ msg }) => msg.includes(summary))?.action).toBe(action);
  }
  // Labels: nothing is cut.
  expect(Array.from(infos.values()).filter(({ summary, action }) => /…$/m.test(`${summary}\n${action}`))).toEqual([]);
  // While nothing but time passes, a series ends only when another problem hides or no longer hides it.
  const later = infosAfter(90, states);
  for (const [id, { hidden_by: _hidden, action: _action, ...info }] of infos) expect(later.get(id)).toMatchObject(info);
});

describeIf(hasTool(CHROMIUM), 'the layout in a browser', async () => {
  const WIDTHS = [360, 390, 1280] as const;
  const browser = await launchBrowser();
  const page = await browser.newPage({ javaScriptEnabled: false });

  /** What is wrong with a page, with all lists open, at each width. */
  async function faultsOf(html: string): Promise<readonly string[]> {
    await page.setContent(html);
    await page.locator('main details').evaluateAll((all) => {
      for (const details of all) details.setAttribute('open', '');
    });
    const faults: string[] = [];
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const overflow = await horizontalOverflow(page);
      const found = [...(overflow === 0 ? [] : [`scrolls sideways by ${overflow} px`]), ...(await layoutFaults(page))];
      faults.push(...found.map((fault) => `at ${width} px: ${fault}`));
    }
    return faults;
  }

  it.each(scenarioNames)(
    'fits phones and desktops, and no text is on another, in the scenario %s',
    async (scenario) => {
      const { status = '', target = '' } = pages.get(scenario) ?? {};
      expect(await faultsOf(status), 'status page').toEqual([]);
      expect(await faultsOf(target), 'page of the target').toEqual([]);
    },
  );

  it.each(scenarioNames)(
    'has a table of the target on the first screen of a desktop and the second of a phone, in the scenario %s',
    async (scenario) => {
      await page.setContent(pages.get(scenario)?.target ?? '');
      const topAt = async (width: number): Promise<number> => {
        await page.setViewportSize({ width, height: 900 });
        const tops = await page
          .locator('main table:visible')
          .evaluateAll((tables) => tables.map((table) => table.getBoundingClientRect().top + scrollY));
        return Math.min(...tops);
      };
      expect(await topAt(1280)).toBeLessThan(700);
      expect(await topAt(400)).toBeLessThan(1200);
    },
  );

  it('fits phones and desktops while series are withdrawn', async () => {
    const snapshots = polledSnapshots(idleState);
    snapshots.record(BRIDGE, FAILED, at(400));
    const html = statusAt(snapshots, 400);
    expect(textOf(html)).toContain('withdrawn');
    expect(await faultsOf(html)).toEqual([]);
  });
});
