import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that take long: alerts over days of a simulated chain, the whole path of an alert, random inputs, packages that are built. */
const SLOW = ['test/**/*.slow.test.ts', 'test/**/hostile-*.test.ts'];

/** The longest files first: at the end of a run, one of them would be the only one, on one core. */
const LONGEST = [
  'problems/bridge-incidents.slow',
  'problems/unknown-minimums.slow',
  'problems/crosschain-and-exporter-incidents.slow',
  'e2e/alerting.slow',
  'problems/restarted-incidents.slow',
  'problems/exporter-incidents.slow',
  'deploy/release-dry-run.slow',
  'problems/first-alerts',
].map((name) => `/test/${name}.test.ts`);

class Sequencer extends BaseSequencer {
  /** The slow project first: a worker ends when the next file is of another project, and with its modules. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const index = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return (project.name === 'slow' ? 0 : LONGEST.length + 1) + (index === -1 ? LONGEST.length : index);
    };
    // oxlint-disable-next-line no-array-sort -- no array
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    // Files share the modules that a worker has loaded. Most of the time would be spent on loading otherwise.
    pool: 'threads',
    isolate: false,
    sequence: { sequencer: Sequencer },
    // At least three, because many tests wait for a process.
    maxWorkers: Math.max(3, availableParallelism()),
    globalSetup: 'test/support/global-setup.ts',
    // Tests that start processes, such as the daemon or Prometheus, can take longer than the default of 5 s.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: { name: 'fast', include: ['test/**/*.test.ts'], exclude: [...SLOW, '**/node_modules/**'] },
      },
      // On a busy machine, promtool takes minutes for the rules over a day.
      {
        extends: true,
        test: { name: 'slow', include: SLOW, testTimeout: 300_000, hookTimeout: 300_000 },
      },
    ],
  },
});
