import { lstat, readdir, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';

/*
 * Patterns of file names as in Prometheus: *, ? and [abc] within a part of a path. As in shells, they do not match names that start
 * with a dot, such as the lock files of editors and the internal folders of a mounted ConfigMap.
 */

const hasWildcard = (path: string): boolean => /[*?[]/.test(path);

export const isPattern = (text: string): boolean =>
  /^\P{Cc}{1,4096}$/u.test(text) && text.split('/').every((part) => part !== '**' && toRegExp(part) !== undefined);

/** `undefined` for a [ without ] and for a range such as [z-a]. */
function toRegExp(part: string): RegExp | undefined {
  const source = part.replaceAll(/\[([!^]?)(\]?[^\]]*)\]|[^]/g, (token, negation: string, characters?: string) => {
    if (token === '*') return '.*';
    if (token === '?') return '.';
    if (characters === undefined) return token.replace(/[\\^$.+(){}|\]]/, String.raw`\$&`);
    return `[${negation && '^'}${characters.replaceAll(/[\\\]^[]/g, String.raw`\$&`)}]`;
  });
  try {
    return new RegExp(`^${source}$`, 'su');
  } catch {
    return undefined;
  }
}

/**
 * The files that match a pattern, sorted. Relative patterns start at `directory`. A name without wildcards matches if it exists.
 * Rejects if a directory cannot be read.
 */
export async function findFiles(pattern: string, directory: string): Promise<readonly string[]> {
  let paths: readonly string[] = [isAbsolute(pattern) ? '/' : directory];
  for (const part of pattern.split('/').filter((each) => each !== '')) {
    // oxlint-disable-next-line no-await-in-loop -- each part is searched in the directories that match the part before
    paths = (await Promise.all(paths.map(async (path) => matchesIn(path, part)))).flat();
  }
  const isFound = await Promise.all(paths.map(async (path) => isFile(path, hasWildcard(pattern))));
  return paths.filter((_path, index) => isFound[index]).toSorted();
}

async function matchesIn(directory: string, part: string): Promise<readonly string[]> {
  if (!hasWildcard(part)) return [join(directory, part)];
  const names = (await readdir(directory).catch(ignoreMissing)) ?? [];
  const matcher = toRegExp(part);
  return names
    .filter((name) => matcher?.test(name) === true && (part.startsWith('.') || !name.startsWith('.')))
    .map((name) => join(directory, name));
}

/** Wildcards do not match directories. A broken link is found, so that reading it fails instead of dropping its targets. */
async function isFile(path: string, isMatch: boolean): Promise<boolean> {
  const found = await lstat(path).catch(ignoreMissing);
  const target = found?.isSymbolicLink() === true ? await stat(path).catch(ignoreMissing) : found;
  return found !== undefined && !(isMatch && target?.isDirectory() === true);
}

function ignoreMissing(error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}
