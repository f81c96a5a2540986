/**
 * One field of a document: its value; `undefined` when it is missing (no key, `null`, or an empty string where a number
 * belongs); `INVALID` when it has a value of another type.
 */
export type Field<T> = T | undefined | typeof INVALID;

export const INVALID: unique symbol = Symbol('invalid value');

/** Whether a field has a valid value. */
export function isPresent<T>(field: Field<T>): field is T {
  return field !== undefined && field !== INVALID;
}

/** The value of a field; `undefined` also when it is invalid. */
export function present<T>(field: Field<T>): T | undefined {
  return isPresent(field) ? field : undefined;
}
