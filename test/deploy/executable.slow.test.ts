import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { packageJson, projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { runTool } from '../support/tools.js';
import { runAsDaemon } from './working-program.js';

/*
 * The single executable of a release, built with the Node.js that runs the tests.
 */

const image = createTempFolder();
const folder = createTempFolder().path;
const program = join(folder, 'bridge-exporter');
const REVISION = 'e'.repeat(40);

beforeAll(() => {
  mkdirSync(join(image.path, 'usr/local/bin'), { recursive: true });
  symlinkSync(process.execPath, join(image.path, 'usr/local/bin/node'));
  image.write('usr/local/LICENSE', 'Node.js');
  const env = { ...process.env, REVISION };
  execFileSync(process.execPath, [projectPath('packaging/executable.mjs'), image.path, folder], { env, stdio: 'pipe' });
});

describe('the single executable', () => {
  it('knows its version and its revision, and needs no other file', () => {
    expect(runTool(program, ['--version'])).toEqual({
      status: 0,
      output: `bridge-exporter ${packageJson.version} (revision ${REVISION}, node ${process.versions.node})\n`,
    });
  });

  it('works as a daemon', async () => {
    expect(await runAsDaemon(program)).toBe(0);
  });
});
