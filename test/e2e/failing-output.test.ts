import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MAIN } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';

/*
 * Standard output and standard error on a full disk, and as pipes that nobody reads.
 */
const folder = createTempFolder();
const body = folder.write('body.json', '{"state":{"last_observed_nonce":"7"}}');
const config = `--config.file=${folder.write('bridge.yml', 'targets: [{name: a, bridge: {url: "http://127.0.0.1:1"}}]')}`;
const daemon = [config, '--web.listen-address=127.0.0.1:0'];
const simulate = ['simulate', '--listen=127.0.0.1:0'];

type Broken = 'stdout' | 'stderr';

/** Runs the program with one stream that fails, and returns its exit code and what it prints to the other one. */
async function run(args: readonly string[], broken: Broken, kind: 'full' | 'closed') {
  const stream = kind === 'full' ? openSync('/dev/full', 'w') : 'pipe';
  const stdio = broken === 'stdout' ? (['ignore', stream, 'pipe'] as const) : (['ignore', 'pipe', stream] as const);
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: [...stdio] });
  onTestFinished(() => void child.kill('SIGKILL'));
  if (kind === 'closed') child[broken]?.destroy();
  const other = broken === 'stdout' ? child.stderr : child.stdout;
  const [printed, [code]] = await Promise.all([other === null ? '' : text(other), once(child, 'close')]);
  return { code: code as unknown, printed };
}

describe('standard output', () => {
  it.each([['--help'], ['replay', '--bridge', body], simulate])(
    'on a full disk is one line and exit code 1: %s %s',
    async (...args) => {
      expect(await run(args, 'stdout', 'full')).toEqual({
        code: 1,
        printed: 'bridge-exporter: cannot write to standard output: no space left on device\n',
      });
    },
  );

  it('that nobody reads any more ends the command quietly', async () => {
    expect(await run(simulate, 'stdout', 'closed')).toEqual({ code: 0, printed: '' });
  });
});

describe('standard error', () => {
  it.each([
    ['a message', 'full', ['--unknown']],
    ['the log', 'full', daemon],
    ['the log', 'closed', daemon],
  ] as const)('to which %s cannot be written (%s) ends the command with 1', async (_title, kind, args) => {
    expect(await run(args, 'stderr', kind)).toEqual({ code: 1, printed: '' });
  });
});
