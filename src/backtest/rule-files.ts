import { parse } from 'yaml';
import { isMapping } from '../settings/value-types.js';
import { parseDuration } from '../settings/units.js';

/* What a backtest has to know of rules files. Prometheus' own rule engine reads them; here, expressions are text. */

export interface RuleFile {
  readonly path: string;
  readonly groups: readonly string[];
  /** All names and strings in the expressions and annotations. */
  readonly words: ReadonlySet<string>;
  /** Regular expressions that select names of metrics. */
  readonly namePatterns: readonly RegExp[];
  /** How long before an evaluation the rules read samples, and how long alerts are pending or kept. */
  readonly lookbackMs: number;
}

/** Reads the text of a rules file. Throws if it is not one. */
export function readRuleFile(path: string, text: string): RuleFile {
  const document = parseYaml(path, text);
  const groups: unknown = isMapping(document) ? document['groups'] : undefined;
  if (!Array.isArray(groups)) throw new Error(`${path}: is not a rules file: it has no list of groups`);
  const named = groups.filter(isMapping);
  const rules = named.flatMap(({ rules: own }) => (Array.isArray(own) ? own.filter(isMapping) : []));
  const expressions = rules.map(({ expr }) => String(expr));
  const texts = [
    ...expressions,
    ...rules.flatMap(({ annotations }) => (isMapping(annotations) ? Object.values(annotations) : [])),
  ];
  const ofRules = (key: string): number[] => rules.map((rule) => durationOf(rule[key]));
  return {
    path,
    groups: named.map(({ name }) => String(name)),
    words: new Set(texts.flatMap((each) => String(each).match(/[a-zA-Z_:][\w:]*/g) ?? [])),
    namePatterns: expressions.flatMap(namePatternsIn),
    lookbackMs: longest(expressions.map(rangeOf)) + longest(ofRules('for')) + longest(ofRules('keep_firing_for')),
  };
}

function parseYaml(path: string, text: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    // The lines after the first one show the place in the file.
    const [problem] = cause instanceof Error ? cause.message.split(/:?\n/) : [String(cause)];
    throw new Error(`${path}: ${problem}`, { cause });
  }
}

/** Whether the rules read a metric. */
export function readsMetric({ words, namePatterns }: Pick<RuleFile, 'words' | 'namePatterns'>, name: string): boolean {
  return words.has(name) || namePatterns.some((pattern) => pattern.test(name));
}

/** Ranges, subqueries and offsets of an expression, added up: they can be nested. The same one counts once. */
function rangeOf(expression: string): number {
  const ranges = [...expression.matchAll(/\[\s*([\da-z]+)\s*(?::[^\]]*)?\]/g)].map(([, range]) => durationOf(range));
  const offsets = [...expression.matchAll(/\boffset\s+([\da-z]+)/g)].map(([, offset]) => durationOf(offset));
  return longest(ranges) + longest(offsets);
}

function namePatternsIn(expression: string): RegExp[] {
  return [...expression.matchAll(/__name__\s*=~\s*"((?:[^"\\]|\\.)*)"/g)].map(
    ([, pattern]) => new RegExp(`^(?:${JSON.parse(`"${pattern}"`)})$`),
  );
}

function durationOf(value: unknown): number {
  return (typeof value === 'string' ? parseDuration(value) : undefined) ?? 0;
}

function longest(durations: readonly number[]): number {
  return durations.reduce((a, b) => Math.max(a, b), 0);
}
