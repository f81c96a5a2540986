import { describe, expect, it } from 'vitest';
import { readProjectFile } from '../support/project-files.js';

/*
 * Node.js 24 lets the space of new objects grow to 64 MiB twice, which is as much memory again as the exporter uses. V8
 * builds arrays that have often survived among the old objects, where each keeps the rows of a document after it has
 * been derived. V8 collects all objects of a process that is mostly idle as soon as they take a tenth more memory than
 * after the last collection.
 */

const FLAGS = ['--max-semi-space-size=16', '--no-allocation-site-pretenuring', '--heap-growing-percent=60'];

describe('Node.js is started with flags for its memory', () => {
  it.each<[string, string, RegExp]>([
    ['the image, and the chart, which passes arguments only', 'Dockerfile', /^ENTRYPOINT \["node", (.+), "\/app\//m],
    ['the unit', 'deploy/systemd/bridge-exporter.service', /^ExecStart=\/usr\/bin\/node (.+) \/opt\//m],
    [
      'the npm package, whose command the Debian and RPM packages run, too',
      'src/main.ts',
      /^#!\/usr\/bin\/env -S node (.+)$/m,
    ],
    ['`npm start`', 'package.json', /"start": "exec node (.+) dist\//],
  ])('by %s', (_what, file, pattern) => {
    expect(pattern.exec(readProjectFile(file))?.[1]?.match(/--[\w=-]+/g)).toEqual(FLAGS);
  });

  it('and not by the chart, whose container has the command of the image', () => {
    expect(readProjectFile('deploy/helm/bridge-exporter/templates/_pod.tpl')).not.toMatch(/^ {6}command:/m);
  });
});
