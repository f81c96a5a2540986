import { INVALID, isValid, type Field } from '../chain/fields.js';

/*
 * Families read fields with these functions. A family is *withdrawn*, that is not exported, when a required field is
 * missing or invalid: a default would be a wrong value.
 */

/** Thrown to withdraw a family. A constant without a stack trace, because this is an expected result. */
export const WITHDRAWN: unique symbol = Symbol('withdrawn');

/** The value of a field. A missing or invalid field withdraws the family. */
export function required<T>(field: Field<T>): T {
  if (!isValid(field)) throw WITHDRAWN;
  return field;
}

/**
 * Withdraws the family when one of these fields is missing or invalid: the family does not read the field, but without
 * the field its value is unknown.
 */
export function withdrawWithout(...fields: readonly Field<unknown>[]): void {
  for (const field of fields) required(field);
}

/** The value of a field, `undefined` when the field is missing. An invalid field withdraws the family. */
export function optional<T>(field: Field<T>): T | undefined {
  if (field === INVALID) throw WITHDRAWN;
  return field;
}

/** The rows of a list. A missing or invalid list or row withdraws the family: a sum without that row would be wrong. */
export function rows<T>(list: Field<readonly Field<T>[]>): readonly T[] {
  const fields = required(list);
  return fields.every(isValid) ? fields : fields.map(required);
}

export function countElements(list: Field<readonly unknown[]>): number {
  return required(list).length;
}

/**
 * The list that `derive` returns, empty when a required field is missing or invalid: for families that are correct
 * without the list.
 */
export function orEmpty<T>(derive: () => readonly T[]): readonly T[] {
  return orElse(derive, none);
}

/** The result of `derive`, `undefined` when a required field is missing or invalid. */
export function orUndefined<T>(derive: () => T): T | undefined {
  return orElse<T | undefined>(derive, nothing);
}

/**
 * The result of `derive`; `null` when a required field is missing or invalid, and for a result that is `undefined` or
 * not finite.
 */
export function orNull<T>(derive: () => T | undefined): T | null {
  const value = orUndefined(derive);
  return value === undefined || (typeof value === 'number' && !Number.isFinite(value)) ? null : value;
}

const none = (): readonly never[] => [];
const nothing = (): undefined => undefined;

/** The result of `derive`, or of `fallback` when a required field is missing or invalid. */
export function orElse<T>(derive: () => T, fallback: () => T): T {
  try {
    return derive();
  } catch (error) {
    if (error === WITHDRAWN) return fallback();
    throw error;
  }
}
