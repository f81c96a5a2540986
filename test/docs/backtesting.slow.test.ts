import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { get } from '../support/http.js';
import { MAIN } from '../support/processes.js';
import { projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool } from '../support/tools.js';
import { pages } from './pages.js';

const blocks = pages.find(({ file }) => file === 'docs/backtesting.md')?.blocks ?? [];
const commands = blocks.filter(({ language }) => language === 'sh').map(({ code }) => code);
const report = blocks.find(({ language }) => language === 'text');

describe.skipIf(!hasTool('promtool'))('docs/backtesting.md', () => {
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
    execFileSync('ln', ['-s', projectPath('prometheus'), join(folder.path, 'prometheus')]);
    const [backtest = '', compare = '', serve = '', ...others] = commands;
    expect(run(backtest)).toBe(`recorded the scenario stalled-oracle in recording\n${report?.code}`);
    const compared = run(compare);
    expect(compared).toContain('\nWould disappear, compared with the shipped rules');
    expect(compared).toContain('\nWould be new');
    expect(compared).toContain('\nOther times');
    const server = spawn('sh', ['-ec', `exec ${serve.trim()} --listen 127.0.0.1:0`], options);
    const url = /http:\/\/[\d.:]+/.exec(String(await once(server.stdout, 'data')))?.[0] ?? '';
    expect((await get(`${url}/pending`)).text).toContain('Who is blocking');
    server.kill();
    const [replay = '', hour = ''] = others;
    expect(run(replay)).toMatch(/BLOCK ULID/);
    run(hour);
    // The recording of the example begins at 08:00.
    expect(run(hour.replace('/07', '/08') + '\ntar -tzf hour.tar.gz').split('\n').length).toBeGreaterThan(100);
  });
});
