import { describe, expect, test } from 'vitest';
import { formatConfig } from '../../src/config/loader.js';
import { metricLabels } from '../../src/exposition/metrics-page.js';
import { parseConfig, parseValidConfig } from '../support/config.js';

const withLabels = (labels: string) =>
  `targets:\n  - name: a\n    labels: ${labels}\n    bridge: {url: "https://a.example"}`;
const parse = (labels: string) => parseConfig(withLabels(labels), 'f', metricLabels);

const RESERVED = 'is reserved: Prometheus or its operator assigns this label';
const OWN = 'is a label of the metrics of the exporter';
const NAME = 'expected a label name of letters, digits and underscores that does not start with a digit or with __';
const VALUE = 'expected a text of 1 to 128 characters, without control characters';

const invalidLabels: readonly (readonly [title: string, labels: string, ...problems: string[]])[] = [
  ['a name with a dash', '{a-b: c}', `f:3:14: targets[0].labels.a-b: ${NAME}`],
  [
    'a name that starts with two underscores',
    '{__name__: c, __meta__: c}',
    `f:3:14: targets[0].labels.__name__: ${NAME}`,
    `f:3:27: targets[0].labels.__meta__: ${NAME}`,
  ],
  ['a name of 129 characters', `{${'n'.repeat(129)}: c}`, `f:3:14: targets[0].labels["${'n'.repeat(60)}"]: ${NAME}`],
  [
    'reserved names',
    '{job: a, cluster: b, instance: c}',
    `f:3:14: targets[0].labels.job: ${RESERVED}`,
    `f:3:22: targets[0].labels.cluster: ${RESERVED}`,
    `f:3:34: targets[0].labels.instance: ${RESERVED}`,
  ],
  ['an empty value', '{a: ""}', `f:3:14: targets[0].labels.a: ${VALUE}`],
  [
    '21 labels',
    `{${Array.from({ length: 21 }, (_, index) => `l${index}: v`).join(', ')}}`,
    'f:3:5: targets[0].labels: expected at most 20 labels',
  ],
];

describe('the labels of a target', () => {
  test.each(invalidLabels)('cannot be %s', (_title, labels, ...problems) => {
    expect(parse(labels)).toEqual({ ok: false, problems });
  });

  test('cannot be named like a label of a metric', () => {
    for (const name of metricLabels) {
      expect(parse(`{${name}: v}`)).toEqual({ ok: false, problems: [`f:3:14: targets[0].labels.${name}: ${OWN}`] });
    }
    expect(metricLabels.size).toBeGreaterThan(20);
  });

  test('are sorted by name, and keep numbers as they are written', () => {
    const { targets } = parseValidConfig(withLabels('{zone: 1.10, Network: 007, network: "a b", a: x}'));
    expect(Object.entries(targets[0]?.labels ?? {})).toEqual([
      ['Network', '007'],
      ['a', 'x'],
      ['network', 'a b'],
      ['zone', '1.10'],
    ]);
  });

  test('are printed by --config.check', () => {
    const config = parseValidConfig(withLabels('{network: mainnet}'));
    expect(formatConfig(config)).toContain('  - name: a\n    labels:\n      network: mainnet\n');
    expect(parseValidConfig(formatConfig(config))).toEqual(config);
  });
});
