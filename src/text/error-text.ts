/* The error text of a server, for people: nodes, gateways and providers use bodies of different forms. */

/** Text about the rate of requests, whatever the code. */
export const RATE_LIMIT =
  /rate.?limit|too many|throttl|quota|limit (?:is )?(?:exceeded|reached)|exceeded (?:its|your|the) |(?:capacity|credits?|units?) (?:limit|exceeded|exhausted)/i;

/** The text of a body: the usual fields of JSON, the title of HTML, otherwise the first line. Untrusted and unchanged. */
export function errorText(body: string): string | undefined {
  const text = body.trim();
  if (/^[{["]/.test(text)) return textOfJson(text);
  if (text.startsWith('<')) return titleOf(text);
  const [line = ''] = text.split('\n', 1);
  // Control characters: the body is no text.
  return line === '' || /[^\t\P{Cc}]/u.test(line.trimEnd()) ? undefined : line;
}

/** The fields of errors in lower case: of gateways, JSON-RPC, OAuth, web frameworks and RFC 9457, the general ones first. */
const FIELDS = ['title', 'error', 'errors', 'error_description', 'message', 'msg', 'reason', 'detail'] as const;

const MAX_DEPTH = 4;
const MAX_TEXTS = 3;

function textOfJson(text: string): string | undefined {
  try {
    return jsonText(JSON.parse(text));
  } catch {
    // Truncated, or something else.
    return undefined;
  }
}

/** The text of a body that is parsed. */
export function jsonText(json: unknown): string | undefined {
  const texts = textsIn(json, MAX_DEPTH).slice(0, MAX_TEXTS);
  const isRepeated = (one: string, index: number): boolean =>
    texts.some((other, at) => other.includes(one) && (other !== one || at < index));
  return texts.filter((one, index) => !isRepeated(one, index)).join(': ') || undefined;
}

/** `isError`: whether the value is in a field of errors. Any field has texts there: {"errors": {"window": ["must be positive"]}}. */
function textsIn(value: unknown, depth: number, isError = false): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value.trim()];
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  if (Array.isArray(value)) return value.slice(0, MAX_TEXTS).flatMap((entry) => textsIn(entry, depth - 1, isError));
  const byName = new Map(Object.entries(value).map(([name, entry]): [string, unknown] => [name.toLowerCase(), entry]));
  const known = FIELDS.flatMap((name) => textsIn(byName.get(name), depth - 1, true));
  return known.length > 0 || !isError
    ? known
    : Array.from(byName.values()).flatMap((entry) => textsIn(entry, depth - 1, true));
}

/** The title of a page, without regular expressions over the whole text, which a hostile body would make slow. */
function titleOf(html: string): string | undefined {
  const start = html.search(/<title[\s>]/i);
  const from = start === -1 ? -1 : html.indexOf('>', start);
  const to = from === -1 ? -1 : html.indexOf('<', from);
  if (to === -1) return undefined;
  return (
    html
      .slice(from + 1, to)
      .trim()
      .replaceAll(/&(#x?[\da-f]{1,6}|\w{2,6});/gi, characterOf) || undefined
  );
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

function characterOf(entity: string, name: string): string {
  if (!name.startsWith('#')) return (Object.hasOwn(ENTITIES, name) && ENTITIES[name]) || entity;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
}
