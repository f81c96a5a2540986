import {
  type Document,
  type YAMLError,
  LineCounter,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  parseAllDocuments,
} from 'yaml';

export type Path = readonly PropertyKey[];

/** A YAML file as plain data, and the way back from a path in it to a line. */
export interface YamlSource {
  readonly data: unknown;
  readonly lineOf: (path: Path) => number | undefined;
}

export type YamlResult =
  | { readonly ok: true; readonly source: YamlSource }
  | { readonly ok: false; readonly problems: readonly YamlProblem[] };

export interface YamlProblem {
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
}

/** Anchors referring to anchors multiply; this is far more than people write and far less than memory. */
const maxAliasCount = 100;

export function parseDocument(text: string): YamlResult {
  const lines = new LineCounter();
  const documents: Document.Parsed[] = [...parseAllDocuments(text, { ...yamlOptions, lineCounter: lines })];
  const [document, second] = documents;
  const mistakes: YAMLError[] = documents.flatMap(({ errors, warnings }) => errors.concat(warnings));
  if (mistakes.length > 0) return { ok: false, problems: mistakes.map((mistake) => yamlProblem(mistake, lines)) };
  if (second) {
    const message = 'a second document begins here — expected one document in the file';
    return { ok: false, problems: [{ line: lines.linePos(second.range[0]).line, message }] };
  }
  return toSource(document, lines);
}

const yamlOptions: Parameters<typeof parseAllDocuments>[1] = {
  version: '1.2',
  schema: 'core',
  // Numbers stay text exactly as written: no digit of a rate or a threshold is lost, and each setting reads its own.
  customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || !numberTags.has(tag.tag)),
  resolveKnownTags: false,
  stringKeys: true,
  uniqueKeys: true,
  prettyErrors: false,
  logLevel: 'silent',
};

const numberTags: ReadonlySet<string> = new Set(['tag:yaml.org,2002:int', 'tag:yaml.org,2002:float']);

function yamlProblem(mistake: YAMLError, lines: LineCounter): YamlProblem {
  const { line, col: column } = lines.linePos(mistake.pos[0]);
  // What follows the colon quotes the file, and that may be a secret.
  const message = messages.get(mistake.code) ?? `not YAML: ${mistake.message.replace(/: ".*/s, '')}`;
  return { line, column, message };
}

/** Where the words of the parser would not help, or would quote the file. */
const messages: ReadonlyMap<string, string> = new Map([
  ['TAG_RESOLVE_FAILED', 'tags are not supported — expected a plain value; put text that begins with ! in quotes'],
  ['NON_STRING_KEY', 'a key is a list or a mapping — expected a word'],
  ['DUPLICATE_KEY', 'a key is here for the second time — expected each key once'],
  ['RESOURCE_EXHAUSTION', 'nested too deeply'],
]);

function toSource(document: Document.Parsed | undefined, lines: LineCounter): YamlResult {
  if (!document) return { ok: true, source: { data: null, lineOf: () => undefined } };
  try {
    const data: unknown = document.toJS({ maxAliasCount });
    return { ok: true, source: { data, lineOf: (path) => lineOf(document, path, lines) } };
  } catch (error) {
    // yaml throws this for two things only: an alias without its anchor, and aliases multiplying beyond the limit.
    if (!(error instanceof ReferenceError)) throw error;
    return { ok: false, problems: [{ message: aliasMessage(error) }] };
  }
}

function aliasMessage(error: ReferenceError): string {
  return error.message.startsWith('Excessive')
    ? `aliases multiply to more than ${maxAliasCount} copies — expected fewer`
    : 'an alias has no anchor before it — expected &name first; put text that begins with * in quotes';
}

/** Line of the deepest part of the path that is in the file: a missing key is reported where it should stand. */
function lineOf(document: Document.Parsed, path: Path, lines: LineCounter): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const segment of path) {
    const step = child(isAlias(node) ? node.resolve(document) : node, segment);
    if (!step) break;
    ({ node, offset = offset } = step);
  }
  return offset === undefined ? undefined : lines.linePos(offset).line;
}

interface Step {
  readonly node: unknown;
  readonly offset?: number | undefined;
}

function child(parent: unknown, segment: PropertyKey): Step | undefined {
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => isScalar(key) && key.value === segment);
    return pair && { node: pair.value, offset: isScalar(pair.key) ? pair.key.range?.[0] : undefined };
  }
  const item: unknown = isSeq(parent) && typeof segment === 'number' ? parent.items[segment] : undefined;
  return isNode(item) ? { node: item, offset: item.range?.[0] } : undefined;
}
