import {
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  Scalar,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import * as z from 'zod';
import { toDotPath } from 'zod/v4/core';
import { readTextFile } from './text-files.js';
import { isMapping } from './values.js';

/* YAML files with a zod schema: their data, and their problems with file, line and path. */

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

/** Validates the data of a file. No message quotes a value, because it may be a secret. */
export function validate<T>(schema: z.ZodType<T>, data: unknown, label: FormatPosition): Result<{ readonly value: T }> {
  const { success, data: value, error } = schema.safeParse(data, { error: describeIssue });
  if (success) return { ok: true, value };
  const topLevel = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  return {
    ok: false,
    problems: formatFirst(
      error.issues.flatMap((issue) => listProblems(issue, topLevel)),
      (each) => formatMessage(each, label),
    ),
  };
}

/** A file with one wrong indentation can have thousands of problems. */
const MAX_PROBLEMS = 50;

/** Formats at most `MAX_PROBLEMS` problems, and counts the rest. */
function formatFirst<T>(problems: readonly T[], format: (problem: T) => string): string[] {
  const lines = problems.slice(0, MAX_PROBLEMS).map(format);
  return problems.length > MAX_PROBLEMS ? [...lines, `and ${problems.length - MAX_PROBLEMS} more`] : lines;
}

/** The problems of an issue: one for each unknown key, and the problems of the intended alternative of a union. */
function listProblems(issue: z.core.$ZodIssue, topLevel: readonly string[]): PathMessage[] {
  const { path, message } = issue;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const hint = topLevel.includes(key) ? `; ${key} belongs to the top level` : '';
      return {
        path: [...path, key],
        message: `is not a supported key — ${expectedName(key, message.split(', '))}${hint}`,
      };
    });
  }
  const [meant] = issue.code === 'invalid_union' ? issue.errors.filter((errors) => errors.every(isInside)) : [];
  return meant?.map((inner) => ({ path: [...path, ...inner.path], message: inner.message })) ?? [{ path, message }];
}

const isInside = ({ path }: z.core.$ZodIssue): boolean => path.length > 0;

/** A message that replaces the one of zod; `undefined` if the message of zod is clear. */
function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is missing';
  if (issue.input === null) return 'is empty';
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => message).join('; ');
  // An issue does not have its schema: `listProblems` makes the message for each key.
  if (issue.code === 'unrecognized_keys' && issue.inst instanceof z.ZodObject)
    return Object.keys(issue.inst.shape).join(', ');
  if (issue.code === 'invalid_value')
    return `expected ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
  return issue.code === 'invalid_type' ? describeType(issue) : undefined;
}

/** The message about a value of another type, with the form that was most likely meant. */
function describeType({ expected, input, inst, path = [] }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>) {
  const last = path.at(-1);
  const key = typeof last === 'string' ? `${last}: ` : '';
  if (expected === 'boolean') return 'expected true or false';
  if (expected === 'array') {
    return isMapping(input) ? 'expected a list, with a dash before each entry' : `expected a list — write ${key}[…]`;
  }
  if (expected === 'object' || expected === 'record') {
    const isUrl = typeof input === 'string' && inst instanceof z.ZodObject && 'url' in inst.shape;
    return isUrl ? `expected a mapping — write ${key}{url: …}` : 'expected a mapping';
  }
  if (expected !== 'string') return undefined;
  return typeof input === 'object' ? 'expected a single value' : 'expected a text — put it in quotes';
}

/** The end of the message about an unknown name: the one that was meant, or all. */
export function expectedName(name: string, names: readonly string[]): string {
  const similar = similarName(name, names);
  return similar === undefined ? `expected one of ${names.join(', ')}` : `did you mean ${similar}?`;
}

/** The data of a YAML file, and a function that formats the position of a path in it. */
export type YamlResult = Result<{ readonly data: unknown; readonly label: FormatPosition }>;

/** Reads and parses a file. `maxBytes` as for `readTextFile`. */
export async function readYaml(path: string, maxBytes?: number): Promise<YamlResult> {
  const file = await readTextFile(path, maxBytes);
  return file.ok ? parseYaml(file.text, path) : { ok: false, problems: [`${path}: ${file.problem}`] };
}

/** Parses a file of one YAML 1.2 document. `source` is the file name in messages. */
export function parseYaml(text: string, source: string): YamlResult {
  const lines = new LineCounter();
  const { contents, errors, warnings } = parseDocument(text, { ...options, lineCounter: lines });
  const formatOffset = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${source}:${line}:${col}`;
  };
  const syntax = [...errors, ...warnings].map((error) => ({ offset: error.pos[0], message: unquoted(error) }));
  const { data, entriesByValue, problems } = convert(syntax.length > 0 ? null : contents);
  const found = [...syntax, ...problems];
  if (found.length > 0) {
    // A single mistake causes several errors of the parser, of which the first in each line is kept.
    const byLine = new Map(found.toReversed().map((problem) => [lines.linePos(problem.offset).line, problem]));
    const format = ({ offset, message }: (typeof found)[number]) => `${formatOffset(offset)}: ${message}`;
    return { ok: false, problems: formatFirst(Array.from(byLine.values()).toReversed(), format) };
  }
  // Stops at the deepest part of the path that exists: a missing key has the position of its mapping.
  const label: FormatPosition = (path) => {
    let entry: Entry | undefined = { value: data, offset: offsetIn(contents) };
    let { offset } = entry;
    for (const segment of path) {
      entry = entriesByValue.get(entry?.value)?.get(segment);
      offset = entry?.offset ?? offset;
    }
    const position = contents === null ? source : formatOffset(offset);
    return path.length === 0 ? position : `${position}: ${toDotPath(path)}`;
  };
  return { ok: true, data, label };
}

interface Entry {
  readonly value: unknown;
  /** Where the entry starts in the text. */
  readonly offset: number;
}

/** Aliases can repeat the values of a small file without end. */
const MAX_VALUES = 300_000;

/**
 * The data of a node, the entries of all mappings and lists in it, and what the parser accepts although the data would
 * be incomplete.
 */
function convert(root: unknown) {
  const problems: { readonly offset: number; readonly message: string }[] = [];
  const report = (node: unknown, message: string) => void problems.push({ offset: offsetIn(node), message });
  const entriesByValue = new Map<unknown, Map<PropertyKey, Entry>>();
  const anchors = new Map<string, { readonly value: unknown; readonly size: number }>();
  /** Number of values, with those that aliases repeat. */
  let size = 0;

  function convertNode(node: unknown): unknown {
    const sizeBefore = size;
    size += 1;
    if (isAlias(node)) {
      const anchor = anchors.get(node.source);
      if (anchor === undefined) report(node, 'Unresolved alias (its anchored value must end before it)');
      size += anchor?.size ?? 0;
      if (size > MAX_VALUES && sizeBefore <= MAX_VALUES) report(node, `Aliases repeat more than ${MAX_VALUES} values`);
      return anchor?.value;
    }
    const value = isMap(node) ? convertMap(node) : isSeq(node) ? convertList(node) : isScalar(node) ? node.value : null;
    if (isNode(node) && node.anchor !== undefined) anchors.set(node.anchor, { value, size: size - sizeBefore });
    return value;
  }

  function convertList({ items }: YAMLSeq): unknown[] {
    const values = items.map(convertNode);
    entriesByValue.set(
      values,
      new Map(values.map((value, index) => [index, { value, offset: offsetIn(items[index]) }])),
    );
    return values;
  }

  function convertMap({ items }: YAMLMap): object {
    const entries = new Map<PropertyKey, Entry>();
    const own = new Set<string>();
    for (const { key, value } of items) {
      const name = isScalar(key) ? String(key.value) : '';
      if (own.has(name)) report(key, `${toDotPath([name])} is set twice`);
      own.add(name);
      // zod ignores a key of this name, because objects have such a property.
      if (name === '__proto__') report(key, '__proto__ is not a supported key');
      // In quotes, it is the name of a key.
      else if (name === '<<' && isScalar(key) && key.type === Scalar.PLAIN) merge(entries, key, convertNode(value));
      else entries.set(name, { value: convertNode(value), offset: offsetIn(key) });
    }
    const mapping = Object.fromEntries(Array.from(entries, ([name, { value }]) => [name, value]));
    entriesByValue.set(mapping, entries);
    return mapping;
  }

  /** As in Prometheus, own keys of a mapping have precedence, and then those of the first mapping that it merges. */
  function merge(entries: Map<PropertyKey, Entry>, key: unknown, value: unknown): void {
    const sources: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (!sources.every(isMapping)) report(key, 'Only mappings can be merged with <<');
    else if (size <= MAX_VALUES) {
      const merged = sources.flatMap((source) => Array.from(entriesByValue.get(source) ?? []));
      for (const [name, entry] of merged) if (!entries.has(name)) entries.set(name, entry);
    }
  }

  return { data: convertNode(root), entriesByValue, problems };
}

/** Replace messages of the parser that quote the file, which may contain secrets. */
const messages: Partial<Record<ErrorCode, string>> = {
  BAD_DIRECTIVE: 'Directives are not supported',
  BAD_DQ_ESCAPE: 'Invalid escape sequence',
  MULTIPLE_DOCS: 'A second document starts here — expected a single document',
  TAG_RESOLVE_FAILED: 'Tags are not supported',
};

/** The message of the parser without its quotation of the file, which follows a colon. */
function unquoted({ code, message }: YAMLError): string {
  return messages[code] ?? (code === 'UNEXPECTED_TOKEN' ? message.replace(/: .*/s, '') : message);
}

const options: Parameters<typeof parseDocument>[1] = {
  version: '1.2',
  schema: 'core',
  // Numbers stay strings, so that large integers and decimals keep every digit.
  customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || !numberTags.has(tag.tag)),
  resolveKnownTags: false,
  stringKeys: true,
  // `convert` names the key.
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'error',
};

const numberTags: ReadonlySet<string> = new Set(['tag:yaml.org,2002:int', 'tag:yaml.org,2002:float']);

const offsetIn = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);

/** The result of an operation whose failure is expected. */
export type Result<Success, Failure = Problems> =
  ({ readonly ok: true } & Success) | ({ readonly ok: false } & Failure);

/** Why an input is invalid: one complete message for each problem. */
export interface Problems {
  readonly problems: readonly string[];
}

/* The name that was meant, for messages about an unknown one. */

/** A longer name is no typing error. */
const MAX_CHARACTERS = 100;
const MAX_CHANGES = 3;

/** The most similar one of some names: it has few changes, or contains the name. */
export function similarName(name: string, names: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  if (lower.length < 3 || lower.length > MAX_CHARACTERS) return undefined;
  const most = Math.min(MAX_CHANGES, Math.floor(lower.length / 3));
  const [best] = names
    .map((each) => ({ each, changes: changesBetween(lower, each.toLowerCase()) }))
    .filter(({ changes }) => changes <= most)
    .toSorted((a, b) => a.changes - b.changes);
  return best?.each ?? names.find((each) => lower.length > 3 && each.toLowerCase().includes(lower));
}

/** Number of characters to add, remove, replace, or exchange with the next one (optimal string alignment). */
function changesBetween(first: string, second: string): number {
  let [beforeLast, last]: [number[], number[]] = [[], Array.from({ length: second.length + 1 }, (_, index) => index)];
  for (let row = 1; row <= first.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= second.length; column += 1) {
      const isSame = first[row - 1] === second[column - 1];
      const isExchanged = first[row - 1] === second[column - 2] && first[row - 2] === second[column - 1];
      current[column] = Math.min(
        (current[column - 1] ?? 0) + 1,
        (last[column] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isExchanged && row > 1 ? (beforeLast[column - 2] ?? Infinity) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[second.length] ?? 0;
}
