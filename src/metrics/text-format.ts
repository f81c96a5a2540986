import type { TargetLabels } from '../config/config.js';
import type { Sample } from './family.js';

/** Text format 0.0.4 or OpenMetrics 1.0.0, which differ in the metadata of counters and in escaping HELP. */
export type Format = 'text' | 'openmetrics';

/** `# HELP` and `# TYPE` of a family. */
export function formatHeader(
  { name, type, help }: { readonly name: string; readonly type: string; readonly help: string },
  format: Format,
): string {
  const familyName = format === 'openmetrics' && type === 'counter' ? name.replace(/_total$/, '') : name;
  return `# HELP ${familyName} ${escapeHelp(help, format)}\n# TYPE ${familyName} ${type}\n`;
}

/** The line of a series. `fixedLabels` are formatted label pairs before the labels of the family. */
export function formatSeries<Label extends string>(
  { name, labels }: { readonly name: string; readonly labels: readonly Label[] },
  fixedLabels: string,
  sample: Omit<Sample<Label>, 'value'> & { readonly value: number },
): string {
  let pairs = fixedLabels;
  for (const label of labels) {
    pairs += `${pairs === '' ? '' : ','}${label}="${escapeLabelValue(sample.labels[label])}"`;
  }
  return pairs === '' ? `${name} ${sample.value}\n` : `${name}{${pairs}} ${sample.value}\n`;
}

/** The first label pairs of every series of a target. */
export function formatTargetLabels(target: string, labels: TargetLabels = {}): string {
  const pairs = Object.entries({ target, ...labels });
  return pairs.map(([name, value]) => `${name}="${escapeLabelValue(value)}"`).join(',');
}

function escapeLabelValue(value: string): string {
  return /[\\"\n]/.test(value) ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : value;
}

function escapeHelp(help: string, format: Format): string {
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return format === 'openmetrics' ? escaped.replaceAll('"', '\\"') : escaped;
}
