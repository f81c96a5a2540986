import { z } from 'zod';
import * as types from '../settings/value-types.js';
import { expectation, scalar } from '../settings/schema.js';

/** Labels that Prometheus, its operator or a store of several Prometheus servers assigns to every series. */
const reservedLabels: ReadonlySet<string> = new Set([
  'cluster',
  'container',
  'endpoint',
  'instance',
  'job',
  'namespace',
  'node',
  'pod',
  'prometheus',
  'replica',
  'service',
]);

/** Every label is repeated in each series. */
const MAX_LABELS = 20;
const MAX_LENGTH = 128;

const labelValue = scalar(types.label(MAX_LENGTH, 'a value'));

/** The labels of a target, sorted by name. `metricLabels` are the labels that its series have anyway. */
export function targetLabels(metricLabels: ReadonlySet<string>): z.ZodType<Readonly<Record<string, string>>> {
  // Not a record of zod, which ignores a key named __proto__.
  return z
    .codec(z.unknown(), z.custom<Readonly<Record<string, string>>>(), {
      decode: (input, { issues }) => {
        const report = (message: string, ...path: string[]) => issues.push({ code: 'custom', input, path, message });
        if (!types.isMapping(input)) {
          report(expectation('a mapping such as labels: {network: mainnet}')({ input }));
          return z.NEVER;
        }
        const entries = Object.entries(input);
        if (entries.length > MAX_LABELS) report(`has ${entries.length} labels — expected at most ${MAX_LABELS}`);
        const labels = entries.flatMap(([name, text]): [string, string][] => {
          const problem = nameProblem(name, metricLabels);
          if (problem !== undefined) report(problem, name);
          const { data: value, error } = labelValue.safeParse(text);
          for (const { message } of error?.issues ?? []) report(message, name);
          return value === undefined ? [] : [[name, value]];
        });
        return Object.fromEntries(labels.toSorted(([a], [b]) => (a < b ? -1 : 1)));
      },
      encode: (labels) => labels,
    })
    .meta({ type: 'mapping to text' });
}

function nameProblem(name: string, metricLabels: ReadonlySet<string>): string | undefined {
  if (!/^[A-Za-z_]\w*$/.test(name)) {
    return 'is not a label name — expected letters, digits and underscores, and no digit first';
  }
  if (name.length > MAX_LENGTH) return `has ${name.length} characters — expected at most ${MAX_LENGTH}`;
  if (name.startsWith('__')) return 'is reserved: Prometheus removes labels that start with __ — expected another name';
  if (reservedLabels.has(name)) {
    return 'is reserved: Prometheus and its operator assign this label — expected another name';
  }
  return metricLabels.has(name) ? 'is a label of the metrics of the exporter — expected another name' : undefined;
}
