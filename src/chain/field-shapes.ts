import { dataPart, lowerCase } from './address.js';
import { eventNonceInClaim } from './claim.js';
import type { Numeral } from '../json/decimal.js';
import type { Dialect } from './dialects.js';
import type { JsonCursor, TextPlace } from '../json/json-cursor.js';
import { NumberLiteral } from '../json/json-tokens.js';
import type { NumberIndex } from '../json/number-column.js';
import { INVALID } from '../json/field.js';
import { readChainId, readFlag, readNone, readNumber, readText, type ScalarReader } from '../json/scalars.js';
import { count, type Shape } from '../json/shape.js';
import { StringInterner } from '../json/string-interner.js';

export const number: Shape<Numeral> = scalar(readNumber, (cursor) => cursor.wholeNumber() as Numeral | undefined);
export const text: Shape<string> = scalar(readText);
/** A text that is seldom looked at: only where it stands, to be had from the document as long as that is there. */
export const textPlace: Shape<TextPlace> = scalar(readNone, (cursor) => cursor.textPlace());
/** A number of which there are many: kept beside the document, which has only its place. */
export const numberPlace: Shape<NumberIndex> = {
  compile: (path, dialect) => {
    const readOther = number.compile(path, dialect);
    return (cursor, problems) => {
      const plain = cursor.keptNumber();
      if (plain !== undefined) return plain;
      const other = readOther(cursor, problems);
      return other === undefined || other === INVALID ? other : cursor.numbers.keepOther(other);
    };
  },
  paths: (path) => [path],
};
/** The event nonce in the packed bytes of a claim; `null` when no nonce can be read of the text. */
export const packedNonce: Shape<Numeral | null> = scalar<Numeral | null>(readNone, (cursor) => {
  const bytes = cursor.base64();
  return bytes === undefined ? undefined : ((bytes && eventNonceInClaim(bytes)) ?? null);
});
/** An address in lower case, as it is joined and shown. */
export const address: Shape<string> = shared(readText, lowerCase);
/** What a bech32 address is joined by. */
export const addressKey: Shape<string> = shared(readText, dataPart);
export const flag: Shape<boolean> = scalar(readFlag);
export const chainId: Shape<string> = shared(readChainId, (id) => id);

/** `readPlain` reads what nearly always stands there, and leaves the rest to `read`. */
function scalar<T>(read: ScalarReader<T>, readPlain?: (cursor: JsonCursor) => T | undefined): Shape<T> {
  return {
    compile: (path) => (cursor, problems) => {
      const plain = readPlain?.(cursor);
      if (plain !== undefined) return plain;
      const json = cursor.scalar();
      if (json === null) return undefined;
      const value = read(json);
      if (value === INVALID) count(problems.invalid, path);
      return value;
    },
    paths: (path) => [path],
  };
}

/** A text of which few are different: what is made of each is made once. What is no text is left to `read`. */
function shared(read: ScalarReader<string>, make: (text: string) => string): Shape<string> {
  const texts = new StringInterner(make);
  return scalar(read, (cursor) => cursor.shared(texts));
}

/** What an enum value reads as when the exporter does not know it. */
export const OTHER = 'other';

/**
 * An enum by name; a bare number stands for the value of that number, as gateways send what their own code does not know.
 * `numbers` gives the names by number. Unknown values read as `other` and are counted.
 */
export function oneOf(numbers: ReadonlyMap<number, string>): Shape<string> {
  const known = new Set(numbers.values());
  return {
    compile: (path, { values }) => {
      const names = new StringInterner((name) => {
        const value = valueName(values, name);
        return known.has(value) ? value : OTHER;
      });
      return (cursor, problems) => {
        const name = cursor.shared(names);
        if (name === OTHER) count(problems.unknown, path);
        if (name !== undefined) return name;
        const json = cursor.scalar();
        if (json === null) return undefined;
        if (!(json instanceof NumberLiteral)) {
          count(problems.invalid, path);
          return INVALID;
        }
        const value = numbers.get(Number(json.text));
        if (value === undefined) count(problems.unknown, path);
        return value ?? OTHER;
      };
    },
    paths: (path) => [path],
  };
}

function valueName(values: Dialect['values'], name: string): string {
  return (Object.hasOwn(values, name) ? values[name] : undefined) ?? name;
}
