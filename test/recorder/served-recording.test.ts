import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { valueIn } from '../support/exposition-text.js';
import { get, scrape } from '../support/http.js';
import { runHere } from '../support/command-context.js';
import { MAIN, runExporter, startProcess } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';

/* An hour of a chain whose oracle stands still, recorded every 5 minutes. */

const START = Date.parse('2026-11-23T08:00:00Z') / 1000;
const recording = join(createTempFolder().path, 'recording');
const SERVE = ['replay', '--recording', recording, '--serve'];

const simulated = ['--scenario=stalled-oracle', `--start-time=${START}`, '--block-time=30s'];
const recorded = ['--record', recording, '--duration=1h', '--interval=5m'];
await runExporter(['simulate', ...simulated, ...recorded]);
const server = startProcess(process.execPath, [MAIN, ...SERVE, '--at=2026-11-23T08:42:00Z', '--listen=127.0.0.1:0']);
const url = /http:\/\/[\d.:]+/.exec(await server.printed(/pages as of/))?.[0] ?? '';

describe('replay --recording --serve', () => {
  it('serves the status page of the time, with the verdict that the exporter had reached', async () => {
    const { text } = await get(`${url}/`);
    expect(text).toContain('<strong>Recording</strong> as of <time datetime="2026-11-23T08:42:00.000Z">');
    expect(text).toContain(
      '<title>■ critical: default: event 91018 (deposit of 0xfd8c3d…ea4e33) is not observed, for 116 min',
    );
    // The page does not change, and nothing about this process is of that time.
    expect(text).not.toMatch(/<script|Uptime/);
  });

  it('serves the pending items of the last poll before it, with those who block them', async () => {
    const { text } = await get(`${url}/pending?target=default`);
    expect(text).toContain('Validators <span class="quiet">6</span>');
    const json = await get(`${url}/pending`, { headers: { Accept: 'application/json' } });
    expect(JSON.parse(json.text)).toMatchObject({ endpoints: [{ asOf: '2026-11-23T08:40:00.000Z' }, {}] });
  });

  it('serves the metrics of the time, and is read-only', async () => {
    const text = await scrape({ url });
    const name = 'bridge_exporter_last_success_timestamp_seconds';
    expect(valueIn(text, name, 'document="module_state"')).toBe(START + 40 * 60);
    expect(text).not.toContain('process_');
    const reload = await fetch(`${url}/-/reload`, { method: 'POST' });
    expect(reload.status).toBe(403);
  });

  it('ends when there is nothing of the day before the time', async () => {
    expect(await runHere([...SERVE, '--at=2026-11-20'])).toEqual({
      code: 1,
      stdout: '',
      stderr: `bridge-exporter: ${recording}: no recorded poll in the 24 hours before 2026-11-20T00:00:00.000Z\n`,
    });
  });
});
