/**
 * What reading one field of a document gives: its value, `undefined` when it is missing (`null`, a key that is not there,
 * an empty string where a number belongs), or `WRONG` when something of another kind stands there.
 */
export type Field<T> = T | undefined | typeof INVALID;

export const INVALID: unique symbol = Symbol('of the wrong kind');

/**
 * Thrown by the readers below and caught in one place, the renderer: a gauge that cannot be right is absent. It is a constant
 * without a stack, because withdrawing a family is an ordinary result and not a fault.
 */
export const WITHDRAWN: unique symbol = Symbol('withdrawn');

/** The value, or the family that asks for it is withdrawn. */
export function required<T>(read: Field<T>): T {
  if (read === undefined || read === INVALID) throw WITHDRAWN;
  return read;
}

/** The value or `undefined` when it is missing; a wrong kind withdraws the family. */
export function optional<T>(read: Field<T>): T | undefined {
  if (read === INVALID) throw WITHDRAWN;
  return read;
}

/** The rows of a list; a missing list or one odd row withdraws the family, since a sum without that row would be wrong. */
export function rows<T>(list: Field<readonly Field<T>[]>): readonly T[] {
  const found = required(list);
  return found.every(isRow) ? found : found.map(required);
}

function isRow<T>(read: Field<T>): read is T {
  return read !== undefined && read !== INVALID;
}
