import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { logVerdicts } from '../../src/engine/poll-log.js';
import {
  problemSeries,
  reportedVerdicts,
  listVerdicts,
  type ReportedVerdicts,
  type Verdict,
} from '../../src/engine/verdicts.js';
import { statusPage } from '../../src/pages/status-page.js';
import { createView } from '../../src/pages/view.js';
import { problemInfo } from '../../src/problems/problem-families.js';
import { scenarioNames } from '../../src/simulator/scenarios.js';
import { instance, shownOf, testLinks, textOf } from '../pages/sample-snapshots.js';
import { labelsOf, seriesOf } from '../support/exposition-text.js';
import { record } from './recording.js';

/*
 * A problem has the same words everywhere: in the series, from which notifications and dashboards have them (rules.test.ts, test/dashboards), on the page, and
 * in the log.
 */

const HEALTHY_MINUTES = 8;
const INCIDENT_MINUTES = 68;
const SAMPLE_SECONDS = 120;

type Info = Readonly<Record<'id' | 'problem' | 'severity' | 'summary' | 'action' | 'hidden_by', string>>;

const infosOf = (text: string): readonly Info[] => seriesOf(text).map((series) => labelsOf(series) as Info);

/** The lines of the log about verdicts that have begun, by alert and severity, with the action. */
function logLines(verdicts: readonly Verdict[]): readonly { readonly msg: string; readonly action: string }[] {
  const lines: { msg: string; action: string }[] = [];
  const log = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });
  const before: ReportedVerdicts = new Map();
  logVerdicts(log, before, reportedVerdicts(before, { verdicts, unknown: [] }));
  return lines;
}

describe('a problem', () => {
  it.each(scenarioNames.filter((name) => name !== 'mainnet'))(
    'is said in the same words everywhere: %s',
    (scenario) => {
      const { endpoints, at } = record([{ minutes: HEALTHY_MINUTES }, { minutes: INCIDENT_MINUTES, scenario }], {
        sampleSeconds: SAMPLE_SECONDS,
        valsets: 3,
        contract: true,
      });
      const infosAt = (seconds: number): readonly Info[] =>
        infosOf(
          problemSeries(endpoints, { ...at, at: at.at + seconds })
            .filter(({ name }) => name === problemInfo.name)
            .map(({ text }) => text)
            .join(''),
        );
      const infos = new Map(infosAt(0).map((info) => [info.id, info]));
      const judged = listVerdicts(endpoints, at);
      const verdicts = judged.flatMap((target) => target.verdicts);
      const links = testLinks();
      const html = statusPage(
        { ...createView(shownOf(endpoints), judged, links, at), instance },
        { telemetryPath: '/metrics', version: '0.2.0' },
      );
      const page = textOf(html);
      for (const { id, alert, severity, summary, action, hiddenBy } of verdicts) {
        const info = { id, problem: alert, severity, summary, action, hidden_by: hiddenBy ?? '' };
        expect(infos.get(id), alert).toMatchObject(info);
        expect(html).toContain(` id="${id}"`);
        expect(page).toContain(summary);
      }
      const shown = verdicts.filter(({ hiddenBy, state }) => hiddenBy === null && state === 'firing');
      for (const { summary, action, urgency } of shown) {
        expect(page).toContain(action);
        expect(page.toLowerCase()).toContain(urgency === 'for the record' ? urgency : `act ${urgency}`);
        const line = logLines(verdicts).find(({ msg }) => msg.includes(summary));
        expect(line?.action).toBe(action);
      }
      // Labels: nothing is cut, nothing moves by itself.
      for (const { summary, action } of infos.values()) {
        expect([summary.endsWith('…'), action.endsWith('…')]).toEqual([false, false]);
      }
      // While nothing but time passes, a series ends only when another problem hides or no longer hides it.
      const later = new Map(infosAt(90).map((info) => [info.id, info]));
      for (const [id, { hidden_by: _hidden, action: _action, ...info }] of infos)
        expect(later.get(id)).toMatchObject(info);
    },
  );
});
