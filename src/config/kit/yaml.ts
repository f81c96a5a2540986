import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  type Document,
  type YAMLError,
} from 'yaml';
import { formatFirst, formatPath, type Path, type FormatPosition } from './problems.js';

/** The data of a YAML file, and a function that formats the position of a path in it. */
export type YamlResult =
  | { readonly ok: true; readonly data: unknown; readonly label: FormatPosition }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Limits the expansion of nested aliases. */
const MAX_ALIASES = 100;

/** Parses a file of one YAML 1.2 document. `source` is the file name in messages. */
export function parseYaml(text: string, source: string): YamlResult {
  const lines = new LineCounter();
  const documents: Document.Parsed[] = [...parseAllDocuments(text, { ...options, lineCounter: lines })];
  const errors: YAMLError[] = documents.flatMap((document) => document.errors.concat(document.warnings));
  if (errors.length > 0)
    return { ok: false, problems: formatFirst(errors, (error) => describeError(error, source, lines)) };
  const [document, second] = documents;
  if (second) {
    const { line } = lines.linePos(second.range[0]);
    return { ok: false, problems: [`${source}:${line}: a second document starts here — expected a single document`] };
  }
  if (!document) return { ok: true, data: null, label: labelPositions(source, () => undefined) };
  try {
    const data: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return { ok: true, data, label: labelPositions(source, (path) => lineOf(document, path, lines)) };
  } catch (error) {
    // Thrown only for an alias without an anchor, and for more aliases than the limit.
    if (!(error instanceof ReferenceError)) throw error;
    return { ok: false, problems: [`${source}: ${aliasProblem(error)}`] };
  }
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

function describeError(error: YAMLError, source: string, lines: LineCounter): string {
  const { line, col } = lines.linePos(error.pos[0]);
  // After the colon, the parser's message quotes the file, which may contain secrets.
  const message = messages.get(error.code) ?? `not YAML: ${error.message.replace(/: ".*/s, '')}`;
  return `${source}:${line}:${col}: ${message}`;
}

/** Replacements for messages of the parser that are unclear or quote the file. */
const messages: ReadonlyMap<string, string> = new Map([
  ['TAG_RESOLVE_FAILED', 'tags are not supported — expected a plain value; quote a string that starts with !'],
  ['NON_STRING_KEY', 'a key is a list or a mapping — expected a string'],
  ['DUPLICATE_KEY', 'duplicate key — expected each key once'],
  ['RESOURCE_EXHAUSTION', 'nested too deeply'],
]);

function aliasProblem(error: ReferenceError): string {
  return error.message.startsWith('Excessive')
    ? `aliases expand to more than ${MAX_ALIASES} copies — expected fewer`
    : 'undefined alias — expected its anchor (&name) before it; quote a string that starts with *';
}

function labelPositions(source: string, lineAt: (path: Path) => number | undefined): FormatPosition {
  return (path) => {
    const line = lineAt(path);
    const position = line === undefined ? source : `${source}:${line}`;
    return path.length === 0 ? position : `${position}: ${formatPath(path)}`;
  };
}

/** The line of the deepest part of the path that exists: a missing key has the position of its mapping. */
function lineOf(document: Document.Parsed, path: Path, lines: LineCounter): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const segment of path) {
    const child = childOf(isAlias(node) ? node.resolve(document) : node, segment);
    if (!child) break;
    ({ node, offset = offset } = child);
  }
  return offset === undefined ? undefined : lines.linePos(offset).line;
}

interface Child {
  readonly node: unknown;
  readonly offset?: number | undefined;
}

function childOf(parent: unknown, segment: PropertyKey): Child | undefined {
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => isScalar(key) && key.value === segment);
    return pair && { node: pair.value, offset: isScalar(pair.key) ? pair.key.range?.[0] : undefined };
  }
  const item: unknown = isSeq(parent) && typeof segment === 'number' ? parent.items[segment] : undefined;
  return isNode(item) ? { node: item, offset: item.range?.[0] } : undefined;
}
