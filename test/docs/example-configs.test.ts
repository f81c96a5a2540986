import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/loader.js';
import type { Config } from '../../src/config/config.js';
import { projectPath, readProjectFile } from '../support/project-files.js';

const files = readdirSync(projectPath('examples'));

async function load(file: string): Promise<Config> {
  const result = await loadConfig({ configFile: projectPath(`examples/${file}`), env: {}, checkFiles: true });
  if (!result.ok) throw new Error(result.problems.join('\n'));
  expect(result.warnings).toEqual([]);
  return result.config;
}

describe('examples/', () => {
  it('has one configuration for each chain, and one for both', () => {
    expect(files.toSorted()).toEqual(['injective-and-zetachain.yml', 'injective.yml', 'zetachain.yml']);
  });

  it.each(files)('%s loads without a problem and without a warning', async (file) => {
    const { targets } = await load(file);
    expect(targets.length).toBeGreaterThan(0);
  });

  it('injective.yml names the sources of its tokens', () => {
    expect(readProjectFile('examples/injective.yml')).toMatch(/# Source: https:\/\/.+\ntokens:$/m);
  });

  it('injective-and-zetachain.yml has the tokens of injective.yml', async () => {
    const [both, injective] = await Promise.all(['injective-and-zetachain.yml', 'injective.yml'].map(load));
    expect(both?.tokens).toEqual(injective?.tokens);
  });
});
