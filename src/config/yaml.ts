import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  Scalar,
  visit,
  type Document,
  type ErrorCode,
  type Node,
  type Pair,
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
  const topLevel = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  return {
    ok: false,
    problems: formatFirst(
      error.issues.flatMap((issue) => problemsOf(issue, topLevel)),
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
function problemsOf(issue: z.core.$ZodIssue, topLevel: readonly string[]): PathMessage[] {
  const { path, message } = issue;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const hint = topLevel.includes(key) ? `; ${key} belongs to the top level` : '';
      return { path: [...path, key], message: message + hint };
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
  if (issue.code !== 'unrecognized_keys' || !(issue.inst instanceof z.ZodObject)) return undefined;
  return `is not a supported key — expected one of ${Object.keys(issue.inst.shape).join(', ')}`;
}

/** The data of a YAML file, and a function that formats the position of a path in it. */
export type YamlResult = Result<{ readonly data: unknown; readonly label: FormatPosition }>;

/** How often an anchor is used, with the aliases inside it: limits the expansion of nested aliases. */
const MAX_ALIASES = 10_000;

/** Parses a file of one YAML 1.2 document. `source` is the file name in messages. */
export function parseYaml(text: string, source: string): YamlResult {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...options, lineCounter: lines });
  const positionOf = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${source}:${line}:${col}`;
  };
  const errors = [...document.errors, ...document.warnings].map((error) => ({
    offset: error.pos[0],
    message: unquoted(error),
  }));
  const problems = errors.length > 0 ? errors : findUnsupported(document);
  if (problems.length > 0) {
    // A single mistake causes several errors of the parser, of which the first in each line is kept.
    const byLine = new Map(problems.toReversed().map((problem) => [lines.linePos(problem.offset).line, problem]));
    const format = ({ offset, message }: (typeof problems)[number]) => `${positionOf(offset)}: ${message}`;
    return { ok: false, problems: formatFirst(Array.from(byLine.values()).toReversed(), format) };
  }
  try {
    const data: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    const label: FormatPosition = (path) => {
      const position = document.contents === null ? source : positionOf(offsetOf(document, path));
      return path.length === 0 ? position : `${position}: ${z.core.toDotPath(path)}`;
    };
    return { ok: true, data, label };
  } catch (error) {
    // Thrown only for more aliases than the limit.
    if (!(error instanceof ReferenceError)) throw error;
    return { ok: false, problems: [`${source}: ${error.message}`] };
  }
}

/** Problems that the parser accepts, although its data would be incomplete. */
function findUnsupported(document: Document.Parsed) {
  const found: { readonly offset: number; readonly message: string }[] = [];
  const report = (node: Node, message: string) => found.push({ offset: offsetIn(node), message });
  const anchors = new Map<string, Node>();
  const aliases = new Map<unknown, Node>();
  const merges: { readonly key: Node; readonly value: unknown }[] = [];
  visit(document, {
    Value: (position, node) => {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
      // zod ignores a key of this name, because objects have such a property.
      if (position !== 'key' || !isScalar(node) || node.value !== '__proto__') return;
      report(node, '__proto__ is not a supported key');
    },
    Pair: (_position, { key, value }) => {
      if (isMergeKey(key)) merges.push({ key, value });
    },
    Alias: (_position, alias, path) => {
      const anchor = anchors.get(alias.source);
      if (anchor === undefined) report(alias, 'Unresolved alias (the anchor must be set before the alias)');
      else if (path.includes(anchor)) report(alias, 'An alias cannot be inside its anchor');
      else aliases.set(alias, anchor);
    },
  });
  for (const { key, value } of merges) {
    const source = aliases.get(value) ?? value;
    const sources = isSeq(source) ? source.items.map((item) => aliases.get(item) ?? item) : [source];
    if (!sources.every(isMap)) report(key, 'Only mappings can be merged with <<');
  }
  return found;
}

/** In quotes, it is the name of a key. */
const isMergeKey = (key: unknown): key is Scalar => isScalar(key) && key.value === '<<' && key.type === Scalar.PLAIN;

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
  // As in Prometheus, `<<: *base` merges a mapping.
  merge: true,
  stringKeys: true,
  uniqueKeys: true,
  prettyErrors: false,
  logLevel: 'error',
};

const numberTags: ReadonlySet<string> = new Set(['tag:yaml.org,2002:int', 'tag:yaml.org,2002:float']);

const offsetIn = (node: Node): number => node.range?.[0] ?? 0;

/** The offset of the deepest part of the path that exists: a missing key has the position of its mapping. */
function offsetOf(document: Document.Parsed, path: Path): number {
  let node: unknown = document.contents;
  let offset = isNode(node) ? offsetIn(node) : 0;
  for (const segment of path) {
    const parent = isAlias(node) ? node.resolve(document) : node;
    const [pair] = isMap(parent) ? pairsOf(document, parent, segment) : [];
    const item: unknown = isSeq(parent) && typeof segment === 'number' ? parent.items[segment] : undefined;
    const start = pair?.key ?? item;
    if (!isNode(start)) break;
    node = pair ? pair.value : item;
    offset = offsetIn(start);
  }
  return offset;
}

/** The pairs of a key in a mapping and then in the mappings that it merges; the first one counts. */
function pairsOf(document: Document.Parsed, node: unknown, segment: PropertyKey): readonly Pair[] {
  if (isAlias(node)) return pairsOf(document, node.resolve(document), segment);
  if (isSeq(node)) return node.items.flatMap((item) => pairsOf(document, item, segment));
  if (!isMap(node)) return [];
  const own = node.items.filter(({ key }) => isScalar(key) && key.value === segment);
  const merges = node.items.filter(({ key }) => isMergeKey(key));
  return [...own, ...merges.flatMap(({ value }) => pairsOf(document, value, segment))];
}
