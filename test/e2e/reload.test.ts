import { describe, expect, it } from 'vitest';
import { valueIn } from '../support/exposition-text.js';
import { get, scrape, scrapeUntil, type HttpResponse } from '../support/http.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestExporter, type TestExporter } from '../support/test-exporter.js';
import { hang } from '../support/faults.js';
import { startTestSimulator } from '../support/test-simulator.js';

const folder = createTempFolder();
const writeFile = (text: string): string => folder.write('config.yml', text);
const file = writeFile('');
const simulator = await startTestSimulator();

/** Writes a configuration with these targets, which all poll the simulator. */
function writeConfig(...targets: readonly string[]): string {
  const rows = targets.map((name) => `  - {name: ${name}, bridge: {url: "${simulator.url}"}}\n`);
  const text = `poll: {interval: 100ms, timeout: 1s, stale_after: 60s}\ntargets:\n${rows.join('')}`;
  writeFile(text);
  return text;
}

const polls = (text: string, name: string): number =>
  valueIn(text, 'bridge_exporter_polls_total', `target="${name}"`) ?? -1;
const isExported = (text: string, name: string): boolean =>
  valueIn(text, 'bridge_batches', `target="${name}"`) !== undefined;

const reload = async ({ url }: TestExporter, method = 'POST'): Promise<HttpResponse> =>
  get(`${url}/-/reload`, { method });

describe('a reload', () => {
  it('adds and removes targets and keeps the data of the others', async () => {
    writeConfig('kept', 'removed');
    const daemon = await startTestExporter([`--config.file=${file}`]);
    const before = await scrapeUntil(daemon, (text) => polls(text, 'kept') >= 3 && isExported(text, 'removed'));
    // From now on polls of this target cannot succeed.
    simulator.fault('module_state', hang);
    writeConfig('kept', 'added');
    expect(await daemon.reload()).toMatchObject({ ok: true });
    expect(daemon.log.at(-1)).toContain('configuration reloaded');
    const after = await scrape(daemon);
    expect(polls(after, 'kept')).toBeGreaterThanOrEqual(polls(before, 'kept'));
    expect(isExported(after, 'kept')).toBe(true);
    expect(after).not.toContain('"removed"');
    expect(polls(after, 'added')).toBe(0);
    expect(valueIn(after, 'bridge_exporter_config_last_reload_successful')).toBe(1);
    expect(valueIn(after, 'bridge_exporter_config_hash')).not.toBe(valueIn(before, 'bridge_exporter_config_hash'));
  });

  it('keeps the previous configuration when the new one is invalid, and reports that', async () => {
    writeConfig('a');
    const daemon = await startTestExporter([`--config.file=${file}`, '--web.enable-lifecycle']);
    const before = await scrapeUntil(daemon, (text) => isExported(text, 'a'));
    writeFile('targets: [{name: b}, {nam: c}]');
    const rejected = await reload(daemon);
    expect(rejected.status).toBe(500);
    expect(rejected.text).toContain('targets[0]');
    expect(rejected.text).toContain('targets[1]');
    expect((await get(daemon.url)).text, 'on the status page').toMatch(/<li>[^<]*targets\[0\]/);
    const during = await scrapeUntil(daemon, (text) => polls(text, 'a') > polls(before, 'a'));
    expect(valueIn(during, 'bridge_exporter_config_last_reload_successful')).toBe(0);
    for (const name of [
      'bridge_exporter_config_hash',
      'bridge_exporter_config_last_reload_success_timestamp_seconds',
    ]) {
      expect(valueIn(during, name)).toBe(valueIn(before, name));
    }
    writeConfig('a');
    expect(await reload(daemon, 'PUT')).toMatchObject({ status: 200, text: 'reloaded\n' });
    expect(valueIn(await scrape(daemon), 'bridge_exporter_config_last_reload_successful')).toBe(1);
  });
});
