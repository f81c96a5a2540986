import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { z } from 'zod';
import { checkPattern, findFiles, uniqueFiles } from '../settings/glob.js';
import { readSmallFile, readTextFile } from '../settings/small-file.js';
import type { ValueResult } from '../settings/value-types.js';
import { parseYaml, type YamlResult } from '../settings/yaml.js';

/* The files that a configuration consists of: the configuration file and its `target_files`. */

export interface ConfigFiles {
  /** The configuration file, or why it cannot be read. */
  readonly main: ValueResult<string>;
  /** Of the configuration file; absent if it cannot be read. */
  readonly yaml?: YamlResult;
  readonly patterns: readonly PatternMatches[];
  readonly targetFiles: readonly TargetFile[];
}

/** What an entry of `target_files` matches. */
export interface PatternMatches {
  readonly pattern: string;
  /** `problem` is a complete message. */
  readonly files: ValueResult<readonly string[]>;
}

export interface TargetFile {
  readonly path: string;
  /** `problem` completes a sentence that starts with the path. */
  readonly content: ValueResult<string>;
}

/** Enough for 100,000 targets. */
const MAX_TARGET_FILE_BYTES = 64 * 2 ** 20;

const targetFilesKey = z.object({ target_files: z.array(z.unknown()) });

/** Reads the files. Every failure is a value. */
export async function readConfigFiles(path: string): Promise<ConfigFiles> {
  const main = await readTextFile(path);
  if (!main.ok) return { main, patterns: [], targetFiles: [] };
  const yaml = parseYaml(main.value, path);
  return { main, yaml, ...(await readTargetFiles(patternsOf(yaml), path)) };
}

/** An invalid pattern is returned as an empty string: the schema reports it. */
function patternsOf(yaml: YamlResult): string[] {
  const { data } = targetFilesKey.safeParse(yaml.ok ? yaml.data : undefined);
  return (data?.target_files ?? []).map((entry) =>
    typeof entry === 'string' && checkPattern(entry) === undefined ? entry : '',
  );
}

async function readTargetFiles(
  patterns: readonly string[],
  path: string,
): Promise<Pick<ConfigFiles, 'patterns' | 'targetFiles'>> {
  const matches = await Promise.all(patterns.map(async (pattern) => matchPattern(pattern, dirname(path))));
  const targetFiles: TargetFile[] = [];
  for (const file of uniqueFiles(matches.flatMap(({ files }) => (files.ok ? files.value : [])))) {
    // oxlint-disable-next-line no-await-in-loop -- limits the number of open files
    targetFiles.push({ path: file, content: await readSmallFile(file, MAX_TARGET_FILE_BYTES) });
  }
  return { patterns: matches, targetFiles };
}

async function matchPattern(pattern: string, directory: string): Promise<PatternMatches> {
  if (pattern === '') return { pattern, files: { ok: true, value: [] } };
  try {
    return { pattern, files: { ok: true, value: await findFiles(pattern, directory) } };
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return { pattern, files: { ok: false, problem: `${JSON.stringify(pattern)} cannot be searched: ${cause}` } };
  }
}

/**
 * Creates a function that returns a hash of the names and contents of the files. The hash also changes when a file can no longer be
 * read. The configuration file is parsed only after a change, because that takes longer than reading it.
 */
export function createConfigHash(path: string): () => Promise<string> {
  let last: { readonly text: string; readonly patterns: readonly string[] } | undefined;
  return async () => {
    const main = await readTextFile(path);
    if (main.ok && main.value !== last?.text)
      last = { text: main.value, patterns: patternsOf(parseYaml(main.value, path)) };
    const files = await readTargetFiles(main.ok ? (last?.patterns ?? []) : [], path);
    return createHash('sha256')
      .update(JSON.stringify([main, files]))
      .digest('base64');
  };
}
