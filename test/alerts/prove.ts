import { expect, it } from 'vitest';
import { hasTool } from '../support/tools.js';
import type { Incident, Page } from './incidents.js';
import { firings, shownAt, usedNames, type Firing } from './promtool.js';
import { record } from './recording.js';

/*
 * From the body of a node to the page: the simulated chain goes through an incident, the exporter's own code reads it, and
 * Prometheus' own rule engine runs prometheus/alerts.yml over what it exposes.
 */
const hasPromtool = hasTool('promtool');

const pageOf = ({ alert, severity }: Firing): Page => `${alert}/${severity}` as Page;

export function prove(incidents: readonly Incident[]): void {
  it.skipIf(!hasPromtool).each(incidents)('$title', (incident) => {
    const recorded = record(incident.stretches, { ...incident.options, keep: usedNames });
    const fired = firings(recorded).filter(({ alert }) => alert !== 'BridgeWatchdog');
    const pages = Object.keys(incident.pages) as Page[];
    if (process.env['ALERTS_SHOW']) console.log(shown(incident, fired));

    // What it is about and nothing else, and nothing before.
    expect(
      Array.from(new Set(fired.map(pageOf)))
        .filter((page) => !incident.also?.includes(page))
        .toSorted(),
    ).toEqual(pages.toSorted());
    expect(fired.filter(({ from }) => from < incident.begins)).toEqual([]);
    // In time, by the first that fires.
    for (const page of pages) {
      const first = Math.min(...fired.filter((firing) => pageOf(firing) === page).map(({ from }) => from));
      expect(first - incident.begins, `minutes to ${page}`).toBeLessThanOrEqual(incident.pages[page] ?? 0);
    }
    // Once for each of its labels.
    expect(fired.filter(({ times }) => times !== 1)).toEqual([]);
    // Until it is over.
    const end = ((recorded.samples - 1) * recorded.sampleSeconds) / 60;
    const unresolved = fired.filter(({ until }) => until >= end);
    expect(incident.lasts ? [] : unresolved).toEqual([]);
    expect(minutesWithoutCritical(fired, incident.noGapAfter ?? Infinity, end)).toEqual([]);
    const watchdog = { alert: 'BridgeWatchdog', minute: 0 };
    const texts = shownAt(recorded, [watchdog, ...fired.map(({ alert, from }) => ({ alert, minute: from }))]);
    expect(texts).toContain('runbook_url=');
    expect(texts).not.toMatch(/<no value>|error expanding|NaN|%!/);
  });
}

function minutesWithoutCritical(fired: readonly Firing[], first: number, last: number): number[] {
  const critical = fired.filter(({ severity }) => severity === 'critical');
  const minutes = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  return minutes.filter((minute) => !critical.some(({ from, until }) => from <= minute && minute <= until));
}

function shown({ title, begins }: Incident, fired: readonly Firing[]): string {
  const rows = fired.map((firing) => {
    const { labels, from, until, times } = firing;
    const who = [
      labels['endpoint'],
      labels['orchestrator']?.slice(-4),
      labels['chain_id'],
      labels['list'],
      labels['family'],
      labels['field'],
    ];
    return `  ${pageOf(firing)} +${from - begins} until ${until} x${times} ${who.filter(Boolean).join(' ')}`;
  });
  return `${title} (${begins})\n${rows.toSorted().join('\n')}`;
}
