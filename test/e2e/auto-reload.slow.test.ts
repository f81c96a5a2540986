import { clock } from '../support/clock.js';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ConfigResult } from '../../src/config/config.js';
import { startExporter } from '../../src/commands/exporter.js';
import { createNetwork } from '../../src/sources/network.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { atEnd } from '../support/at-end.js';
import { parseValidConfig } from '../support/config.js';
import { valueIn } from '../support/exposition-text.js';
import { get, scrape, scrapeUntil } from '../support/http.js';
import { startDaemon, type Daemon } from '../support/processes.js';
import { createTempFolder, type TempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { waitUntil } from '../support/wait-for.js';

let folder: TempFolder;
let simulator: Simulator;

beforeEach(async () => {
  folder = createTempFolder();
  simulator = await startTestSimulator();
});

const POLL = 'poll: {interval: 100ms, timeout: 1s, stale_after: 60s}';
const entry = (name: string): string => `- {name: ${name}, bridge: {url: "${simulator.url}"}}\n`;
const configOf = (...names: readonly string[]): string => `${POLL}\ntargets:\n${names.map(entry).join('')}`;

async function start(file: string, ...flags: readonly string[]): Promise<Daemon> {
  return startDaemon([`--config.file=${file}`, '--config.auto-reload-interval=100ms', ...flags]);
}

const polls = (text: string, name: string): number =>
  valueIn(text, 'bridge_exporter_polls_total', `target="${name}"`) ?? -1;
const isSuccessful = (text: string): boolean => valueIn(text, 'bridge_exporter_config_last_reload_successful') === 1;

/** Waits for ten polls of a target, which take about ten times the interval of the checks. */
async function passTenChecks(running: Daemon, name: string): Promise<string> {
  const before = polls(await scrape(running), name);
  return scrapeUntil(running, (text) => polls(text, name) >= before + 10);
}

const logged = ({ log }: Daemon, pattern: RegExp): number => log.filter((line) => pattern.test(line)).length;
const RELOADED = /configuration reloaded/;
const REJECTED = /the new configuration is invalid/;

describe('--config.auto-reload-interval', () => {
  it('reloads a changed file once, and not one that is written again with the same content', async () => {
    const file = folder.write('config.yml', configOf('a'));
    const running = await start(file);
    // In one step: a check must not read a file that is only half written.
    const replaceWith = (text: string): void => renameSync(folder.write('new.yml', text), file);
    replaceWith(configOf('a'));
    await passTenChecks(running, 'a');
    expect(logged(running, RELOADED)).toBe(0);
    replaceWith(configOf('a', 'b'));
    await scrapeUntil(running, (text) => polls(text, 'b') > 0);
    const after = await passTenChecks(running, 'b');
    expect(polls(after, 'a')).toBeGreaterThan(10);
    expect(logged(running, RELOADED)).toBe(1);
  });

  it('follows the symbolic links of a mounted ConfigMap', async () => {
    const mount = (version: string, text: string): void => {
      mkdirSync(join(folder.path, version));
      folder.write(`${version}/config.yml`, text);
      symlinkSync(version, join(folder.path, '..data_tmp'));
      renameSync(join(folder.path, '..data_tmp'), join(folder.path, '..data'));
    };
    mount('..1', configOf('a'));
    symlinkSync('..data/config.yml', join(folder.path, 'config.yml'));
    const running = await start(join(folder.path, 'config.yml'));
    await scrapeUntil(running, (text) => polls(text, 'a') > 0);
    mount('..2', configOf('b'));
    rmSync(join(folder.path, '..1'), { recursive: true });
    const after = await scrapeUntil(running, (text) => polls(text, 'b') > 0);
    expect(polls(after, 'a')).toBe(-1);
    expect(logged(running, REJECTED)).toBe(0);
  });

  it.each([
    ['half-written', () => folder.write('config.yml', configOf('a', 'b').slice(0, -30))],
    ['deleted', () => rmSync(join(folder.path, 'config.yml'))],
  ])('keeps the configuration while the file is %s, logs it once, and recovers', async (_title, damage) => {
    const file = folder.write('config.yml', configOf('a'));
    const running = await start(file);
    damage();
    await scrapeUntil(running, (text) => !isSuccessful(text));
    const during = await passTenChecks(running, 'a');
    expect(isSuccessful(during)).toBe(false);
    expect(logged(running, REJECTED)).toBe(1);
    // The content that is still active.
    folder.write('config.yml', configOf('a'));
    const after = await scrapeUntil(running, isSuccessful);
    expect(polls(after, 'a')).toBeGreaterThanOrEqual(polls(during, 'a'));
    expect([logged(running, REJECTED), logged(running, RELOADED)].every((count) => count >= 1)).toBe(true);
  });
});

describe('concurrent reloads', () => {
  it('by signal and over HTTP run one after the other', async () => {
    const config = parseValidConfig(configOf('a'));
    let [running, most, loads] = [0, 0, 0];
    const exclusively = async <T>(result: T): Promise<T> => {
      running += 1;
      most = Math.max(most, running);
      for (let turn = 0; turn < 20; turn += 1) {
        await setImmediate();
      }
      running -= 1;
      return result;
    };
    const exporter = await startExporter(config, createNetwork('test/1', clock), pino({ level: 'silent' }), {
      listen: { host: '127.0.0.1', port: 0 },
      telemetryPath: '/metrics',
      clock,
      maxRequests: 10,
      build: { version: '0.0.0', revision: '', nodeVersion: '0' },
      shard: { index: 1, count: 1 },
      enableLifecycle: true,
      loadConfig: async (): Promise<ConfigResult> => {
        loads += 1;
        return exclusively({ ok: true, config, warnings: [] });
      },
    });
    atEnd(async () => exporter.close());
    const { url, reload } = exporter;
    await waitUntil(async () => {
      const results = await Promise.all([reload(), get(`${url}/-/reload`, { method: 'POST' }), reload()]);
      expect(results.map((result) => ('status' in result ? result.status === 200 : result.ok))).toEqual([
        true,
        true,
        true,
      ]);
      return loads > 20;
    });
    expect(most).toBe(1);
  });
});
