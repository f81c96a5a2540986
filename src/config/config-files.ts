import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import type { Result } from '../result.js';
import { checkPattern, findFiles } from '../settings/glob.js';
import { type FormatPosition, formatPath } from '../settings/problems.js';
import { readSmallFile, readTextFile } from '../settings/small-file.js';
import { describeType, isMapping, type ValueResult } from '../settings/value-types.js';
import { parseYaml } from '../settings/yaml.js';

/* The files that a configuration consists of: the configuration file and its `target_files`. */

/** The data of a configuration file with the targets of its target files, and where each target was read. */
interface MergedFiles {
  readonly data: unknown;
  readonly label: FormatPosition;
  /** Whether the list of targets may be empty, because target files can add some. */
  readonly allowNoTargets: boolean;
  /** The directory that relative file names of a target start at. */
  readonly directoryOf: (target: number) => string;
  /** The directory of the configuration file. */
  readonly directory: string;
  /** The position of a target in messages about another one. */
  readonly describeTarget: (target: number) => string;
  /** Problems and warnings of the target files. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Reads the files. Fails if the configuration file cannot be read or parsed. */
export async function readConfigFiles(path: string): Promise<Result<{ readonly files: MergedFiles }>> {
  const main = await readTextFile(path);
  if (!main.ok) return { ok: false, problems: [main.problem] };
  const yaml = parseYaml(main.value, path);
  if (!yaml.ok) return yaml;
  const targetFiles = await readTargetFiles(patternsOf(yaml.data), path);
  return { ok: true, files: mergeTargets(path, yaml.data, yaml.label, targetFiles) };
}

interface TargetFiles {
  readonly matches: readonly PatternMatches[];
  readonly files: readonly TargetFile[];
}

/** What an entry of `target_files` matches. */
interface PatternMatches {
  readonly pattern: string;
  /** `problem` is a complete message. */
  readonly found: ValueResult<readonly string[]>;
}

interface TargetFile {
  readonly path: string;
  /** `problem` completes a sentence that starts with the path. */
  readonly content: ValueResult<string>;
}

/** Enough for 100,000 targets. */
const MAX_TARGET_FILE_BYTES = 64 * 2 ** 20;

/** An invalid pattern is returned as an empty string: the schema reports it. */
function patternsOf(data: unknown): string[] {
  const patterns = isMapping(data) ? data['target_files'] : undefined;
  if (!Array.isArray(patterns)) return [];
  return patterns.map((entry) => (typeof entry === 'string' && checkPattern(entry) === undefined ? entry : ''));
}

async function readTargetFiles(patterns: readonly string[], configFile: string): Promise<TargetFiles> {
  const matches = await Promise.all(patterns.map(async (pattern) => matchPattern(pattern, dirname(configFile))));
  const paths = matches.flatMap(({ found }) => (found.ok ? found.value : []));
  const files: TargetFile[] = [];
  // A file that several patterns match is read once.
  for (const path of new Map(paths.map((each) => [resolve(each), each])).values()) {
    // oxlint-disable-next-line no-await-in-loop -- limits the number of open files
    files.push({ path, content: await readSmallFile(path, MAX_TARGET_FILE_BYTES) });
  }
  return { matches, files };
}

async function matchPattern(pattern: string, directory: string): Promise<PatternMatches> {
  if (pattern === '') return { pattern, found: { ok: true, value: [] } };
  try {
    return { pattern, found: { ok: true, value: await findFiles(pattern, directory) } };
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return { pattern, found: { ok: false, problem: `${JSON.stringify(pattern)} cannot be searched: ${cause}` } };
  }
}

/** The targets of one file. */
interface Part {
  readonly directory: string;
  readonly entries: readonly unknown[];
  readonly label: FormatPosition;
}

/** `data` and `label` are of the configuration file at `path`. */
function mergeTargets(
  path: string,
  data: unknown,
  label: FormatPosition,
  { matches, files }: TargetFiles,
): MergedFiles {
  const { targets = [] } = isMapping(data) ? data : {};
  const own: Part = {
    directory: dirname(path),
    entries: Array.isArray(targets) ? targets : [],
    label: (position) => label(['targets', ...position]),
  };
  const parsed = files.map(parseTargetFile);
  const parts = [own, ...parsed.flatMap((result) => (result.ok ? [result.part] : []))];
  // The part of each target, and its index there.
  const origins = parts.flatMap((part) => part.entries.map((_entry, index) => ({ part, index })));
  const isMerged = matches.length > 0;
  // Invalid data stays as it is, for the schema to report.
  const isValid = isMapping(data) && Array.isArray(targets);
  return {
    data: isMerged && isValid ? { ...data, targets: parts.flatMap(({ entries }) => entries) } : data,
    label: (position) => {
      const [key, target, ...rest] = position;
      const origin = key === 'targets' && typeof target === 'number' ? origins[target] : undefined;
      return origin === undefined ? label(position) : origin.part.label([origin.index, ...rest]);
    },
    allowNoTargets: isMerged,
    directory: own.directory,
    directoryOf: (target) => origins[target]?.part.directory ?? own.directory,
    describeTarget: (target) => {
      const origin = origins[target];
      return origin === undefined || !isMerged ? formatPath(['targets', target]) : origin.part.label([origin.index]);
    },
    problems: [
      ...matches.flatMap(({ found }, index) =>
        found.ok ? [] : [`${label(['target_files', index])}: ${found.problem}`],
      ),
      ...parsed.flatMap((result) => (result.ok ? [] : result.problems)),
    ],
    warnings: matches.flatMap(({ pattern, found }, index) =>
      found.ok && found.value.length === 0 && pattern !== ''
        ? [`${label(['target_files', index])}: ${JSON.stringify(pattern)} matches no file`]
        : [],
    ),
  };
}

const EXPECTED = 'a list of targets, each as under targets, or [] for none';

function parseTargetFile({ path, content }: TargetFile): Result<{ readonly part: Part }> {
  if (!content.ok) return { ok: false, problems: [`${path}: ${content.problem}${adviceFor(path, content.problem)}`] };
  const yaml = parseYaml(content.value, path);
  if (!yaml.ok) return yaml;
  const { data, label } = yaml;
  if (!Array.isArray(data))
    return { ok: false, problems: [`${label([])}: ${describeType(data)} — expected ${EXPECTED}`] };
  return { ok: true, part: { directory: dirname(path), entries: data, label } };
}

/** An empty file is invalid, because it is most likely not completely written. */
function adviceFor(path: string, problem: string): string {
  if (problem === 'is not a file') return ` — expected a file, or a pattern such as ${path}/*.yml`;
  return problem === 'is empty' ? ` — expected ${EXPECTED}` : '';
}

/**
 * Creates a function that returns a hash of the names and contents of the files. The hash also changes when a file can no longer be
 * read. The configuration file is parsed only after a change, because that takes longer than reading it.
 */
export function createConfigHash(path: string): () => Promise<string> {
  let last: { readonly text: string; readonly patterns: readonly string[] } | undefined;
  return async () => {
    const main = await readTextFile(path);
    if (main.ok && main.value !== last?.text) {
      const yaml = parseYaml(main.value, path);
      last = { text: main.value, patterns: yaml.ok ? patternsOf(yaml.data) : [] };
    }
    const targetFiles = await readTargetFiles(main.ok ? (last?.patterns ?? []) : [], path);
    return createHash('sha256')
      .update(JSON.stringify([main, targetFiles]))
      .digest('base64');
  };
}
