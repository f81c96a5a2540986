import { describe, expect, it } from 'vitest';
import { createPages, loadedConfig } from '../../src/commands/exporter.js';
import type { EndpointState } from '../../src/engine/endpoint-state.js';
import { defaultConfig } from '../../src/config/config.js';
import { recordedStates } from '../support/endpoint-states.js';
import { idleState } from '../items/bridge-state.js';
import { record } from '../problems/recording.js';
import { at, BRIDGE, bridgeResult, shownOf, STALE_AFTER_SECONDS } from './sample-snapshots.js';

/** Deriving its items fails. */
function withoutBody(state: EndpointState): EndpointState {
  const { lastSuccess } = state;
  if (lastSuccess === undefined) throw new Error('the poll was successful');
  const kept = { ...lastSuccess.snapshot.kept, body: Buffer.from('no brotli') };
  return { ...state, lastSuccess: { ...lastSuccess, snapshot: { ...lastSuccess.snapshot, kept } } };
}

const contexts = ['a', 'b'].map((target) => ({ ...BRIDGE, target }));
const snapshots = recordedStates(contexts, { maxBodyBytes: 2 ** 20, staleAfterMs: STALE_AFTER_SECONDS * 1000 });
for (const context of contexts) snapshots.record(context, bridgeResult(idleState), at(0));
const states = snapshots.states().map((state) => (state.target === 'b' ? withoutBody(state) : state));

const pages = createPages(
  { endpoints: () => shownOf(states), states: () => states },
  { current: () => loadedConfig(defaultConfig, at(0).at), rejected: () => undefined },
  {
    telemetryPath: '/metrics',
    build: { version: '0.1.0', revision: 'unknown', nodeVersion: '20.19.0' },
    startedAt: at(0).at,
    now: () => at(1),
  },
);

describe('the status page', () => {
  it('derives no items of any endpoint', async () => {
    expect(await pages.statusPage('html')).toContain('Waiting transfers <b>0</b>');
    expect(await pages.statusPage('json')).toMatchObject({ endpoints: [{ target: 'a' }, { target: 'b' }] });
  });

  it('needs at most 2 kB of each document', () => {
    const { endpoints } = record([{ minutes: 8 }, { minutes: 60, scenario: 'stuck' }], { sampleSeconds: 120 });
    const sizes = endpoints.flatMap(({ lastSuccess }) => {
      const headline = lastSuccess?.snapshot.headline;
      return headline === undefined ? [] : [JSON.stringify(headline).length];
    });
    expect(sizes).toHaveLength(2);
    expect(Math.max(...sizes)).toBeLessThan(2048);
    expect(Math.min(...sizes)).toBeGreaterThan(100);
  });
});

describe('the items of a page', () => {
  it('are derived only of the target that is asked for', async () => {
    expect(await pages.pendingPage('html', 'a')).toContain('Live batches');
    await expect(async () => pages.pendingPage('html', 'b')).rejects.toThrow('Decompression failed');
  });
});
