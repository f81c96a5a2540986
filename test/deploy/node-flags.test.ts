import { describe, expect, it } from 'vitest';
import { readProjectFile } from '../support/project-files.js';

/* Node.js 24 lets the space of new objects grow to 64 MiB twice, which is as much memory again as the exporter uses. */

const FLAG = '--max-semi-space-size=16';

describe('Node.js is started with a limit of its space of new objects', () => {
  it.each<[string, string, RegExp]>([
    ['the image, and the chart, which passes arguments only', 'Dockerfile', /^ENTRYPOINT \["node", "(\S+)", /m],
    ['the unit', 'deploy/systemd/bridge-exporter.service', /^ExecStart=\/usr\/bin\/node (\S+) \/opt\//m],
    [
      'the npm package, whose command the Debian and RPM packages run, too',
      'src/main.ts',
      /^#!\/usr\/bin\/env -S node (\S+)$/m,
    ],
    ['the executable', 'packaging/executable.mjs', /^ {2}execArgv: \['(\S+)'\],$/m],
    ['`npm start`', 'package.json', /"start": "exec node (\S+) /],
  ])('by %s', (_what, file, pattern) => {
    expect(pattern.exec(readProjectFile(file))?.[1]).toBe(FLAG);
  });

  it('and not by the chart, whose container has the command of the image', () => {
    expect(readProjectFile('deploy/helm/bridge-exporter/templates/_pod.tpl')).not.toMatch(/^ {6}command:/m);
  });
});
