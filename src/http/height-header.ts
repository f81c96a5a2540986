import { INVALID, type Field } from '../chain/field.js';
import { asDecimalString, type Numeral } from '../chain/numeral.js';

/* The hub height of a response: gateways send it as a header or, when the client accepts trailers, as a trailer. */

type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

/** That of the Cosmos SDK's gateway, the one that newer nodes add, and the gateway's name for a trailer. */
const NAMES = ['grpc-metadata-x-cosmos-block-height', 'x-cosmos-block-height', 'grpc-trailer-x-cosmos-block-height'];

/** The name of the field in messages and metrics. */
export const HEIGHT_FIELD = 'X-Cosmos-Block-Height';

/** The values of all these headers and trailers, separated by commas; proxies repeat headers, so equal ones are one. `undefined` without any. */
export function heightText(...parts: readonly HeaderFields[]): string | undefined {
  const lines = parts.flatMap((fields) => NAMES.flatMap((name) => fields[name] ?? []));
  const values = new Set(lines.flatMap((line) => line.split(',')).map((value) => value.trim()));
  values.delete('');
  return values.size === 0 ? undefined : Array.from(values).join(', ');
}

/** The height in the text of a header. Height 0 is that of no block: gateways send it when they do not know the height. */
export function parseHeight(text: string | undefined): Field<Numeral> {
  if (text === undefined) return undefined;
  return /^[1-9]\d{0,18}$/.test(text) ? asDecimalString(text) : INVALID;
}
