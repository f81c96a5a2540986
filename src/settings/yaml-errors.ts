import {
  isCollection,
  isNode,
  isPair,
  visit,
  type Document,
  type ErrorCode,
  type LineCounter,
  type Scalar,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';

/*
 * Messages for the syntax errors of a YAML file. The parser names concepts of YAML, such as implicit keys; these name what to
 * change. No message quotes the file, which may contain secrets.
 */

interface SyntaxProblem {
  readonly offset: number;
  readonly message: string;
}

/** At most one problem per line, because a single mistake causes several errors of the parser. */
export function explainSyntaxErrors(
  documents: readonly Document.Parsed[],
  text: string,
  counter: LineCounter,
): SyntaxProblem[] {
  const lines = text.split('\n');
  const lineOf = (offset: number): number => counter.linePos(offset).line;
  const problems = new Map<number, SyntaxProblem>();
  for (const document of documents) {
    const errors = [...document.errors, ...document.warnings];
    const ends = new Map<number, number>();
    for (const { pos } of errors) ends.set(pos[0], Math.max(pos[1], ends.get(pos[0]) ?? 0));
    for (const error of errors) {
      const [offset] = error.pos;
      if (problems.has(lineOf(offset))) continue;
      const found = explain({ error, document, text, lines, lineOf, offset, end: ends.get(offset) ?? offset });
      const problem = typeof found === 'string' ? { offset, message: found } : found;
      if (!problems.has(lineOf(problem.offset))) problems.set(lineOf(problem.offset), problem);
    }
  }
  // After an error, the parser reports all that follows as unexpected.
  const [first, ...others] = problems.values();
  return first === undefined ? [] : [first, ...others.filter(({ message }) => message !== UNEXPECTED_TEXT)];
}

interface ErrorContext {
  readonly error: YAMLError;
  readonly document: Document.Parsed;
  readonly text: string;
  readonly lines: readonly string[];
  readonly lineOf: (offset: number) => number;
  readonly offset: number;
  /** The end of what the parser takes for one element. */
  readonly end: number;
}

const UNEXPECTED_TEXT = 'unexpected text — expected lines of the form "key: value"';
const MISSING_COMMA = 'a comma is missing — expected one between the entries of { } or [ ]';
const NO_SPACE_AFTER_COLON = 'no space after the colon — expected "key: value"';
const NO_SPACE_AFTER_DASH = 'no space after the dash — expected "- key: value"';
const NO_COLON = 'no colon after the key — expected "key: value"';

/** Messages of the codes that need no context. */
const messages: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'a tab is used as indentation — expected spaces',
  DUPLICATE_KEY: 'duplicate key — expected each key once',
  TAG_RESOLVE_FAILED: 'tags are not supported — expected a plain value; quote a string that starts with !',
  BAD_SCALAR_START: 'a value starts with a reserved character — put it in quotes',
  BAD_DQ_ESCAPE: 'invalid escape sequence — expected \\\\ for a backslash, or single quotes',
  BLOCK_IN_FLOW: MISSING_COMMA,
  RESOURCE_EXHAUSTION: 'nested too deeply',
};

/** Returns a message about the position of the error, or a problem at another one. */
function explain(context: ErrorContext): string | SyntaxProblem {
  const { error, document, text, lines, lineOf, offset } = context;
  const character = text[offset] ?? '';
  const known = messages[error.code];
  if (known !== undefined) return known;
  if (error.code === 'BAD_ALIAS' && /[*&]/.test(character)) {
    return `a value starts with ${character} — put it in quotes`;
  }
  if (error.code === 'NON_STRING_KEY') {
    return lines[lineOf(offset) - 1]?.includes('{{')
      ? 'a template expression {{ }} is not replaced — expected its value'
      : 'a key is a list or a mapping — expected a string';
  }
  const { open, isInFlow } = enclosing(document, text, offset);
  if (open !== undefined) {
    const opening = text[open] ?? '';
    const place = /["']/.test(opening)
      ? `at the end of the string that starts in line ${lineOf(open)}`
      : 'after the last entry, and every line before it indented';
    return `${closings[opening]} is missing — expected it ${place}`;
  }
  // A comment after a value without a space also has the code MISSING_CHAR.
  const isMissing = error.code === 'MISSING_CHAR' && character !== '#';
  if (isInFlow && (isMissing || /["']/.test(character))) return MISSING_COMMA;
  if (error.code === 'UNEXPECTED_TOKEN' && /[\]}]/.test(character)) {
    return `${character} does not close anything — expected one for each opening bracket`;
  }
  const isOutside = offset > document.range[1];
  const structural = isOutside || character === '#' ? undefined : explainStructure(context);
  if (structural !== undefined) return structural;
  // After the colon, the parser's message quotes the file.
  return error.code === 'UNEXPECTED_TOKEN' ? UNEXPECTED_TEXT : `not YAML: ${error.message.replace(/: ".*/s, '')}`;
}

const closings: Readonly<Record<string, string>> = { '[': ']', '{': '}', '"': '"', "'": "'" };

/**
 * Whether an offset is within brackets, and the start of the innermost string or collection that ends there without its
 * closing character.
 */
function enclosing(document: Document.Parsed, text: string, offset: number): { open?: number; isInFlow: boolean } {
  let open: number | undefined;
  let isInFlow = false;
  const visitNode = (node: Scalar | YAMLMap | YAMLSeq): void => {
    const [start = 0, end = 0] = node.range ?? [];
    const last = isCollection(node) ? node.items.at(-1) : undefined;
    const lastNode = isPair(last) ? (last.value ?? last.key) : last;
    const isClosedByLast = isNode(lastNode) && lastNode.range?.[1] === end;
    const closing = closings[text[start] ?? ''];
    const isClosed = end - start > 1 && text[end - 1] === closing && !isClosedByLast;
    if (end === offset && closing !== undefined && !isClosed) open = start;
    if (isCollection(node) && node.flow === true && start < offset && (isClosed ? offset < end : offset <= end))
      isInFlow = true;
  };
  visit(document, { Scalar: (_key, node) => visitNode(node), Collection: (_key, node) => visitNode(node) });
  return { isInFlow, ...(open !== undefined && { open }) };
}

/** Errors by wrong indentation, and by missing spaces and colons, which the parser does not distinguish. */
function explainStructure(context: ErrorContext): string | SyntaxProblem | undefined {
  const { error, text, lines, lineOf, offset, end } = context;
  const { code } = error;
  const rest = text.slice(offset).split('\n', 1)[0] ?? '';
  const isFirstInLine = /^[\s-]*$/.test(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset));
  if (text.slice(offset, end).includes('\n')) {
    // A key and a value must be on one line, but the parser takes several lines for one of them.
    if (/^-[^\s-]/.test(rest)) return NO_SPACE_AFTER_DASH;
    if (/^[\w.-]+:[^\s/]/.test(rest)) return NO_SPACE_AFTER_COLON;
    return isFirstInLine ? NO_COLON : explainIndentation(lines, lineOf(end - 1));
  }
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && /^[^\s&-]/.test(rest))
    return 'a value contains ": " — put the value in quotes';
  // The key itself is at the offset only if its colon is missing.
  if (code === 'MISSING_CHAR' && /^\S/.test(rest)) {
    if (!/^["'\w]/.test(rest)) return undefined;
    return /^[\w.-]+:[^\s/]/.test(rest) ? NO_SPACE_AFTER_COLON : NO_COLON;
  }
  if (code !== 'MISSING_CHAR' && code !== 'BAD_INDENT' && code !== 'UNEXPECTED_TOKEN') return undefined;
  return isFirstInLine
    ? explainIndentation(lines, lineOf(offset))
    : 'text after the end of a value — put the whole value in quotes';
}

/** The column of the key or the dash that a line should be aligned with; `undefined` if it is aligned. */
function explainIndentation(lines: readonly string[], line: number): SyntaxProblem | undefined {
  const own = columnsOf(lines[line - 1] ?? '');
  if (own === undefined) return undefined;
  const isEntry = own.dash !== undefined;
  const open: { readonly line: number; readonly column: number; readonly dash: number | undefined }[] = [];
  for (let above = line - 1; above >= 1; above -= 1) {
    const columns = columnsOf(lines[above - 1] ?? '');
    const column = isEntry ? columns?.dash : columns?.key;
    if (column === undefined || open.some((known) => known.column <= column)) continue;
    open.push({ line: above, column, dash: columns?.dash });
  }
  const column = own.dash ?? own.key;
  const [nearest] = open.toSorted(
    (a, b) => Math.abs(a.column - column) - Math.abs(b.column - column) || b.column - a.column,
  );
  if (nearest === undefined || nearest.column === column) return undefined;
  if (/^ *-[^\s-]/.test(lines[nearest.line - 1] ?? '')) {
    return { offset: offsetOfLine(lines, nearest.line) + nearest.column - 1, message: NO_SPACE_AFTER_DASH };
  }
  const entry = nearest.dash === column ? ', or "- " for the next entry of the list' : '';
  const message = `wrong indentation — expected column ${nearest.column}, as in line ${nearest.line}${entry}`;
  return { offset: offsetOfLine(lines, line) + column - 1, message };
}

/** Columns of the first key and of the dash before it; `undefined` for an empty line or a comment. */
function columnsOf(line: string): { readonly key: number; readonly dash: number | undefined } | undefined {
  const [, indent = '', dashes = '', start] = /^( *)((?:- +)*)([^\s#])?/.exec(line) ?? [];
  if (start === undefined) return undefined;
  return { key: indent.length + dashes.length + 1, dash: dashes === '' ? undefined : indent.length + 1 };
}

function offsetOfLine(lines: readonly string[], line: number): number {
  return lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0);
}
