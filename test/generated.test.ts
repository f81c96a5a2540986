import { describe, expect, it } from 'vitest';
import { generatedFiles } from '../packaging/generate/files.js';
import { readProjectFile } from './support/project-files.js';
import { hasTool } from './support/tools.js';

// What it writes: test/docs/adding-an-alert.slow.test.ts.
describe('npm run generate', () => {
  it.each(Object.entries(generatedFiles))('leaves %s as it is', async (file, generate) => {
    const text = await generate();
    if (text === undefined) return expect(hasTool('helm-docs', ['--help'])).toBe(false);
    expect(readProjectFile(file), `${file} is not up to date: npm run generate`).toBe(text);
  });
});
