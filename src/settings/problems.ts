import type { z } from 'zod';
import { NAME_PLACEHOLDER, type SettingDescription } from './schema.js';

/** Keys and list indexes from the root of a file to a value. */
export type Path = readonly PropertyKey[];

/** Formats where the value at a path is set: a position in a file, or an environment variable. */
export type FormatPosition = (path: Path) => string;

/** A problem or a warning about the value at a path. */
export interface PathMessage {
  readonly path: Path;
  readonly message: string;
}

/** `bridge.yaml:3:5: targets[0].bridge: message`. */
export function formatMessage({ path, message }: PathMessage, label: FormatPosition): string {
  return `${label(path)}: ${message}`;
}

/** A file with one wrong indentation can have thousands of problems. */
const MAX_PROBLEMS = 50;

/** Formats the problems of a validation, one line each. */
export function formatProblems(
  error: z.ZodError,
  settings: readonly SettingDescription[],
  label: FormatPosition,
  unknownKey = 'unknown key',
): string[] {
  const problems = error.issues.flatMap((issue): PathMessage[] => {
    if (issue.code !== 'unrecognized_keys') return [issue];
    const message = `${unknownKey} — expected one of ${keysAt(issue.path, settings).join(', ')}`;
    return issue.keys.map((key) => ({ path: [...issue.path, key], message }));
  });
  return formatFirst(problems, (problem) => formatMessage(problem, label));
}

/** Formats at most `MAX_PROBLEMS` problems, and counts the others. */
export function formatFirst<T>(problems: readonly T[], format: (problem: T) => string): string[] {
  const lines = problems.slice(0, MAX_PROBLEMS).map(format);
  return problems.length > MAX_PROBLEMS ? [...lines, `and ${problems.length - MAX_PROBLEMS} more`] : lines;
}

/** The known keys of the mapping at a path. */
function keysAt(path: Path, settings: readonly SettingDescription[]): string[] {
  const parents = path.filter((segment) => typeof segment !== 'number');
  return settings.flatMap(({ path: settingPath }) => {
    const names = settingPath.replaceAll('[]', '').split('.');
    const key = names.pop();
    const isInMapping =
      names.length === parents.length &&
      names.every((name, index) => name === NAME_PLACEHOLDER || name === String(parents[index]));
    return key === undefined || !isInMapping ? [] : [key];
  });
}

/** `targets[0].bridge.url`; unusual keys are quoted, so that they cannot break the line. */
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
