import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';

/** The variable PATH with a `docker` that builds without an engine. */
export function pathWithDocker(): string {
  const { path } = createTempFolder();
  const docker = join(path, 'docker');
  copyFileSync(projectPath('test/deploy/docker-stub.mjs'), docker);
  chmodSync(docker, 0o755);
  return `${path}:${process.env['PATH']}`;
}
