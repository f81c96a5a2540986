import { INVALID } from '../json/field.js';
import { NumberLiteral } from '../json/scanner.js';
import { interned, type Shape } from '../json/shapes.js';
import { dataPart, lowerCase } from './address.js';

/** An address in lower case, as addresses are compared and exported. */
export const address: Shape<string> = interned(lowerCase);

/** The part of a bech32 address that account and operator address of one key share. */
export const addressDataPart: Shape<string> = interned(dataPart);

/** A chain id: a string, or a JSON integer as its digits. */
export const chainId: Shape<string> = interned(
  (id) => id,
  (json) => {
    if (json instanceof NumberLiteral) return /^-?\d+$/.test(json.text) ? json.text : INVALID;
    return typeof json === 'string' ? json : INVALID;
  },
);
