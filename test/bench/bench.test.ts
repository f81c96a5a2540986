import { expect, it } from 'vitest';
import { projectUrl } from '../support/project-files.js';

/* The bench is no part of the tests, and what moves in the program would break it unnoticed. */

interface Bench {
  readonly polls: (options: object) => Promise<readonly { readonly figure: string; readonly ratio: number }[]>;
  readonly start: (name: string) => Promise<{ message: string }>;
  readonly stopAll: () => void;
}

it('the bench measures a poll of each document', async () => {
  const modules = ['polls', 'processes', 'pace', 'memory-limit', 'scrapes', 'targets'];
  const loaded = await Promise.all(
    modules.map(async (name) => import(/* @vite-ignore */ projectUrl(`test/bench/${name}.mjs`)) as Promise<object>),
  );
  const { polls, start, stopAll } = Object.assign({}, ...loaded) as Bench;
  try {
    const { message: node } = await start('node.mjs');
    const rows = await polls({ node, sizes: [1], pollsOf: () => ({ runs: 1, batches: 1, warmUps: 1 }) });
    expect(rows.map(({ figure }) => figure).slice(0, 2)).toEqual([
      'one warm poll, module_state, 1 MB ÷ JSON.parse',
      'one warm poll, rate_limiter_input, 1 MB ÷ JSON.parse',
    ]);
    for (const { ratio } of rows) expect(ratio).toBeGreaterThan(0);
  } finally {
    stopAll();
  }
});
