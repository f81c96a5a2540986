import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  visit,
  type Document,
  type ErrorCode,
  type YAMLError,
} from 'yaml';
import { z } from 'zod';
import type { Result } from '../result.js';

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
  return {
    ok: false,
    problems: formatFirst(
      error.issues.flatMap((issue) => problemsOf(issue, label)),
      (each) => formatMessage(each, label),
    ),
  };
}

/** A file with one wrong indentation can have thousands of problems. */
const MAX_PROBLEMS = 50;

/** Formats at most `MAX_PROBLEMS` problems, and counts the others. */
function formatFirst<T>(problems: readonly T[], format: (problem: T) => string): string[] {
  const lines = problems.slice(0, MAX_PROBLEMS).map(format);
  return problems.length > MAX_PROBLEMS ? [...lines, `and ${problems.length - MAX_PROBLEMS} more`] : lines;
}

/** The problems of an issue: one for each unknown key, and those of the alternative that was meant. */
function problemsOf(issue: z.core.$ZodIssue, label: FormatPosition): PathMessage[] {
  const { path, message } = issue;
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => ({ path: [...path, key], message }));
  const [meant] = issue.code === 'invalid_union' ? issue.errors.filter((errors) => errors.every(isInside)) : [];
  if (meant) return meant.map((inner) => ({ path: [...path, ...inner.path], message: inner.message }));
  const first: unknown = issue.code === 'custom' ? issue.params?.['first'] : undefined;
  if (typeof first !== 'number') return [{ path, message }];
  return [{ path, message: `${message} ${label([...path.slice(0, -2), first, ...path.slice(-1)])}` }];
}

const isInside = ({ path }: z.core.$ZodIssue): boolean => path.length > 0;

/** Instead of the message of zod; `undefined` for those that are clear to an operator. */
function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is missing';
  if (issue.input === null) return 'is empty';
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => message).join('; ');
  if (issue.code !== 'unrecognized_keys' || !(issue.inst instanceof z.ZodObject)) return undefined;
  return `is not a supported key — expected one of ${Object.keys(issue.inst.shape).join(', ')}`;
}

/** The data of a YAML file, and a function that formats the position of a path in it. */
export type YamlResult = Result<{ readonly data: unknown; readonly label: FormatPosition }>;

/** Limits the expansion of nested aliases. */
const MAX_ALIASES = 100;

/** Parses a file of one YAML 1.2 document. `source` is the file name in messages. */
export function parseYaml(text: string, source: string): YamlResult {
  const counter = new LineCounter();
  const positionOf = (offset: number | undefined): string => {
    if (offset === undefined) return source;
    const { line, col } = counter.linePos(offset);
    return `${source}:${line}:${col}`;
  };
  const documents: Document.Parsed[] = [...parseAllDocuments(text, { ...options, lineCounter: counter })];
  const errors = firstOfEachLine(
    documents.flatMap((each) => [...each.errors, ...each.warnings]),
    counter,
  );
  const fail = (offset: number | undefined, message: string): YamlResult => {
    return { ok: false, problems: [`${positionOf(offset)}: ${message}`] };
  };
  if (errors.length > 0) {
    return { ok: false, problems: formatFirst(errors, (error) => `${positionOf(error.pos[0])}: ${unquoted(error)}`) };
  }
  const [document, second] = documents;
  if (second) return fail(second.range[0], 'a second document starts here — expected a single document');
  const formatPosition = (path: Path): string => {
    const position = positionOf(document && offsetOf(document, path));
    return path.length === 0 ? position : `${position}: ${formatPath(path)}`;
  };
  if (!document) return { ok: true, data: null, label: formatPosition };
  const prototype = offsetOfPrototypeKey(document);
  if (prototype !== undefined) return fail(prototype, '__proto__ is not a supported key');
  try {
    const data: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return { ok: true, data, label: formatPosition };
  } catch (error) {
    // Thrown only for an alias without an anchor, and for more aliases than the limit.
    if (!(error instanceof ReferenceError)) throw error;
    const unresolved = offsetOfUnresolvedAlias(document);
    return fail(unresolved, unresolved === undefined ? error.message : UNRESOLVED_ALIAS);
  }
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

/** A single mistake causes several errors of the parser. */
function firstOfEachLine(errors: readonly YAMLError[], counter: LineCounter): readonly YAMLError[] {
  const lines = new Set<number>();
  return errors.filter(({ pos }) => {
    const { line } = counter.linePos(pos[0]);
    const isFirst = !lines.has(line);
    lines.add(line);
    return isFirst;
  });
}

const UNRESOLVED_ALIAS = 'Unresolved alias (the anchor must be set before the alias)';

/** Messages instead of those of the parser that quote the file, which may contain secrets. */
const messages: Partial<Record<ErrorCode, string>> = {
  BAD_DIRECTIVE: 'Directives are not supported',
  BAD_DQ_ESCAPE: 'Invalid escape sequence',
  TAG_RESOLVE_FAILED: 'Tags are not supported',
};

/** The message of the parser without the text of the file, which it has after a colon. */
function unquoted({ code, message }: YAMLError): string {
  return messages[code] ?? (code === 'UNEXPECTED_TOKEN' ? message.replace(/: .*/s, '') : message);
}

const options: Parameters<typeof parseAllDocuments>[1] = {
  version: '1.2',
  schema: 'core',
  // Numbers stay strings, so that large integers and decimals keep every digit.
  customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || !numberTags.has(tag.tag)),
  resolveKnownTags: false,
  stringKeys: true,
  uniqueKeys: true,
  prettyErrors: false,
  logLevel: 'silent',
};

const numberTags: ReadonlySet<string> = new Set(['tag:yaml.org,2002:int', 'tag:yaml.org,2002:float']);

/** zod ignores a key of this name, because objects have such a property. */
function offsetOfPrototypeKey(document: Document.Parsed): number | undefined {
  let offset: number | undefined;
  visit(document, {
    Scalar: (position, { value, range }) => {
      if (position === 'key' && value === '__proto__') offset ??= range?.[0];
    },
  });
  return offset;
}

function offsetOfUnresolvedAlias(document: Document.Parsed): number | undefined {
  let offset: number | undefined;
  visit(document, {
    Alias: (_key, alias) => {
      if (alias.resolve(document) !== undefined) return undefined;
      offset = alias.range?.[0];
      return visit.BREAK;
    },
  });
  return offset;
}

/** The offset of the deepest part of the path that exists: a missing key has the position of its mapping. */
function offsetOf(document: Document.Parsed, path: Path): number | undefined {
  let node: unknown = document.contents;
  let offset = isNode(node) ? node.range?.[0] : undefined;
  for (const segment of path) {
    const parent = isAlias(node) ? node.resolve(document) : node;
    const pair = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && key.value === segment) : undefined;
    const item: unknown = isSeq(parent) && typeof segment === 'number' ? parent.items[segment] : undefined;
    const start = pair?.key ?? item;
    if (!isNode(start)) break;
    node = pair ? pair.value : item;
    offset = start.range?.[0] ?? offset;
  }
  return offset;
}
