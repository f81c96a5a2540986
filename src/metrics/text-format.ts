import type { FamilyHeader } from './family.js';

/** Text format 0.0.4, or OpenMetrics 1.0.0, which differ here only in how a counter's family is named. */
export type Format = 'text' | 'openmetrics';

/** HELP as users read it: what it is, its unit, where it comes from, and whether it may still change. */
export function helpOf({ help, unit, reads, stability }: FamilyHeader): string {
  const mayChange = stability === undefined ? '' : ` Stability: ${stability}.`;
  return `${help} Unit: ${unit}. Source: ${sourcesOf(reads).join(', ')}.${mayChange}`;
}

/** The sources of a family, with the fields of a row gathered: `state.valsets[].{nonce, height}`. */
export function sourcesOf(reads: readonly string[]): readonly string[] {
  const fieldsByList = new Map<string, string[]>();
  for (const read of reads) {
    const [list = read, ...fields] = read.split('[].');
    fieldsByList.set(list, [...(fieldsByList.get(list) ?? []), ...(fields.length > 0 ? [fields.join('[].')] : [])]);
  }
  return Array.from(fieldsByList, ([list, fields]) => {
    if (fields.length === 0) return list;
    return fields.length === 1 ? `${list}[].${fields.join('')}` : `${list}[].{${fields.join(', ')}}`;
  });
}

export function formatHeader(family: FamilyHeader, format: Format): string {
  return formatTitle(family.name, family.type, helpOf(family), format);
}

export function formatTitle(name: string, type: string, help: string, format: Format): string {
  const title = format === 'openmetrics' && type === 'counter' ? name.replace(/_total$/, '') : name;
  return `# HELP ${title} ${escapeHelp(help, format)}\n# TYPE ${title} ${type}\n`;
}

/** One line; `fixedLabels` is the already written part that all series of an endpoint share. */
export function formatSeries(
  { name, labels }: Pick<FamilyHeader, 'name' | 'labels'>,
  fixedLabels: string,
  sample: { readonly labels: readonly string[]; readonly value: number },
): string {
  const own = labels.map((label, index) => `${label}="${escapeLabelValue(sample.labels[index] ?? '')}"`);
  const all = fixedLabels === '' ? own : [fixedLabels, ...own];
  return all.length === 0 ? `${name} ${sample.value}\n` : `${name}{${all.join(',')}} ${sample.value}\n`;
}

export function escapeLabelValue(value: string): string {
  return /[\\"\n]/.test(value) ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : value;
}

function escapeHelp(help: string, format: Format): string {
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return format === 'openmetrics' ? escaped.replaceAll('"', '\\"') : escaped;
}
