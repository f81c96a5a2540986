import type { z } from 'zod';
import { closestMatch, suggestName } from './closest-match.js';
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

/** Advice for an unknown key, if the file format has its own; `parent` is the path of the setting that the key is in. */
type AdviseOnKey = (key: string, parent: string) => string | undefined;

/** Formats the problems of a validation, one line each. */
export function formatProblems(
  error: z.ZodError,
  settings: readonly SettingDescription[],
  label: FormatPosition,
  adviseOnKey: AdviseOnKey = () => undefined,
): string[] {
  const advice = (key: string, path: Path): string => {
    const parent = pathOfSetting(path);
    return adviseOnKey(key, parent) ?? suggestKey(key, keysAt(path, settings), parentsOf(key, parent, settings));
  };
  const problems = error.issues.flatMap((issue): PathMessage[] =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...issue.path, key], message: `unknown key — ${advice(key, issue.path)}` }))
      : [issue],
  );
  return formatFirst(problems, (problem) => formatMessage(problem, label));
}

function suggestKey(key: string, siblings: readonly string[], parents: readonly string[]): string {
  const isMisplaced = closestMatch(key, siblings) === undefined && parents.length > 0;
  return isMisplaced ? `it belongs in ${parents.join(' or ')}` : suggestName(key, siblings);
}

/** Formats at most `MAX_PROBLEMS` problems, and counts the others. */
export function formatFirst<T>(problems: readonly T[], format: (problem: T) => string): string[] {
  const lines = problems.slice(0, MAX_PROBLEMS).map(format);
  return problems.length > MAX_PROBLEMS ? [...lines, `and ${problems.length - MAX_PROBLEMS} more`] : lines;
}

/** More places are no advice. */
const MAX_PARENTS = 3;

/** The outermost mappings in the same part of the file that have a key: those below the mapping it was found in, or else all. */
function parentsOf(key: string, parent: string, settings: readonly SettingDescription[]): readonly string[] {
  const [part = ''] = parent.split('.');
  const parents = settings
    .map(({ path }) => path)
    .filter((path) => path === key || (path.endsWith(`.${key}`) && path.startsWith(part)))
    .map((path) => (path === key ? 'the top level of the file' : path.slice(0, -key.length - 1)));
  const below = parents.filter((path) => path.startsWith(parent));
  const depth = (path: string): number => path.split('.').length;
  const candidates = below.length > 0 ? below : parents;
  const closest = candidates.filter((path) => depth(path) === Math.min(...candidates.map(depth)));
  return closest.length > MAX_PARENTS ? [] : closest;
}

/** `targets[].bridge` for the path of the bridge of a target. */
function pathOfSetting(path: Path): string {
  return path
    .map((segment) => (typeof segment === 'number' ? '[]' : `.${String(segment)}`))
    .join('')
    .replace(/^\./, '');
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
