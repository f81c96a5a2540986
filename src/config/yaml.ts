import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import * as z from 'zod';
import { toDotPath } from 'zod/v4/core';
import type { Path, PathMessage, Result } from './text-files.js';
import { readTextFile } from './text-files.js';
import { systemErrorText } from '../text/error-text.js';

/* YAML files with a zod schema: their data, and their problems with file, line and path. */

/** Formats where the value at a path is set: a position in a file, or an environment variable. */
export type FormatPosition = (path: Path) => string;

/** `bridge.yaml:3:5: targets[0].bridge: message`. */
export function formatMessage({ path, message }: PathMessage, label: FormatPosition): string {
  return `${label(path)}: ${message}`;
}

/** Validates the data of a file. No message quotes a value, because it may be a secret. */
export function validate<T>(schema: z.ZodType<T>, data: unknown, label: FormatPosition): Result<{ readonly value: T }> {
  const { success, data: value, error } = schema.safeParse(data, { error: describeIssue });
  if (success) return { ok: true, value };
  return { ok: false, problems: formatFirst(error.issues.flatMap(listProblems), (each) => formatMessage(each, label)) };
}

/** A file with one wrong indentation can have thousands of problems. */
const MAX_PROBLEMS = 50;

/** Formats at most `MAX_PROBLEMS` problems, and counts the rest. */
function formatFirst<T>(problems: readonly T[], format: (problem: T) => string): string[] {
  const lines = problems.slice(0, MAX_PROBLEMS).map(format);
  return problems.length > MAX_PROBLEMS ? [...lines, `and ${problems.length - MAX_PROBLEMS} more`] : lines;
}

/** The problems of an issue: one for each unknown key, and the problems of the intended alternative of a union. */
function listProblems(issue: z.core.$ZodIssue): PathMessage[] {
  const { path, message } = issue;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: `is not a supported key — expected one of ${message}`,
    }));
  }
  const [meant] =
    issue.code === 'invalid_union'
      ? issue.errors.filter((errors) => errors.every((inner) => inner.path.length > 0))
      : [];
  return meant?.map((inner) => ({ path: [...path, ...inner.path], message: inner.message })) ?? [{ path, message }];
}

/** A message that replaces the one of zod; `undefined` if the message of zod is clear. */
function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is missing';
  if (issue.input === null) return 'is empty';
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => message).join('; ');
  // An issue does not have its schema: `listProblems` makes the message for each key.
  if (issue.code === 'unrecognized_keys' && issue.inst instanceof z.ZodObject)
    return Object.keys(issue.inst.shape).join(', ');
  return undefined;
}

/** The data of a YAML file, and a function that formats the position of a path in it. */
type YamlResult = Result<{ readonly data: unknown; readonly label: FormatPosition }>;

/** Reads and parses a file. `maxBytes` as for `readTextFile`. */
export async function readYaml(path: string, maxBytes?: number): Promise<YamlResult> {
  const file = await readTextFile(path, maxBytes);
  return file.ok ? parseYaml(file.text, path) : { ok: false, problems: [`${path}: ${file.problem}`] };
}

/** Parses a file of one YAML 1.2 document. `source` is the file name in messages. */
export function parseYaml(text: string, source: string): YamlResult {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...options, lineCounter: lines });
  const { contents, errors, warnings } = document;
  const formatOffset = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${source}:${line}:${col}`;
  };
  const syntax = [...errors, ...warnings].map((error) => ({ offset: error.pos[0], message: unquoted(error) }));
  const found = syntax.length > 0 ? syntax : findKeyMistakes(document);
  if (found.length > 0) {
    // A single mistake causes several errors of the parser, of which the first in each line is kept.
    const byLine = new Map(found.toReversed().map((problem) => [lines.linePos(problem.offset).line, problem]));
    const format = ({ offset, message }: TextProblem) => `${formatOffset(offset)}: ${message}`;
    return { ok: false, problems: formatFirst(Array.from(byLine.values()).toReversed(), format) };
  }
  // The key at the deepest part of the path that is in the text: a missing or merged key has the position of its
  // mapping.
  const label: FormatPosition = (path) => {
    let position: unknown = contents;
    let value: unknown = contents;
    for (const segment of path) {
      const node: unknown = isAlias(value) ? value.resolve(document) : value;
      const entry = isMap(node) ? node.items.find(({ key }) => keyName(key) === segment) : undefined;
      value = entry !== undefined ? entry.value : isSeq(node) ? node.items[Number(segment)] : undefined;
      position = entry?.key ?? value ?? position;
    }
    const formatted = contents === null ? source : formatOffset(offsetIn(position));
    return path.length === 0 ? formatted : `${formatted}: ${toDotPath(path)}`;
  };
  try {
    return { ok: true, data: document.toJS({ maxAliasCount: MAX_ALIAS_COUNT }) as unknown, label };
  } catch (error) {
    // The message about an alias quotes its name, which can be a password that begins with an asterisk.
    return { ok: false, problems: [`${source}: ${withoutQuotation(systemErrorText(error))}`] };
  }
}

/** Aliases can repeat the values of a small file without end. The default of 100 is below the number of targets. */
const MAX_ALIAS_COUNT = 10_000;

interface TextProblem {
  readonly offset: number;
  readonly message: string;
}

/** Keys that would be ignored: repeated ones, and `__proto__`, because objects have such a property. */
function findKeyMistakes(document: Document.Parsed): readonly TextProblem[] {
  const mistakes: TextProblem[] = [];
  visit(document, {
    Map: (_key, { items }) => {
      const names = new Set<string>();
      for (const { key } of items) {
        const name = keyName(key);
        const offset = offsetIn(key);
        if (names.has(name)) mistakes.push({ offset, message: `${toDotPath([name])} is set twice` });
        if (name === '__proto__') mistakes.push({ offset, message: '__proto__ is not a supported key' });
        names.add(name);
      }
    },
  });
  return mistakes;
}

/** The text of a key. The value of a merge key is a symbol. */
const keyName = (key: unknown): string => (isScalar(key) ? (key.source ?? '') : '');

/** Replace messages of the parser that quote the file, which may contain secrets. */
const messages: Partial<Record<ErrorCode, string>> = {
  BAD_DIRECTIVE: 'Directives are not supported',
  BAD_DQ_ESCAPE: 'Invalid escape sequence',
  MULTIPLE_DOCS: 'A second document starts here — expected a single document',
  TAG_RESOLVE_FAILED: 'Tags are not supported',
};

function unquoted({ code, message }: YAMLError): string {
  return messages[code] ?? (code === 'UNEXPECTED_TOKEN' ? withoutQuotation(message) : message);
}

/** The parser quotes the file after a colon. */
const withoutQuotation = (message: string): string => message.replace(/: .*/s, '');

const options: Parameters<typeof parseDocument>[1] = {
  version: '1.2',
  schema: 'core',
  // Numbers stay strings, so that large integers and decimals keep every digit.
  customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || !numberTags.has(tag.tag)),
  resolveKnownTags: false,
  merge: true,
  stringKeys: true,
  // `findKeyMistakes` names the key.
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'error',
};

const numberTags: ReadonlySet<string> = new Set(['tag:yaml.org,2002:int', 'tag:yaml.org,2002:float']);

const offsetIn = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);
