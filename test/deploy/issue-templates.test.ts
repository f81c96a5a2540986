import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { projectPath, readProjectYaml } from '../support/project-files.js';

const FOLDER = '.github/ISSUE_TEMPLATE';

interface Form {
  readonly name: string;
  readonly description: string;
  readonly body: readonly {
    readonly type: string;
    readonly id: string;
    readonly attributes: { readonly label: string; readonly options?: readonly string[] };
  }[];
}

const forms = readdirSync(projectPath(FOLDER))
  .filter((name) => name !== 'config.yml')
  .map((name) => [name, readProjectYaml(`${FOLDER}/${name}`) as Form] as const);

describe('the issue form', () => {
  it.each(forms)('%s has the keys that GitHub requires', (_name, { name, description, body }) => {
    expect(name.length).toBeGreaterThan(2);
    expect(description).toMatch(/\.$/);
    expect(new Set(body.map(({ id }) => id)).size).toBe(body.length);
    expect(new Set(body.map(({ attributes }) => attributes.label)).size).toBe(body.length);
    for (const { type, attributes } of body) {
      expect(['input', 'textarea', 'dropdown', 'checkboxes', 'markdown']).toContain(type);
      expect(type === 'dropdown').toBe(attributes.options !== undefined);
    }
  });
});
