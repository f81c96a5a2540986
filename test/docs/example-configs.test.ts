import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../src/config/loader.js';
import type { Config } from '../../src/config/config.js';
import { projectPath, readProjectFile } from '../support/project-files.js';
import { configJsonSchema } from '../../packaging/generate/settings.js';

const files = readdirSync(projectPath('examples'));

async function load(file: string): Promise<Config> {
  const result = await loadConfig({ configFile: projectPath(`examples/${file}`), env: {}, checkFiles: true });
  if (!result.ok) throw new Error(result.problems.join('\n'));
  expect(result.warnings).toEqual([]);
  return result.config;
}

describe('examples/', () => {
  it.each(files)('%s loads without a problem and without a warning', async (file) => {
    const { targets } = await load(file);
    expect(targets.length).toBeGreaterThan(0);
  });

  it.each([...files.map((file) => `examples/${file}`), 'docs/configuration.md'])('%s is valid in an editor', (file) => {
    const page = readProjectFile(file);
    // As editors read the file: numbers without quotes are numbers.
    const content: unknown = parse(file.endsWith('.md') ? (/```yaml\n([^]*?)```/.exec(page)?.[1] ?? '') : page);
    const { $schema: _dialect, ...schema } = configJsonSchema;
    expect(page).toContain('# yaml-language-server: $schema=https://');
    expect(z.fromJSONSchema(schema).safeParse(content).error?.issues).toBeUndefined();
    expect(z.fromJSONSchema(schema).safeParse({ pol: 1, poll: { interval: 1 } }).error?.issues).toHaveLength(2);
  });

  it('injective-and-zetachain.yml has the tokens of injective.yml', async () => {
    const [both, injective] = await Promise.all(['injective-and-zetachain.yml', 'injective.yml'].map(load));
    expect(both?.tokens).toEqual(injective?.tokens);
  });
});
