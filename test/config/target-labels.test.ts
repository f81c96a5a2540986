import { describe, expect, test } from 'vitest';
import { formatConfig } from '../../src/config/loader.js';
import { metricLabels } from '../../src/exposition/metrics-page.js';
import { parseConfig, parseValidConfig } from '../support/config.js';

const withLabels = (labels: string) =>
  `targets:\n  - name: a\n    labels: ${labels}\n    bridge: {url: "https://a.example"}`;
const parse = (labels: string) => parseConfig(withLabels(labels), 'f', metricLabels);

const RESERVED = 'is reserved: Prometheus and its operator assign this label — expected another name';
const OWN = 'is a label of the metrics of the exporter — expected another name';
const NAME = 'is not a label name — expected letters, digits and underscores, and no digit first';
const VALUE = 'expected a value of 1 to 128 characters';

const invalidLabels: readonly (readonly [title: string, labels: string, ...problems: string[]])[] = [
  [
    'a string',
    'mainnet',
    'f:3:5: targets[0].labels: "mainnet" — expected a mapping such as labels: {network: mainnet}',
  ],
  ['a list', '[a]', 'f:3:5: targets[0].labels: is a list — expected a mapping such as labels: {network: mainnet}'],
  ['no value', '', 'f:3:5: targets[0].labels: is empty — expected a mapping such as labels: {network: mainnet}'],
  ['a name with a dash', '{a-b: c}', `f:3:14: targets[0].labels.a-b: ${NAME}`],
  ['a name that starts with a digit', '{1a: c}', `f:3:14: targets[0].labels.1a: ${NAME}`],
  ['an empty name', '{"": c}', `f:3:14: targets[0].labels[""]: ${NAME}`],
  ['a name in other letters', '{größe: c}', `f:3:14: targets[0].labels["größe"]: ${NAME}`],
  [
    'a name that starts with two underscores',
    '{__name__: c, __proto__: c}',
    'f:3:14: targets[0].labels.__name__: is reserved: Prometheus removes labels that start with __ — expected another name',
    'f:3:27: targets[0].labels.__proto__: is reserved: Prometheus removes labels that start with __ — expected another name',
  ],
  [
    'a name of 129 characters',
    `{${'n'.repeat(129)}: c}`,
    `f:3:14: targets[0].labels["${'n'.repeat(60)}"]: has 129 characters — expected at most 128`,
  ],
  [
    'reserved names',
    '{job: a, cluster: b, instance: c}',
    `f:3:14: targets[0].labels.job: ${RESERVED}`,
    `f:3:22: targets[0].labels.cluster: ${RESERVED}`,
    `f:3:34: targets[0].labels.instance: ${RESERVED}`,
  ],
  [
    'names of own labels',
    '{target: a, document: b, denom: c, reason: d}',
    `f:3:14: targets[0].labels.target: ${OWN}`,
    `f:3:25: targets[0].labels.document: ${OWN}`,
    `f:3:38: targets[0].labels.denom: ${OWN}`,
    `f:3:48: targets[0].labels.reason: ${OWN}`,
  ],
  ['an empty value', '{a: ""}', `f:3:14: targets[0].labels.a: is empty — ${VALUE}`],
  ['a missing value', '{a: }', `f:3:14: targets[0].labels.a: is empty — ${VALUE}`],
  ['a boolean', '{a: true}', 'f:3:14: targets[0].labels.a: is the boolean true — did you mean "true"?'],
  ['a list as a value', '{a: [b]}', `f:3:14: targets[0].labels.a: is a list — ${VALUE}`],
  [
    'a line break in a value',
    String.raw`{a: "b\nc"}`,
    `f:3:14: targets[0].labels.a: "b\\nc" has a control character — ${VALUE}`,
  ],
  [
    'a value of 129 characters',
    `{a: ${'v'.repeat(129)}}`,
    `f:3:14: targets[0].labels.a: "${'v'.repeat(60)}…" has 129 characters — ${VALUE}`,
  ],
  [
    'a value that refers to an environment variable',
    '{a: "${NETWORK}"}',
    'f:3:14: targets[0].labels.a: contains ${…}: environment variables are not expanded — expected the value itself; a secret can be read from a file, for example with password_file',
  ],
  [
    '21 labels',
    `{${Array.from({ length: 21 }, (_, index) => `l${index}: v`).join(', ')}}`,
    'f:3:5: targets[0].labels: has 21 labels — expected at most 20',
  ],
];

describe('the labels of a target', () => {
  test.each(invalidLabels)('cannot be %s', (_title, labels, ...problems) => {
    expect(parse(labels)).toEqual({ ok: false, problems });
  });

  test.each([...metricLabels])('cannot be named like the label %s of a metric', (name) => {
    expect(parse(`{${name}: v}`)).toEqual({ ok: false, problems: [`f:3:14: targets[0].labels.${name}: ${OWN}`] });
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
