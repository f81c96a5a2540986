import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { get } from '../support/http.js';
import { MAIN } from '../support/processes.js';
import { freePort } from '../support/ports.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool } from '../support/tools.js';
import { waitUntil } from '../support/wait-for.js';
import { pages } from './pages.js';

const blocks = pages.find(({ file }) => file === 'docs/backtesting.md')?.blocks ?? [];
const commands = blocks.filter(({ language }) => language === 'sh').map(({ code }) => code);
const printed = blocks.filter(({ language }) => language === 'text').map(({ code }) => code.trim());

describe.skipIf(!hasTool('promtool') || !hasTool('prometheus'))('docs/backtesting.md', () => {
  it('has commands that work, in their order, and print what it says', async () => {
    const folder = createTempFolder();
    const bin = join(folder.path, 'bin');
    mkdirSync(bin);
    chmodSync(folder.write('bin/bridge-exporter', `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`), 0o755);
    const options = {
      cwd: folder.path,
      env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` },
      encoding: 'utf8' as const,
    };
    const run = (command: string): string => execFileSync('sh', ['-ec', command], options);
    const [record = '', backtest = '', serve = '', replay = '', prometheus = '', edited = '', hour = ''] = commands;
    expect(run(record)).toBe('recorded the scenario stalled-oracle in recording\n');
    expect(run(backtest).trim()).toBe(printed[0]);
    const server = spawn('sh', ['-ec', `exec ${serve.trim()} --listen 127.0.0.1:0`], options);
    const url = /http:\/\/[\d.:]+/.exec(String(await once(server.stdout, 'data')))?.[0] ?? '';
    expect((await get(`${url}/pending`)).text).toContain('id="validators"');
    server.kill();
    expect(run(replay)).toMatch(/BLOCK ULID/);
    const address = `127.0.0.1:${await freePort()}`;
    const store = spawn('sh', ['-ec', `exec ${prometheus.replace('127.0.0.1:9091', address)}`], options);
    onTestFinished(() => void store.kill());
    await waitUntil(async () =>
      get(`http://${address}/-/ready`)
        .then(({ status }) => status === 200)
        .catch(() => false),
    );
    expect(run(edited.replace('127.0.0.1:9091', address)).trim()).toBe(printed[1]);
    run(hour);
    // The recording of the example begins at 08:00.
    expect(run(hour.replace('/07', '/08') + '\ntar -tzf hour.tar.gz').split('\n').length).toBeGreaterThan(100);
  });
});
