/*
 * Parses the Markdown of the Chain Query Service document.
 */

type Fields = Record<string, Record<string, string>>;

/** The fields of the tables and sentences of section 2, in the notation of test/support/spec-fields.ts. */
export function parseSpecFields(text: string): Fields {
  const fields: Fields = {};
  let current = '';
  for (const line of sectionTwo(text)) {
    current = line.match(/^###.*\(response of (\w+)\)$/)?.[1] ?? line.match(/^\*\*(\w+)\*\*/)?.[1] ?? current;
    const owner = (fields[current] ??= {});
    for (const [field, type] of fieldsOf(line)) owner[field] = parseType(fields, `${current}.${field}`, type);
  }
  return fields;
}

/** The paths of section 4, in the order of the document. */
export function parseSpecPaths(text: string): string[] {
  return [...text.matchAll(/^\| Path \| `(.+)` \|$/gm)].map((match) => match[1] ?? '');
}

/** The query parameters of section 4.2. */
export function parseSpecParameters(text: string): string[] {
  const table = text.slice(text.indexOf('| Name | Type | Format | Required |'));
  return [...table.matchAll(/^\| (\w+) \| (?:integer|string) \|/gm)].map((match) => match[1] ?? '');
}

function sectionTwo(text: string): string[] {
  return text
    .slice(text.indexOf('\n### 2.1'), text.indexOf('\n## 3.'))
    .split('\n')
    .filter((line) => line !== '');
}

/** The fields in a line, a table row or a sentence, with their types as written. */
function fieldsOf(line: string): [string, string][] {
  const row = line.match(/^\| (\w+) \| (.+) \|$/);
  if (row) return row[1] === 'Field' ? [] : [[row[1] ?? '', row[2] ?? '']];
  const topLevel = line.match(/^Top-level object: one field `(\w+)` \(object, (\w+)\)\.$/);
  if (topLevel) return [[topLevel[1] ?? '', `${topLevel[2]} object`]];
  const sentence = line.match(/^\*\*\w+\*\*: (.+) \((?:all|both) string\)\.$/);
  if (sentence) return [...(sentence[1] ?? '').matchAll(/`(\w+)`/g)].map((name) => [name[1] ?? '', 'string']);
  if (/^(###|\|[-|]+\|$|\*\*\w+\*\*$)/.test(line)) return [];
  throw new Error(`cannot parse this line of the spec: ${line}`);
}

/** Converts a type. An object described inline is added to `fields` under its name in the document, or under its path. */
function parseType(fields: Fields, path: string, text: string): string {
  if (text === 'string' || text === 'boolean') return text;
  const shown = text.match(/^string enum; value `(\w+)` is shown$/);
  if (shown) return `enum ${shown[1]}`;
  const [outer = '', inline] = text.split(': ', 2);
  const name = outer.match(/^array of (\w+)$/)?.[1] ?? outer.match(/^(?!object$)(\w+)(?: object)?$/)?.[1] ?? path;
  if (inline !== undefined) fields[name] = inlineFields(inline);
  return outer.startsWith('array of') ? `${name}[]` : name;
}

function inlineFields(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/`(\w+)` \((\w+)\)/g)].map((match) => [match[1] ?? '', match[2] ?? '']));
}
