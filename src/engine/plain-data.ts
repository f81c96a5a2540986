/*
 * Plain data as JSON: the memory of the endpoints in the state file. A `Map` is written as `{"$map": [[key, value]]}`,
 * a bigint as `{"$bigint": "5"}`; a key with the value `undefined` is left out.
 */

export function formatPlainData(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => {
    if (each instanceof Map) return { $map: Array.from(each) };
    return typeof each === 'bigint' ? { $bigint: String(each) } : each;
  });
}

/** Throws if the text is not JSON. */
export function parsePlainData(text: string): unknown {
  return JSON.parse(text, (_key, each: unknown) => {
    if (typeof each !== 'object' || each === null) return each;
    if ('$map' in each && Array.isArray(each.$map)) return new Map(each.$map as [unknown, unknown][]);
    return '$bigint' in each && typeof each.$bigint === 'string' ? BigInt(each.$bigint) : each;
  });
}
