import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { projectPath } from './project-files.js';
import { missingTools } from './tools.js';
import { relative } from 'node:path';

/** Says at the end which tests were skipped because a program is missing, and how to install it. */
export default class MissingToolsReporter implements Reporter {
  #isFiltered = false;

  onInit({ config }: Vitest): void {
    this.#isFiltered = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // Tests without a name that matches `-t` are skipped, too.
    if (this.#isFiltered) return;
    const tools = missingTools();
    if (tools.length === 0) return;
    const names = Array.from(new Set(tools.map(({ name }) => name))).toSorted();
    const files = new Set(tools.map(({ file }) => file));
    const skipped = modules
      .filter(({ moduleId }) => files.has(moduleId))
      .flatMap((module) => {
        const count = Array.from(module.children.allTests('skipped')).length;
        return count === 0 ? [] : [`${count} in ${relative(projectPath('.'), module.moduleId)}`];
      });
    // A test can have a replacement for the program.
    if (skipped.length === 0) return;
    const packages = Array.from(new Set(tools.map(({ install }) => install))).toSorted();
    console.log(`Skipped tests, because ${names.join(', ')} cannot be run here: ${skipped.toSorted().join(', ')}`);
    console.log(`To run them on Debian: ${packages.join('; ')}. .ci/run installs those that CI requires.\n`);
  }
}
