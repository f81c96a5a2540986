import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments, visit, type Document } from 'yaml';
import type { Result } from '../result.js';
import { formatFirst, formatPath, type Path, type FormatPosition } from './problems.js';
import { explainSyntaxErrors } from './yaml-errors.js';

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
  const errors = explainSyntaxErrors(documents, text, counter);
  const fail = (offset: number | undefined, message: string): YamlResult => {
    return { ok: false, problems: [`${positionOf(offset)}: ${message}`] };
  };
  if (errors.length > 0) {
    return { ok: false, problems: formatFirst(errors, ({ offset, message }) => `${positionOf(offset)}: ${message}`) };
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
    if (unresolved !== undefined) return fail(unresolved, UNDEFINED_ALIAS);
    return fail(undefined, `aliases expand to more than ${MAX_ALIASES} copies — expected fewer`);
  }
}

const UNDEFINED_ALIAS = 'undefined alias — expected its anchor (&name) before it; quote a string that starts with *';

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
