import { lstat, readdir, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';

/*
 * Patterns of file names as in Prometheus: *, ? and [abc] within a part of a path. As in shells, they do not match names that start
 * with a dot, such as the lock files of editors and the internal folders of a mounted ConfigMap.
 */

const isPattern = (part: string): boolean => /[*?[]/.test(part);

/** Why a pattern is invalid; `undefined` if it is valid. */
export function checkPattern(pattern: string): string | undefined {
  if (/[\p{Control}]/u.test(pattern) || pattern.length > 4096) return 'is not a file name or pattern';
  if (pattern.split('/').includes('**')) return 'contains **, which is not supported';
  return pattern.split('/').every((part) => toRegExp(part) !== undefined) ? undefined : 'has a [ without ]';
}

/**
 * The files that match a pattern, sorted. Relative patterns start at `directory`. A name without wildcards matches if it exists.
 * Rejects if a directory cannot be read.
 */
export async function findFiles(pattern: string, directory: string): Promise<readonly string[]> {
  const parts = pattern.split('/').filter((part) => part !== '');
  let paths: readonly string[] = [isAbsolute(pattern) ? '/' : directory];
  for (const part of parts) {
    // oxlint-disable-next-line no-await-in-loop -- each part is searched in the directories that match the part before
    paths = (await Promise.all(paths.map(async (path) => matchesIn(path, part)))).flat();
  }
  const hasWildcard = parts.some(isPattern);
  const found = await Promise.all(paths.map(async (path) => ((await isFound(path, hasWildcard)) ? [path] : [])));
  return found.flat().toSorted();
}

async function matchesIn(directory: string, part: string): Promise<readonly string[]> {
  if (!isPattern(part)) return [join(directory, part)];
  const matcher = toRegExp(part);
  const names = await readdir(directory).catch(ignoreMissing);
  return (names ?? [])
    .filter((name) => matcher?.test(name) === true && (part.startsWith('.') || !name.startsWith('.')))
    .map((name) => join(directory, name));
}

/** Wildcards do not match directories. A broken link is found, so that reading it fails instead of dropping its targets. */
async function isFound(path: string, hasWildcard: boolean): Promise<boolean> {
  const found = await lstat(path).catch(ignoreMissing);
  const target = found?.isSymbolicLink() === true ? await stat(path).catch(ignoreMissing) : found;
  return found !== undefined && !(hasWildcard && target?.isDirectory() === true);
}

function ignoreMissing(error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}

/** `undefined` if a bracket is not closed. */
function toRegExp(part: string): RegExp | undefined {
  const tokens: readonly string[] = part.match(/\[[!^]?\]?[^\]]*\]|[^]/g) ?? [];
  if (tokens.includes('[')) return undefined;
  const source = tokens.map((token) => {
    if (token === '*') return '.*';
    if (token === '?') return '.';
    if (token.length === 1) return token.replace(/[\\^$.*+?()[\]{}|]/, String.raw`\$&`);
    const [, negation = '', characters = ''] = /^\[([!^]?)(.*)\]$/s.exec(token) ?? [];
    return `[${negation && '^'}${characters.replaceAll(/[\\\]^[]/g, String.raw`\$&`)}]`;
  });
  try {
    return new RegExp(`^${source.join('')}$`, 'su');
  } catch {
    // A range such as [z-a].
    return undefined;
  }
}
