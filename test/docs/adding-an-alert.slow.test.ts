import { describe, expect, it } from 'vitest';
import { readProjectFile } from '../support/project-files.js';
import { hasTool } from '../support/tools.js';
import { codeBlocks, copyProject } from './project-copy.js';

/*
 * Follows the steps of contributing/adding-an-alert.md in a copy of the project.
 */
const page = readProjectFile('contributing/adding-an-alert.md');

const DECLARATIONS = 'src/problems/late-validators.ts';
const TEXTS = 'src/problems/alert-texts.ts';
const RUNBOOK = 'docs/runbook.md';
const INCIDENTS = 'test/problems/incidents.ts';

/** The tests that check every alert, without the slow ones. */
const TESTS = ['generated', 'problems/rules', 'docs/links', 'docs/names'];

/** Inserts text before the only occurrence of another one. */
function insertBefore(text: string, marker: string, inserted: string): string {
  const [before, after, ...others] = text.split(marker);
  if (after === undefined || others.length > 0) throw new Error(`${marker} does not occur once`);
  return `${before}${inserted}${marker}${after}`;
}

describe.skipIf(!hasTool('promtool'))('contributing/adding-an-alert.md', () => {
  it('adds an alert by editing four files', { timeout: 240_000 }, async () => {
    const [imported = '', declaration = '', texts = '', incident = ''] = codeBlocks(page, 'ts');
    const [section = ''] = codeBlocks(page, 'md');
    const [command = ''] = codeBlocks(page, 'sh');
    const copy = copyProject();
    const declarations = copy.read(DECLARATIONS);
    expect(declarations.endsWith('\n];\n'), 'the file ends with the list of problems').toBe(true);
    const withProblem = `${declarations.slice(0, -'];\n'.length)}${declaration}];\n`;
    copy.write(DECLARATIONS, insertBefore(withProblem, 'import type { BridgeInput } from', imported));
    copy.write(TEXTS, copy.read(TEXTS).replace(/};\n$/, `${texts}};\n`));
    copy.write(RUNBOOK, insertBefore(copy.read(RUNBOOK), '## BridgeWatchedValidatorInactive\n', section));
    const end = '];\n\nexport const crosschainAndExporterIncidents';
    copy.write(INCIDENTS, insertBefore(copy.read(INCIDENTS), end, incident));
    await copy.run('npx', 'prettier', '--write', DECLARATIONS, TEXTS, RUNBOOK, INCIDENTS);
    await copy.run('npx', 'tsc', '-p', 'test');

    const printed = await copy.run('npm', 'run', '--silent', 'generate');
    await copy.run('npx', 'vitest', 'run', '--project', 'fast', ...TESTS.map((name) => `test/${name}`));
    const generated = Array.from(page.matchAll(/^- `([^`]+\/[^`]+)`: the /gm), ([, file = '']) => file);
    expect(generated.length).toBeGreaterThan(1);
    expect(generated).toEqual(expect.arrayContaining(printed.trim().split('\n')));
    const edited = [DECLARATIONS, TEXTS, RUNBOOK, INCIDENTS, ...generated];
    expect(copy.changedFiles()).toEqual(Array.from(new Set(edited)).toSorted());
    expect(copy.read('prometheus/alerts.yml')).toContain('- alert: BridgeOrchestratorDuplicate');

    // Rejects when the incident does not fire the alert, or the pages disagree.
    expect(await copy.run('sh', '-ec', command)).toMatch(/Tests .*1 passed/);
  });
});
