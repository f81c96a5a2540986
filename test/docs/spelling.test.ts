import { readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { projectPath } from '../support/project-files.js';

const FOLDERS = ['.github', 'deploy', 'docs', 'examples', 'grafana', 'prometheus', 'src', 'test'];
const ROOT_FILES = ['CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md', 'compose.yaml', 'package.json'];

/** The packages of the pictures have names and options of their own. This file names the words. */
const EXCLUDED = /^test\/dashboards\/pictures\/|^test\/docs\/spelling\.test\.ts$/;

const files = [
  ...ROOT_FILES,
  ...FOLDERS.flatMap((folder) =>
    readdirSync(projectPath(folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  ),
].filter((file) => /\.(?:ts|mjs|md|ya?ml|json|txt|prom)$/.test(file) && !EXCLUDED.test(file));

describe.each([
  [
    'American',
    /\w*(?:colour|behaviour|favour|neighbour|\bgrey\b|cancell(?:ed|ing)|labell(?:ed(?!by)|ing)|\blicence|\bcentre|\boffence|artefact|(?:initial|memo|normal|optim|organ|real|recogn|sanit|serial|summar)is(?:e[ds]?|ing|ation)\b)\w*/gi,
  ],
  ['with one name for the rate limiter input', /rate-limiter input/gi],
  ['without sections of documents that are elsewhere', /§/g],
])('the spelling is %s', (_title, pattern) => {
  it('in every file', () => {
    const found = files
      .filter((file) => statSync(projectPath(file)).isFile())
      .flatMap((file) =>
        (readFileSync(projectPath(file), 'utf8').match(pattern) ?? []).map((word) => `${file}: ${word}`),
      );
    expect(found).toEqual([]);
  });
});
