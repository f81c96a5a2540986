import { describe, expect, it } from 'vitest';
import { renderBlockTime } from '../../src/pages/endpoint-html.js';
import { endpointView, type NodeView } from '../../src/pages/view.js';
import { answeredQueries } from '../support/answered-queries.js';
import { pollOf } from '../support/polls.js';
import { idleState } from '../items/bridge-state.js';
import {
  at,
  BRIDGE,
  initialSnapshots,
  pendingAt,
  polledSnapshots,
  shownOf,
  statusAt,
  statusDocumentAt,
  TARGET,
} from './sample-snapshots.js';

const NODE: NodeView = { blockTime: '2026-11-24T02:14:00.000Z', behindSeconds: 0, upgrade: null };

/** A bridge whose node has a newest block of this age. */
function snapshotsBehind(seconds: number): ReturnType<typeof polledSnapshots> {
  const snapshots = polledSnapshots(idleState);
  const queries = answeredQueries(at(0), {
    latest_block: { height: '1', epochSeconds: at(-seconds).at },
    syncing: { isSyncing: true },
  });
  const states = snapshots.states().map((state) => (state.document === 'module_state' ? { ...state, queries } : state));
  return { ...snapshots, states: () => states };
}

const textOf = (html: string): string => html.replaceAll(/<[^>]*>/g, '');

describe('what the node says besides the document', () => {
  it('is in the views of the endpoint', () => {
    const [endpoint] = shownOf(snapshotsBehind(10_800).states());
    if (endpoint === undefined) throw new Error('the bridge has an endpoint');
    expect(endpointView(endpoint, at(30)).node).toEqual({
      blockTime: '2026-01-01T09:00:00.000Z',
      behindSeconds: 10_800,
      upgrade: null,
    });
    expect(endpointView(endpoint, at(3600)).node, 'long after the answers').toEqual({
      blockTime: null,
      behindSeconds: null,
      upgrade: null,
    });
  });
});

describe('the time of the newest block of a node', () => {
  it('is shown where it differs from the time of the poll', () => {
    const text = (node: Partial<NodeView>): string | undefined => {
      const shown = renderBlockTime({ ...NODE, ...node });
      return shown && textOf(shown.html);
    };
    expect(text({ behindSeconds: 20 })).toBeUndefined();
    expect(text({ behindSeconds: 10_800 })).toBe('block time 02:14 UTC, 3 h behind');
    expect(text({ behindSeconds: 172_800 })).toBe('block time 02:14 UTC, 2 d behind');
    expect(text({ blockTime: null, behindSeconds: null })).toBeUndefined();
  });

  it('is on both pages, and the target cannot be judged before the alert fires', () => {
    const behind = snapshotsBehind(10_800);
    expect(textOf(statusAt(behind, 10))).toContain('as of block time 09:00 UTC, 3 h behind');
    expect(textOf(pendingAt(behind, 10, { target: TARGET }))).toContain('as of block time 09:00 UTC, 3 h behind');
    expect(statusDocumentAt(behind, 10).targets[0]).toMatchObject({
      status: 'unknown',
      unknown: ['the node of module_state is 3 h behind'],
    });
    expect(
      statusDocumentAt(snapshotsBehind(20), 10).targets[0],
      'a node that says at the tip that it is catching up',
    ).toMatchObject({ unknown: [] });
    expect(statusDocumentAt(snapshotsBehind(-61), 10).targets[0]).toMatchObject({
      status: 'unknown',
      unknown: ['the clock of the exporter is 61 s behind the newest block of module_state'],
    });
    expect(statusDocumentAt(snapshotsBehind(-60), 10).targets[0]).toMatchObject({ status: 'ok', unknown: [] });
    const current = snapshotsBehind(0);
    expect(textOf(statusAt(current, 10))).not.toContain('block time 1');
    expect(statusDocumentAt(current, 10).targets[0]).toMatchObject({ status: 'ok', unknown: [] });
  });
});

describe('a planned upgrade of the hub', () => {
  /** The hub makes a block every two seconds, and the node has served each minute. */
  const withPlan = (planned: string, minutes: number) => {
    const snapshots = initialSnapshots();
    const heightAt = (minute: number) => String(1000 + 30 * minute);
    for (let minute = 0; minute <= minutes; minute += 1) {
      const now = at(60 * (minute - minutes));
      snapshots.record(BRIDGE, pollOf(BRIDGE, { state: idleState }, { height: heightAt(minute), at: now }), now);
    }
    const queries = answeredQueries(at(0), {
      latest_block: { height: BigInt(heightAt(minutes)), epochSeconds: at(0).at },
      upgrade_plan: [{ name: 'v2.0.0', height: BigInt(planned) }],
    });
    const states = snapshots
      .states()
      .map((state) => (state.document === 'module_state' ? { ...state, queries } : state));
    return { ...snapshots, states: () => states };
  };
  const noteIn = (...plan: Parameters<typeof withPlan>) =>
    /the upgrade v[^]*?planned[^.]*/.exec(textOf(statusAt(withPlan(...plan), 0)))?.[0];

  it('is on both pages with its estimated time, until the hub stops before it', () => {
    const note = 'the upgrade v2.0.0 of the hub is planned at height 5200, about 2026-01-01 14:00 UTC';
    expect(noteIn('5200', 20)).toBe(note);
    expect(textOf(pendingAt(withPlan('5200', 20), 0, { target: TARGET }))).toContain(note);
    expect(noteIn('1602', 20)).toContain('about 2026-01-01 12:00 UTC');
    expect(noteIn('1601', 20)).toBeUndefined();
    expect(noteIn('1500', 20)).toBeUndefined();
  });

  it('has no time before a block time is measured', () => {
    expect(noteIn('5200', 9)).toBe('the upgrade v2.0.0 of the hub is planned at height 5200');
  });
});
