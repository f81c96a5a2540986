import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectPath, readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';

/* Node.js 24 lets the space of new objects grow to 64 MiB twice, which is as much memory again as the exporter uses. */

const FLAG = '--max-semi-space-size=16';

describe('Node.js is started with a limit of its space of new objects', () => {
  it.each<[string, string, RegExp]>([
    ['the image, and the chart, which passes arguments only', 'Dockerfile', /^ENTRYPOINT \["node", "(\S+)", /m],
    ['the unit', 'deploy/systemd/bridge-exporter.service', /^ExecStart=\/usr\/bin\/node (\S+) \/opt\//m],
    ['the executable', 'packaging/executable.mjs', /^ {2}execArgv: \['(\S+)'\],$/m],
    ['`npm start`', 'package.json', /"start": "exec node (\S+) /],
  ])('by %s', (_what, file, pattern) => {
    expect(pattern.exec(readProjectFile(file))?.[1]).toBe(FLAG);
  });

  it('by the command of the npm package, which the Debian and RPM packages run, too', () => {
    const folder = createTempFolder().path;
    execFileSync(process.execPath, ['packaging/bundle.mjs', folder, '--program'], { cwd: projectPath('.') });
    const main = join(folder, 'dist/main.js');
    expect(readFileSync(main, 'utf8').split('\n', 1)).toEqual([`#!/usr/bin/env -S node ${FLAG}`]);
    expect(execFileSync(main, ['--version'], { encoding: 'utf8' })).toContain('bridge-exporter ');
  });

  it('and not by the chart, whose container has the command of the image', () => {
    expect(readProjectFile('deploy/helm/bridge-exporter/templates/_pod.tpl')).not.toMatch(/^ {6}command:/m);
  });
});
