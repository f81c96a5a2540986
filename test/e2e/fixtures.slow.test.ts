import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere } from '../support/command-context.js';
import { seriesOf } from '../support/exposition-text.js';
import { fixturesFolder } from '../support/project-files.js';

/* Replays recorded responses of real chains, which are not part of the project. */
const hasFixtures = existsSync(fixturesFolder);
if (!hasFixtures) console.warn(`SKIPPED: replay of recorded responses, because ${fixturesFolder} does not exist`);

/** The chain series of a recorded response. */
async function replay(flag: string, file: string): Promise<readonly string[]> {
  const startedAt = Date.now() / 1000;
  const { code, stdout, stderr } = await runHere(['replay', flag, join(fixturesFolder, file)]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).not.toContain('bridge_exporter_invalid_values_total{');
  return stdout
    .split('\n')
    .filter((line) => line !== '' && !line.includes('bridge_exporter_'))
    .map((line) =>
      line.replace(/(?<=^bridge_problem_(?:start|due)_.*\} )\S+$/, (start) =>
        Number(start) >= startedAt ? 'now' : start,
      ),
    );
}

describe.skipIf(!hasFixtures)('replay of recorded responses', () => {
  it.each([
    ['a testnet bridge', '--bridge', 'bridge/staking-40003', ['neutral', 'peggy', 'neutral.any-bytes'], 50],
    ['parameters of a mainnet', '--bridge', 'bridge/mainnet-10001-genesis', ['neutral'], 20],
    ['transactions of a mainnet', '--crosschain', 'crosschain/mainnet-made-pending', ['neutral', 'zeta'], 20],
    ['nothing', '--crosschain', 'crosschain/empty', ['neutral'], 5],
  ])('exports the same for all spellings of %s', async (_title, flag, name, spellings, count) => {
    const [first = [], ...others] = await Promise.all(
      spellings.map(async (spelling) => replay(flag, `${name}.${spelling}.json`)),
    );
    expect(seriesOf(first.join('\n')).length).toBeGreaterThan(count);
    for (const other of others) expect(other).toEqual(first);
  });

  it('rejects the response of another endpoint', async () => {
    const file = join(fixturesFolder, 'crosschain/cctx-list-mainnet-100.json');
    const { code, stdout, stderr } = await runHere(['replay', '--crosschain', file]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${file}: not a rate_limiter_input document: none of its fields is present\n`);
    expect(stdout).not.toMatch(/^crosschain_/m);
  });
});
