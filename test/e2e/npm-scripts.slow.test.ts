import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startProcess } from '../support/processes.js';
import { projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { waitUntil } from '../support/wait-for.js';

const LISTEN = '--listen=127.0.0.1:0';
const WEB_LISTEN = '--web.listen-address=127.0.0.1:0';

/** A copy of the project, because the scripts write to `dist`, which other tests use at the same time. */
const folder = createTempFolder();

beforeAll(() => {
  for (const path of ['package.json', 'tsconfig.json', 'packaging', 'src', 'dist']) {
    cpSync(projectPath(path), join(folder.path, path), { recursive: true });
  }
  symlinkSync(projectPath('node_modules'), join(folder.path, 'node_modules'));
});

/** Whether any process of the group is running. */
function isGroupRunning(leader: number): boolean {
  try {
    return process.kill(-leader, 0);
  } catch {
    return false;
  }
}

describe('npm', () => {
  it.each([
    ['run demo', [LISTEN, WEB_LISTEN, '--log.level=error'], /Ctrl\+C/],
    ['run simulate', [LISTEN], /rateLimiterInput/],
    ['start', [WEB_LISTEN], /serving http/],
  ])('%s leaves no process running after SIGTERM', async (script, flags, started) => {
    const { child, printed } = startProcess('npm', [...script.split(' '), '--', ...flags], {
      cwd: folder.path,
      // All descendants of npm are in its process group.
      detached: true,
      env: { BRIDGE_URL: 'http://127.0.0.1:9' },
    });
    const npm = child.pid ?? Number.NaN;
    onTestFinished(() => {
      if (isGroupRunning(npm)) process.kill(-npm, 'SIGKILL');
    });
    await printed(started);
    expect(isGroupRunning(npm)).toBe(true);
    child.kill('SIGTERM');
    await waitUntil(() => !isGroupRunning(npm), { timeoutMs: 10_000 });
  });
});
