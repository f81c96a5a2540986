export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

/** A copy of the object without one key. */
export function omit(object: JsonObject, omitted: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== omitted));
}
