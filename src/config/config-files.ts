import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Result } from '../result.js';
import { errorCode, systemErrorText } from '../text/system-error.js';
import { MEBIBYTE } from '../units.js';
import { readSmallFile, readTextFile, type TextResult } from './text-file.js';
import { isMapping } from './values.js';
import { type FormatPosition, parseYaml, type YamlResult } from './yaml.js';

/* The files that a configuration consists of: the configuration file and its `target_files`. */

/** The data of a configuration file with the targets of its target files. */
export interface ConfigData {
  readonly data: unknown;
  readonly label: FormatPosition;
  /** The directory of the configuration file, or of the file that a target is in: relative file names start there. */
  readonly directoryOf: (target?: number) => string;
}

/** Enough for 100,000 targets. */
const MAX_TARGET_FILE_BYTES = 64 * MEBIBYTE;

async function readSources(path: string) {
  const main = await readTextFile(path);
  const yaml: YamlResult = main.ok ? parseYaml(main.text, path) : { ok: false, problems: [`${path}: ${main.problem}`] };
  const patterns = yaml.ok && isMapping(yaml.data) ? yaml.data['target_files'] : undefined;
  const matches = await Promise.all(
    (Array.isArray(patterns) ? patterns : []).map(async (pattern: unknown) => findFiles(pattern, dirname(path))),
  );
  const targetFiles: { readonly path: string; readonly content: TextResult }[] = [];
  // A file that several patterns match is read once.
  for (const file of new Set(matches.flatMap(({ files }) => files))) {
    // oxlint-disable-next-line no-await-in-loop -- limits the number of open files
    targetFiles.push({ path: file, content: await readSmallFile(file, MAX_TARGET_FILE_BYTES) });
  }
  return { main, yaml, matches, targetFiles };
}

/** The files that match an entry of `target_files`, or why they cannot be searched. */
interface Matches {
  readonly files: readonly string[];
  readonly problem?: string;
}

/**
 * The files that match a pattern, sorted. As in Prometheus, `*` can be in the last part of a path; as in shells, it matches no names that start with
 * a dot, such as the lock files of editors and the internal folders of a mounted ConfigMap. The schema reports invalid patterns.
 */
async function findFiles(pattern: unknown, directory: string): Promise<Matches> {
  if (typeof pattern !== 'string') return { files: [] };
  const folder = join(isAbsolute(pattern) ? '' : directory, dirname(pattern));
  const source = basename(pattern)
    .replaceAll(/[\\^$.+?()[\]{}|]/g, String.raw`\$&`)
    .replaceAll('*', '.*');
  const matcher = new RegExp(`^${source.startsWith('.*') ? '(?!\\.)' : ''}${source}$`, 's');
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const names = entries.filter((entry) => !entry.isDirectory() && matcher.test(entry.name)).map(({ name }) => name);
    return { files: names.toSorted().map((name) => join(folder, name)) };
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { files: [] };
    return { files: [], problem: `cannot be searched: ${systemErrorText(error)}` };
  }
}

/** A hash of the names and contents of the files. It also changes when a file can no longer be read. */
export async function hashConfigFiles(path: string): Promise<string> {
  const { main, matches, targetFiles } = await readSources(path);
  return createHash('sha256')
    .update(JSON.stringify([main, matches, targetFiles]))
    .digest('base64');
}

interface ConfigFiles extends ConfigData {
  /** Problems of the target files. */
  readonly fileProblems: readonly string[];
  readonly warnings: readonly string[];
}

/** Reads the files. Fails if the configuration file cannot be read or parsed. */
export async function readConfigFiles(path: string): Promise<Result<ConfigFiles>> {
  const { yaml, matches, targetFiles } = await readSources(path);
  if (!yaml.ok) return yaml;
  const fileProblems: string[] = [];
  const warnings: string[] = [];
  for (const [index, { files, problem }] of matches.entries()) {
    const position = yaml.label(['target_files', index]);
    if (problem !== undefined) fileProblems.push(`${position}: ${problem}`);
    else if (files.length === 0) warnings.push(`${position}: matches no file`);
  }
  const lists: TargetList[] = [];
  for (const { path: file, content } of targetFiles) {
    const list = parseTargetFile(file, content);
    if (list.ok) lists.push(list);
    else fileProblems.push(...list.problems);
  }
  return { ok: true, ...withTargets(yaml, dirname(path), lists), fileProblems, warnings };
}

/** The targets of one file. */
interface TargetList {
  readonly directory: string;
  readonly targets: readonly unknown[];
  readonly label: FormatPosition;
}

const EXPECTED_TARGETS = 'expected a list of targets, each as under targets, or [] for none';

/** An empty file is invalid, because it is most likely not completely written. */
function parseTargetFile(path: string, content: TextResult): Result<TargetList> {
  if (!content.ok) {
    const advice = content.problem === 'is empty' ? ` — ${EXPECTED_TARGETS}` : '';
    return { ok: false, problems: [`${path}: ${content.problem}${advice}`] };
  }
  const yaml = parseYaml(content.text, path);
  if (!yaml.ok) return yaml;
  const { data, label } = yaml;
  if (!Array.isArray(data)) return { ok: false, problems: [`${label([])}: ${EXPECTED_TARGETS}`] };
  return { ok: true, directory: dirname(path), targets: data, label };
}

/** Appends the targets of target files to the targets of the configuration file. Leaves invalid data to the schema, which reports it. */
function withTargets(
  { data, label }: Pick<ConfigData, 'data' | 'label'>,
  directory: string,
  lists: readonly TargetList[],
): ConfigData {
  const { targets = [] } = isMapping(data) ? data : {};
  if (!isMapping(data) || !Array.isArray(targets)) return { data, label, directoryOf: () => directory };
  const all: TargetList[] = [{ directory, targets, label: (path) => label(['targets', ...path]) }, ...lists];
  // The list of each target, and its index there.
  const origins = all.flatMap((list) => list.targets.map((_target, index) => ({ list, index })));
  return {
    data: { ...data, targets: all.flatMap((list) => list.targets) },
    label: (path) => {
      const [key, target, ...rest] = path;
      const origin = key === 'targets' && typeof target === 'number' ? origins[target] : undefined;
      return origin === undefined ? label(path) : origin.list.label([origin.index, ...rest]);
    },
    directoryOf: (target = -1) => origins[target]?.list.directory ?? directory,
  };
}
