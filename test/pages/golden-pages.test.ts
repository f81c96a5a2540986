import { beforeAll, describe, expect, it } from 'vitest';
import { pendingPage } from '../../src/pages/pending-page.js';
import { statusPage } from '../../src/pages/status-page.js';
import { createView, toJson } from '../../src/pages/view.js';
import { changedInput, changedState, record, type Phase } from '../problems/recording.js';
import { instance, shownOf, testLinks } from './sample-snapshots.js';

/*
 * Whole pages and their JSON during two incidents of the simulated chain. Update them with `npm test -- test/pages -u` and review the diff.
 */

const site = { telemetryPath: '/metrics', version: '0.2.0' };

/** Short lists, so that a page can be reviewed. */
const short: Pick<Phase, 'bridge' | 'crosschain'> = {
  bridge: changedState(({ unbatched_transfers, batches, attestations }) => ({
    unbatched_transfers: unbatched_transfers.slice(0, 4),
    batches: batches.slice(-3).map((batch) => ({ ...batch, transactions: batch.transactions.slice(0, 3) })),
    attestations: attestations.slice(-4),
  })),
  crosschain: changedInput(({ cctxs_missed, cctxs_pending }) => ({
    cctxs_missed: cctxs_missed.slice(0, 3),
    cctxs_pending: cctxs_pending.slice(0, 5),
    total_pending: '5',
  })),
};

/** What the pages show after 40 minutes of the scenario. */
function pagesOf(scenario: 'unsigned-batch' | 'missed-cctxs') {
  const phases = [
    { minutes: 8, ...short },
    { minutes: 40, scenario, ...short },
  ];
  const { endpoints: states, problems, at } = record(phases, {});
  const links = testLinks();
  const endpoints = shownOf(states);
  const status = { ...createView(endpoints, problems, links, at), instance };
  const pending = createView(endpoints, problems, links, at, '');
  return {
    'status.html': withoutAssets(statusPage(status, links, site)),
    'status.json': linesOf(toJson(status, { withItems: false })),
    'pending.html': withoutAssets(pendingPage(pending, '', links, site)),
    'pending.json': linesOf(toJson(pending, { withItems: true })),
  };
}

/** JSON in which each row of a list is one line of a diff, except for targets and endpoints, which have lists themselves. */
function linesOf(value: unknown, indent = '', isRow = false): string {
  const line = JSON.stringify(value);
  if (isRow || line.length <= 200 || typeof value !== 'object' || value === null) return line;
  const inner = `${indent}  `;
  if (Array.isArray(value))
    return `[\n${value.map((row) => `${inner}${linesOf(row, inner, true)}`).join(',\n')}\n${indent}]`;
  const fields = Object.entries(value).map(([key, own]) =>
    key === 'targets' || key === 'endpoints'
      ? `${inner}"${key}": [${(own as unknown[]).map((row) => linesOf(row, inner)).join(', ')}]`
      : `${inner}"${key}": ${linesOf(own, inner)}`,
  );
  return `{\n${fields.join(',\n')}\n${indent}}`;
}

/** Without the style, the script and their hash, which are the same in all pages. */
const withoutAssets = (html: string): string =>
  html.replaceAll(/(<(style|script)[^>]*>)[^]*?(<\/\2>)/g, '$1$3').replace(/ data-build="\w+"/, '');

describe.each(['unsigned-batch', 'missed-cctxs'] as const)('in the scenario %s', (scenario) => {
  let pages: ReturnType<typeof pagesOf>;
  beforeAll(() => {
    pages = pagesOf(scenario);
  });

  it.each(['status.html', 'status.json', 'pending.html', 'pending.json'] as const)(
    '%s is the golden file',
    async (page) => {
      await expect(pages[page]).toMatchFileSnapshot(`golden/${scenario}-${page}`);
    },
  );
});
