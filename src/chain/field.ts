/**
 * A field of a document: its value; `undefined` when it is missing (no key, `null`, or an empty string where a number
 * belongs); `INVALID` when it has a value of another type.
 */
export type Field<T> = T | undefined | typeof INVALID;

export const INVALID: unique symbol = Symbol('invalid value');

/** Whether a field has a value of its type. */
export function isValid<T>(field: Field<T>): field is T {
  return field !== undefined && field !== INVALID;
}

export function validOrUndefined<T>(field: Field<T>): T | undefined {
  return isValid(field) ? field : undefined;
}
