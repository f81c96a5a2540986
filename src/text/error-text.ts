import { getSystemErrorMap } from 'node:util';

/* Texts of errors for people: of servers, which use bodies of different forms, and of the system. */

/** Text about the rate of requests, whatever the code. */
export const RATE_LIMIT =
  /rate.?limit|too many|throttl|quota|limit (?:is )?(?:exceeded|reached)|exceeded (?:its|your|the) |(?:capacity|credits?|units?) (?:limit|exceeded|exhausted)/i;

/** The text of a body: the message of JSON, nothing of a page, otherwise the first line. Untrusted and unchanged. */
export function errorText(body: string): string | undefined {
  const text = body.trim();
  if (/^[{["]/.test(text)) return jsonText(tryParseJson(text));
  const [line = ''] = text.split('\n', 1);
  // Control characters: the body is no text.
  return line === '' || line.startsWith('<') || /[^\t\P{Cc}]/u.test(line.trimEnd()) ? undefined : line;
}

/** `undefined` for what is truncated, or something else. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The fields of errors in lower case: of gateways, JSON-RPC, OAuth, web frameworks and RFC 9457, the most specific ones
 * first.
 */
const FIELDS = ['message', 'error_description', 'detail', 'msg', 'error', 'errors', 'reason', 'title'] as const;

const MAX_DEPTH = 4;

/**
 * The text of a body that is parsed. In a field of errors, any field has it: {"errors": {"window": ["must be
 * positive"]}}.
 */
function jsonText(json: unknown, depth = MAX_DEPTH, isError = false): string | undefined {
  if (typeof json === 'string') return json.trim() || undefined;
  if (typeof json !== 'object' || json === null || depth === 0) return undefined;
  const entries = Object.entries(json);
  const byName = new Map(entries.map(([name, value]: [string, unknown]) => [name.toLowerCase(), value]));
  const known = FIELDS.map((name) => jsonText(byName.get(name), depth - 1, true)).find((text) => text !== undefined);
  if (known !== undefined || !(isError || Array.isArray(json))) return known;
  return entries.map(([, value]) => jsonText(value, depth - 1, isError)).find((text) => text !== undefined);
}

/**
 * The description of a system error, such as "no such file or directory", without code, system call and path; of
 * another error, its message.
 */
export function systemErrorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const errno = 'errno' in error && typeof error.errno === 'number' ? error.errno : 0;
  const [code, text = error.message] = getSystemErrorMap().get(errno) ?? [];
  // The `errno` of an error of a library need not be a system error.
  return errorCode(error) === code ? text : error.message;
}

/** The code of an error of Node.js, such as ENOENT. */
export function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** The text of an error, after the path of its file if it has any. */
export function fileErrorText(error: unknown): string {
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? `${error.path}: ` : '';
  return path + systemErrorText(error);
}
