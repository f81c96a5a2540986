import { queriesOf, SCRAPE_LABELS } from './test-file.js';

/** An alert with one set of labels that fired without interruption. Times are in milliseconds since 1970. */
export interface Firing {
  readonly alert: string;
  readonly severity: string;
  /** Without those of the alert, its severity, and the scrape. */
  readonly labels: Readonly<Record<string, string>>;
  readonly fromMs: number;
  /** The last evaluation in which it fired. */
  readonly untilMs: number;
}

/** What identifies an alert besides the time. */
export function keyOf({ alert, severity, labels }: Pick<Firing, 'alert' | 'severity' | 'labels'>): string {
  return JSON.stringify([alert, severity, Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

export interface WindowTimes {
  /** The time of the first sample of the window. */
  readonly originMs: number;
  readonly stepSeconds: number;
  /** The first and the last sample that are reported. */
  readonly reportFrom: number;
  readonly lastSample: number;
}

/** The firings in what promtool has printed. One that goes on is cut off at the end of the window. */
export function readFirings(output: string, { originMs, stepSeconds, reportFrom, lastSample }: WindowTimes): Firing[] {
  const { firing, begins, ended } = queriesOf(stepSeconds);
  const running = new Map<string, Firing>();
  const done: Firing[] = [];
  const timeOf = (sample: number): number => originMs + sample * stepSeconds * 1000;
  const begin = (text: string, sample: number): void => {
    for (const alert of alertsIn(text)) running.set(keyOf(alert), { ...alert, fromMs: timeOf(sample), untilMs: NaN });
  };
  for (const { expr, sample, got } of resultsIn(output, stepSeconds)) {
    if (expr === firing && sample === reportFrom) begin(got, sample);
    if (expr === begins) begin(got, sample);
    if (expr !== ended) continue;
    for (const alert of alertsIn(got)) {
      const known = running.get(keyOf(alert));
      if (known !== undefined) done.push({ ...known, untilMs: timeOf(sample - 1) });
      running.delete(keyOf(alert));
    }
  }
  return [...done, ...Array.from(running.values(), (each) => ({ ...each, untilMs: timeOf(lastSample) }))];
}

/** Joins the firings of successive windows. */
export function joinFirings(firings: readonly Firing[], stepMs: number): Firing[] {
  const joined: Firing[] = [];
  const last = new Map<string, number>();
  for (const firing of firings.toSorted((a, b) => a.fromMs - b.fromMs || a.alert.localeCompare(b.alert))) {
    const key = keyOf(firing);
    const index = last.get(key);
    const before = index === undefined ? undefined : joined[index];
    if (index !== undefined && before !== undefined && firing.fromMs - before.untilMs <= stepMs) {
      joined[index] = { ...before, untilMs: Math.max(before.untilMs, firing.untilMs) };
    } else {
      last.set(key, joined.push(firing) - 1);
    }
  }
  return joined;
}

interface QueryOutput {
  readonly expr: string;
  readonly sample: number;
  readonly got: string;
}

/** The printed results in the order of their times. */
function resultsIn(output: string, stepSeconds: number): QueryOutput[] {
  const results = Array.from(
    output.matchAll(/expr: "((?:[^"\\]|\\.)*)", time: (\S+),?\s*\n\s+exp: nil\n\s+got: (.*)\n/g),
    ([, expr = '', time = '', got = '']) => ({
      expr: unquote(`"${expr}"`),
      sample: Math.round(secondsOf(time.replace(/,$/, '')) / stepSeconds),
      got,
    }),
  );
  return results.toSorted((a, b) => a.sample - b.sample);
}

/** Seconds of a duration as Go or Prometheus prints it: 1h2m3s, 1d2h. */
function secondsOf(duration: string): number {
  const units: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, h: 3_600, m: 60, s: 1, ms: 0.001 };
  return [...duration.matchAll(/(\d+(?:\.\d+)?)(ms|[wdhms])/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (units[unit] ?? NaN),
    0,
  );
}

/** Reads `{a="b", c="d"} 1E+00, {…} 2E+00`. */
function* alertsIn(text: string): Generator<Pick<Firing, 'alert' | 'severity' | 'labels'>> {
  for (const [, pairs = ''] of text.matchAll(/\{((?:\w+="(?:[^"\\]|\\.)*"(?:, )?)*)\} \S+?(?:, |$)/g)) {
    const labels = Object.fromEntries(
      Array.from(pairs.matchAll(/(\w+)=("(?:[^"\\]|\\.)*")/g), ([, name = '', value = '""']) => [name, unquote(value)]),
    );
    const { alertname: alert = '', severity = '', alertstate: _state, __name__: _name, ...rest } = labels;
    const isOfScrape = ([name, value]: [string, string]): boolean =>
      Object.entries(SCRAPE_LABELS).some(([known, own]) => known === name && own === value);
    yield { alert, severity, labels: Object.fromEntries(Object.entries(rest).filter((pair) => !isOfScrape(pair))) };
  }
}

/** A string of Go, whose escapes of other characters than those of JSON are rare: they are kept as they are. */
function unquote(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : text;
  } catch {
    // Such as \x00 or \U0001f600.
    return text.slice(1, -1);
  }
}
