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
import type { Result } from '../result.js';
import { formatFirst, formatPath, type Path, type FormatPosition } from './problems.js';

/** The data of a YAML file, and a function that formats the position of a path in it. */
type YamlResult = Result<{ readonly data: unknown; readonly label: FormatPosition }>;

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
