import { dirname } from 'node:path';
import type { PatternMatches, TargetFile } from './config-files.js';
import { type FormatPosition, formatPath, type Path } from '../settings/problems.js';
import { describeType } from '../settings/value-types.js';
import { parseYaml } from '../settings/yaml.js';

/** The data of a configuration file with the targets of its target files, and where each target was read. */
export interface MergedTargets {
  readonly data: unknown;
  readonly label: FormatPosition;
  /** The directory that relative file names of a target start at. */
  readonly directoryOf: (target: number) => string;
  /** The position of a target in messages about another one. */
  readonly describeTarget: (target: number) => string;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

interface Part {
  readonly directory: string;
  readonly entries: readonly unknown[];
  readonly label: FormatPosition;
}

/** `data` and `label` are of the configuration file at `path`. */
export function mergeTargets(
  path: string,
  data: unknown,
  label: FormatPosition,
  patterns: readonly PatternMatches[],
  files: readonly TargetFile[],
): MergedTargets {
  const own: Part = {
    directory: dirname(path),
    entries: entriesOf(data),
    label: ([index, ...rest]) => label(['targets', ...(index === undefined ? [] : [index]), ...rest]),
  };
  const parsed = files.map(parseTargetFile);
  const parts = [own, ...parsed.flatMap((result) => ('part' in result ? [result.part] : []))];
  // The part of each target, and its index there.
  const origins = parts.flatMap((part) => part.entries.map((_entry, index) => ({ part, index })));
  const isMerged = patterns.length > 0;
  return {
    data: isMerged ? withTargets(data, parts) : data,
    label: (position: Path) => {
      const [key, target, ...rest] = position;
      const origin = key === 'targets' && typeof target === 'number' ? origins[target] : undefined;
      return origin === undefined ? label(position) : origin.part.label([origin.index, ...rest]);
    },
    directoryOf: (target) => origins[target]?.part.directory ?? own.directory,
    describeTarget: (target) => {
      const origin = origins[target];
      return origin === undefined || !isMerged ? formatPath(['targets', target]) : origin.part.label([origin.index]);
    },
    problems: [
      ...patternProblems(patterns, label),
      ...parsed.flatMap((result) => ('problems' in result ? result.problems : [])),
    ],
    warnings: patternWarnings(patterns, label),
  };
}

const isMapping = (data: unknown): data is Readonly<Record<string, unknown>> =>
  typeof data === 'object' && data !== null && !Array.isArray(data);

function entriesOf(data: unknown): readonly unknown[] {
  const targets = isMapping(data) ? data['targets'] : undefined;
  return Array.isArray(targets) ? targets : [];
}

/** Leaves invalid data as it is, for the schema to report. */
function withTargets(data: unknown, parts: readonly Part[]): unknown {
  if (!isMapping(data) || !(data['targets'] === undefined || Array.isArray(data['targets']))) return data;
  return { ...data, targets: parts.flatMap(({ entries }) => entries) };
}

type ParsedTargetFile = { readonly part: Part } | { readonly problems: readonly string[] };

const EXPECTED = 'expected a list of targets, each as under targets, or [] for none';

function parseTargetFile({ path, content }: TargetFile): ParsedTargetFile {
  if (!content.ok) return { problems: [`${path}: ${content.problem}${adviceFor(path, content.problem)}`] };
  const yaml = parseYaml(content.value, path);
  if (!yaml.ok) return yaml;
  if (!Array.isArray(yaml.data)) return { problems: [`${yaml.label([])}: ${describeType(yaml.data)} — ${EXPECTED}`] };
  return { part: { directory: dirname(path), entries: yaml.data, label: yaml.label } };
}

/** An empty file is invalid, because it is most likely not completely written. */
function adviceFor(path: string, problem: string): string {
  if (problem === 'is not a file') return ` — expected a file, or a pattern such as ${path}/*.yml`;
  return problem === 'is empty' ? ` — ${EXPECTED}` : '';
}

function patternProblems(patterns: readonly PatternMatches[], label: FormatPosition): string[] {
  return patterns.flatMap(({ files }, index) =>
    files.ok ? [] : [`${label(['target_files', index])}: ${files.problem}`],
  );
}

function patternWarnings(patterns: readonly PatternMatches[], label: FormatPosition): string[] {
  return patterns.flatMap(({ pattern, files }, index) =>
    files.ok && files.value.length === 0 && pattern !== ''
      ? [`${label(['target_files', index])}: ${JSON.stringify(pattern)} matches no file`]
      : [],
  );
}
