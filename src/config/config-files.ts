import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import type { Result } from '../result.js';
import { findFiles, isPattern } from './glob.js';
import { readSmallFile, readTextFile, type TextResult } from './small-file.js';
import { isMapping } from './values.js';
import { type FormatPosition, parseYaml, type YamlResult } from './yaml.js';
import { systemErrorText } from '../text/system-error.js';

/* The files that a configuration consists of: the configuration file and its `target_files`. */

/** The data of a configuration file with the targets of its target files. */
export interface ConfigData {
  readonly data: unknown;
  readonly label: FormatPosition;
  /** The directory that relative file names of a target start at. */
  readonly directoryOf: (target: number) => string;
  /** The directory of the configuration file. */
  readonly directory: string;
}

interface ConfigFiles extends ConfigData {
  /** Problems and warnings of the target files. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Enough for 100,000 targets. */
const MAX_TARGET_FILE_BYTES = 64 * 2 ** 20;

interface Sources {
  readonly main: TextResult;
  /** The entries of `target_files`. The schema reports invalid ones, which match no files here. */
  readonly patterns: readonly {
    readonly pattern: unknown;
    readonly files: readonly string[];
    readonly problem?: string;
  }[];
  readonly targetFiles: readonly { readonly path: string; readonly content: TextResult }[];
}

async function readSources(path: string): Promise<Sources & { readonly yaml: YamlResult }> {
  const main = await readTextFile(path);
  const yaml: YamlResult = main.ok ? parseYaml(main.text, path) : { ok: false, problems: [main.problem] };
  const entries = yaml.ok && isMapping(yaml.data) ? yaml.data['target_files'] : undefined;
  const patterns = await Promise.all(
    (Array.isArray(entries) ? entries : []).map(async (entry: unknown) => match(entry, dirname(path))),
  );
  // A file that several patterns match is read once.
  const paths = new Map(patterns.flatMap(({ files }) => files).map((file) => [resolve(file), file]));
  const targetFiles: Sources['targetFiles'][number][] = [];
  for (const file of paths.values()) {
    // oxlint-disable-next-line no-await-in-loop -- limits the number of open files
    targetFiles.push({ path: file, content: await readSmallFile(file, MAX_TARGET_FILE_BYTES) });
  }
  return { main, yaml, patterns, targetFiles };
}

async function match(pattern: unknown, directory: string): Promise<Sources['patterns'][number]> {
  if (typeof pattern !== 'string' || !isPattern(pattern)) return { pattern, files: [] };
  try {
    return { pattern, files: await findFiles(pattern, directory) };
  } catch (error) {
    return {
      pattern,
      files: [],
      problem: `cannot be searched: ${systemErrorText(error)}`,
    };
  }
}

/** A hash of the names and contents of the files. It also changes when a file can no longer be read. */
export async function hashConfigFiles(path: string): Promise<string> {
  const { main, patterns, targetFiles } = await readSources(path);
  return createHash('sha256')
    .update(JSON.stringify([main, patterns, targetFiles]))
    .digest('base64');
}

/** Reads the files. Fails if the configuration file cannot be read or parsed. */
export async function readConfigFiles(path: string): Promise<Result<{ readonly files: ConfigFiles }>> {
  const { yaml, patterns, targetFiles } = await readSources(path);
  if (!yaml.ok) return yaml;
  const parsed = targetFiles.map(({ path: file, content }) => parseTargetFile(file, content));
  const messages = patterns.map(({ pattern, files, problem }, index) => {
    const label = yaml.label(['target_files', index]);
    const isUnmatched = typeof pattern === 'string' && isPattern(pattern) && files.length === 0;
    return {
      problem: problem && `${label}: ${problem}`,
      warning: isUnmatched ? `${label}: ${JSON.stringify(pattern)} matches no file` : undefined,
    };
  });
  return {
    ok: true,
    files: {
      ...withTargets(
        { directory: dirname(path), ...yaml },
        parsed.flatMap((result) => (result.ok ? [result.part] : [])),
      ),
      problems: [
        ...messages.flatMap(({ problem }) => problem ?? []),
        ...parsed.flatMap((result) => (result.ok ? [] : result.problems)),
      ],
      warnings: messages.flatMap(({ warning }) => warning ?? []),
    },
  };
}

/** The targets of one file. */
interface Part {
  readonly directory: string;
  readonly targets: readonly unknown[];
  readonly label: FormatPosition;
}

const EXPECTED_TARGETS = 'expected a list of targets, each as under targets, or [] for none';

/** An empty file is invalid, because it is most likely not completely written. */
function parseTargetFile(path: string, content: TextResult): Result<{ readonly part: Part }> {
  if (!content.ok) {
    const advice = content.problem === 'is empty' ? ` — ${EXPECTED_TARGETS}` : '';
    return { ok: false, problems: [`${path}: ${content.problem}${advice}`] };
  }
  const yaml = parseYaml(content.text, path);
  if (!yaml.ok) return yaml;
  const { data, label } = yaml;
  if (!Array.isArray(data)) return { ok: false, problems: [`${label([])}: ${EXPECTED_TARGETS}`] };
  return { ok: true, part: { directory: dirname(path), targets: data, label } };
}

/** Appends the targets of target files to those of the configuration file. Invalid data stays as it is, for the schema to report. */
function withTargets({ data, label, directory }: Omit<ConfigData, 'directoryOf'>, parts: readonly Part[]): ConfigData {
  const { targets = [] } = isMapping(data) ? data : {};
  if (!isMapping(data) || !Array.isArray(targets)) return { data, label, directory, directoryOf: () => directory };
  const inFile: Part = { directory, targets, label: (path) => label(['targets', ...path]) };
  // The part of each target, and its index there.
  const origins = [inFile, ...parts].flatMap((part) => part.targets.map((_target, index) => ({ part, index })));
  return {
    data: { ...data, targets: [inFile, ...parts].flatMap((part) => part.targets) },
    label: (path) => {
      const [key, target, ...rest] = path;
      const origin = key === 'targets' && typeof target === 'number' ? origins[target] : undefined;
      return origin === undefined ? label(path) : origin.part.label([origin.index, ...rest]);
    },
    directory,
    directoryOf: (target) => origins[target]?.part.directory ?? directory,
  };
}
