import { list, object, string, type ValueOf } from '../json/shapes.js';
import { addressDataPart } from './addresses.js';

/*
 * The validators of the staking module of the Cosmos SDK (QueryValidatorsResponse): where validators get their names from.
 */

/** The path of one page of validators. `nextKey` is that of the page before. */
export function validatorsPath(nextKey: string | undefined): string {
  const query = new URLSearchParams({ 'pagination.limit': '1000' });
  if (nextKey !== undefined) query.set('pagination.key', nextKey);
  return `/cosmos/staking/v1beta1/validators?${query.toString()}`;
}

const validator = object({ operator_address: addressDataPart, description: object({ moniker: string }, 'any') }, 'any');

export const validatorsPage = object(
  { validators: list(validator), pagination: object({ next_key: string }, 'any') },
  'any',
);

export type ValidatorsPage = ValueOf<typeof validatorsPage>;
