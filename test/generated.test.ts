import { describe, expect, it } from 'vitest';
import { generatedFiles } from '../packaging/generate/files.js';
import { copyProject } from './docs/project-copy.js';
import { readProjectFile } from './support/project-files.js';
import { hasTool } from './support/tools.js';

const STALE_FILE = 'prometheus/alerts.yml';

describe('npm run generate', () => {
  it.each(Object.entries(generatedFiles))('leaves %s as it is', async (file, generate) => {
    const text = await generate();
    if (text === undefined) return expect(hasTool('helm-docs', ['--help'])).toBe(false);
    expect(readProjectFile(file), `${file} is not up to date: npm run generate`).toBe(text);
  });

  it('writes a file that is not up to date, and prints its name', async () => {
    const copy = copyProject();
    copy.write(STALE_FILE, 'groups: []\n');
    expect(await copy.run('npm', 'run', '--silent', 'generate')).toBe(`${STALE_FILE}\n`);
    expect(copy.changedFiles()).toEqual([]);
  });
});
