/** One sample line of an exposition. `labels` is the text between the braces. */
export interface Series {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

/** The series of an exposition in the text format. Lenient: other tests check the format with strict parsers. */
export function seriesOf(exposition: string): Series[] {
  return exposition
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const match = /^(?<name>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/s.exec(line);
      if (match?.groups === undefined) throw new Error(`not a series: ${line}`);
      const { name = '', labels = '', value = '' } = match.groups;
      return { name, labels, value: Number(value) };
    });
}

/** The labels of a series by name, without that of its target. */
export function labelsOf({ labels }: Series): Readonly<Record<string, string>> {
  const pairs = Array.from(
    labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g),
    ([, name = '', value = '']): [string, string] => [name, JSON.parse(`"${value}"`) as string],
  );
  return Object.fromEntries(pairs.filter(([name]) => name !== 'target'));
}

/**
 * The value of the only series with this name and these labels, given as `name="value"` or a part of it; `undefined`
 * for none.
 */
export function valueIn(exposition: string, name: string, ...labels: string[]): number | undefined {
  const found = seriesOf(exposition).filter(
    (series) => series.name === name && labels.every((label) => series.labels.includes(label)),
  );
  if (found.length > 1) throw new Error(`${name} has ${found.length} series with ${labels.join(', ')}`);
  return found[0]?.value;
}
