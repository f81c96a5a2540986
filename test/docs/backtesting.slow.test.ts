import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { recordChain } from '../recorder/recorded-chain.js';
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

/** The recording of the examples, which begins at 08:00. */
const EXAMPLE = {
  scenario: 'stalled-oracle',
  minutes: 60,
  startTime: Date.parse('2026-11-23T08:00:00Z') / 1000,
  blockTimeMs: 30_000,
  pollSeconds: 300,
} as const;

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
    const directory = join(folder.path, 'recording');
    await recordChain({ ...EXAMPLE, directory });
    const [backtest = '', replay = '', prometheus = '', edited = '', hour = ''] = commands;
    expect(run(backtest).trim()).toBe(printed[0]);
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
    expect(run(hour.replace('/07', '/08') + '\ntar -tzf hour.tar.gz').split('\n').length).toBeGreaterThan(30);
  });
});
