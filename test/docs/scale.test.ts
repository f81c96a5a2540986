import { expect, it } from 'vitest';
import { documents } from '../../src/documents.js';
import { pollFamilies } from '../../src/exposition/exporter-metrics.js';
import type { FamilyHeader } from '../../src/metrics/family.js';
import { problemInfo } from '../../src/problems/problem-families.js';
import { nodeQueryFamilies } from '../../src/queries/node-queries.js';
import { readProjectFile } from '../support/project-files.js';

it('docs/scale.md has the greatest number of labels', () => {
  const families: readonly Pick<FamilyHeader, 'labels'>[] = [
    ...documents.module_state.families,
    ...documents.external_contract.families,
    ...documents.rate_limiter_input.families,
    ...nodeQueryFamilies,
    ...pollFamilies.map(({ labels }) => ({ labels: ['document', ...labels] })),
    problemInfo,
  ];
  const [, most] = /at most\s+(\d+) labels of its own/.exec(readProjectFile('docs/scale.md')) ?? [];
  // With the label `target`.
  expect(Math.max(...families.map(({ labels }) => labels.length + 1))).toBe(Number(most));
});
