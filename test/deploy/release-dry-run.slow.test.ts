import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool } from '../support/tools.js';
import { hasHelm } from './helm.js';

const hasTools = hasHelm() && hasTool('nfpm') && hasTool('crane', ['version']);

it.skipIf(!hasTools)(
  'a release appears completely, can be installed, and is the same after an interruption of any step',
  { timeout: 600_000 },
  async () => {
    // A `docker` that builds without an engine.
    const { path } = createTempFolder();
    copyFileSync(projectPath('test/deploy/docker-stub.mjs'), join(path, 'docker'));
    chmodSync(join(path, 'docker'), 0o755);
    const env = { ...process.env, PATH: `${path}:${process.env['PATH']}` };
    const { stdout } = await promisify(execFile)(projectPath('.ci/release-dry-run'), [], { env, maxBuffer: 2 ** 26 });
    const lines = stdout.split('\n');
    expect(lines.filter((line) => line.startsWith('installed from'))).toEqual([
      ...['npm', 'image', 'archive', 'deb'].map((name) => `installed from ${name}: polls the simulator`),
      'installed from chart: runs the published version of the image',
      'installed from npm-upgrade: polls the simulator',
    ]);
    expect(lines).toContain('a fix of an older version: latest stays');
    expect(lines).toContain('rolled back: latest is the first version');
    expect(lines).toContain('interrupted after each step: the same result');
  },
);
