import type { z } from 'zod';
import { suggestName } from './suggestion.js';
import { ANY_NAME, type Setting } from './settings.js';
import type { Path } from './yaml-source.js';

/** More than this helps nobody: a file with one wrong indentation can have thousands. */
const maxProblems = 50;

/** Says where a path is, for people: a place in a file, or an environment variable. */
export type PositionLabel = (path: Path) => string;

interface Problem {
  readonly path: Path;
  readonly message: string;
}

/** All problems of one reading, one line each. */
export function formatProblems(error: z.ZodError, settings: readonly Setting[], label: PositionLabel): string[] {
  const problems = error.issues.flatMap((issue): Problem[] =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({
          path: [...issue.path, key],
          message: `unknown key — ${suggestName(key, keysAt(issue.path, settings))}`,
        }))
      : [issue],
  );
  return capped(problems, ({ path, message }) => `${label(path)}: ${message}`);
}

/** At most fifty lines; only those are worth the search for their place. */
export function capped<T>(problems: readonly T[], describe: (problem: T) => string): string[] {
  const lines = problems.slice(0, maxProblems).map(describe);
  return problems.length > maxProblems ? [...lines, `and ${problems.length - maxProblems} more`] : lines;
}

function keysAt(path: Path, settings: readonly Setting[]): string[] {
  const parents = path.filter((segment) => typeof segment !== 'number');
  return settings.flatMap(({ path: full }) => {
    const names = full.replaceAll('[]', '').split('.');
    const key = names.pop();
    const isBelow =
      names.length === parents.length &&
      names.every((name, index) => name === ANY_NAME || name === String(parents[index]));
    return key === undefined || !isBelow ? [] : [key];
  });
}

/** A path as people write it; a key of odd characters is quoted, so that it cannot break the line. */
export function formatPath(path: Path): string {
  return path
    .map((segment) => {
      if (typeof segment === 'number') return `[${segment}]`;
      const key = String(segment);
      return /^[\w-]{1,60}$/.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 60))}]`;
    })
    .join('')
    .replace(/^\./, '');
}
