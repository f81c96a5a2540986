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

  it.each(files.filter((file) => !file.includes('-and-')))('%s names the sources of its facts', (file) => {
    const text = readProjectFile(`examples/${file}`);
    const facts = text.match(/^(?:tokens|chains):$/gm) ?? [];
    expect(facts.length).toBeGreaterThan(0);
    expect((text.match(/# Source: https:\/\//g) ?? []).length).toBeGreaterThanOrEqual(facts.length);
  });

  it('injective-and-zetachain.yml has the tokens and chains of the other two', async () => {
    const [both, injective, zetachain] = await Promise.all(
      ['injective-and-zetachain.yml', 'injective.yml', 'zetachain.yml'].map(load),
    );
    expect(both?.tokens).toEqual(injective?.tokens);
    expect(both?.chains).toEqual(zetachain?.chains);
  });
});
