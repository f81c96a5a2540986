import { chownSync, cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { runTool } from '../support/tools.js';

/** Runs the script in a folder of its own. */
function createFolder() {
  const { path } = createTempFolder();
  mkdirSync(join(path, 'packaging'));
  cpSync(projectPath('packaging/revision.mjs'), join(path, 'packaging/revision.mjs'));
  const git = (...args: readonly string[]) =>
    runTool('git', ['-C', path, '-c', 'user.name=a', '-c', 'user.email=a', ...args]);
  return {
    path,
    git,
    revision: () => runTool('env', ['-u', 'REVISION', process.execPath, join(path, 'packaging/revision.mjs')]),
  };
}

describe('the revision of a build', () => {
  // Only root can give a folder to another user; so does the job container of the CI.
  it.skipIf(process.getuid?.() !== 0)('is that of a repository of another user', () => {
    const { path, git, revision } = createFolder();
    git('init', '--quiet');
    git('commit', '--quiet', '--allow-empty', '--message=first');
    const commit = git('rev-parse', 'HEAD').output;
    expect(commit).toMatch(/^[0-9a-f]{40}\n$/);
    for (const file of ['', '.git']) chownSync(join(path, file), 12_345, 12_345);
    expect(runTool('env', ['-C', path, 'HOME=/nonexistent', 'git', 'rev-parse', 'HEAD']).output).toContain(
      'dubious ownership',
    );
    expect(revision()).toEqual({ status: 0, output: commit });
  });

  it('is empty outside a repository', () => {
    expect(createFolder().revision()).toEqual({ status: 0, output: '\n' });
  });

  it('is required in a repository: the build fails without a commit', () => {
    const { git, revision } = createFolder();
    git('init', '--quiet');
    expect(revision()).toMatchObject({ status: 1, output: expect.stringContaining('fatal:') });
  });
});
