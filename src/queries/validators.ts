import { consensusAddress, dataPart } from '../chain/addresses.js';
import { isValid, type Field } from '../chain/field.js';
import { list, object, string, type ValueOf } from '../chain/fields.js';
import { toLabelValue } from '../facts/label-value.js';
import { required, WITHDRAWN } from '../facts/required-fields.js';
import { cleanText } from '../text/untrusted-text.js';
import { nextKeyOf, nodeQuery, pagination, type QueryRequest } from './query.js';
import type { QueryStates } from './query-state.js';
import type { StepContext } from '../document-types.js';
import { HOUR_MS, MEBIBYTE } from '../units.js';

/* The validators by the staking module of the Cosmos SDK (QueryValidatorsResponse): names for labels, contacts, and operator addresses. */

/** The published contact of a validator; `null` for unpublished values. */
export interface Contact {
  readonly securityContact: string | null;
  readonly website: string | null;
}

/** Contacts by the data part of the operator address. */
export type Contacts = ReadonlyMap<string, Contact>;

/** Values by the data part of the operator address. */
export interface Validators {
  readonly names: ReadonlyMap<string, string>;
  readonly contacts: Contacts;
  readonly operators: ReadonlyMap<string, Operator>;
}

export interface Operator {
  readonly address: string;
  /** `undefined` for a consensus key that is missing or of another kind than ed25519. */
  readonly consensusAddress: string | undefined;
}

const rows = list(
  object({
    operator_address: string,
    consensus_pubkey: object({ '@type': string, key: string }),
    description: object({ moniker: string, security_contact: string, website: string }),
  }),
);

export function hasStakingNames(options: StepContext): boolean {
  return options.document === 'module_state' && options.settings.validator_names === 'staking';
}

const PATH = '/cosmos/staking/v1beta1/validators?pagination.limit=1000';

export const validators = nodeQuery({
  name: 'validators',
  // Names change a few times a year, and the response has megabytes.
  intervalMs: HOUR_MS,
  maxBodyBytes: 16 * MEBIBYTE,
  isEnabled: (options) =>
    hasStakingNames(options) ||
    // The address of an operator is in the path of the query about its validator.
    (options.document === 'module_state' &&
      options.settings.node_queries === 'auto' &&
      options.settings.watch.length > 0),
  path: PATH,
  schema: object({ validators: rows, pagination }),
  value: (page): Validators => {
    const read = validatorsIn(required(page.validators));
    // Every chain has validators.
    if (read.operators.size === 0 && nextKeyOf(page) === undefined) throw WITHDRAWN;
    return read;
  },
  nextKey: nextKeyOf,
  join: joined,
});

/** The only request of the query. */
export const VALIDATORS_REQUEST: QueryRequest = { key: '', path: PATH };

const NO_VALIDATORS: Validators = { names: new Map(), contacts: new Map(), operators: new Map() };

/** Of entries with the same address, the first is kept. */
function joined(before: Validators, page: Validators): Validators {
  return {
    names: new Map([...page.names, ...before.names]),
    contacts: new Map([...page.contacts, ...before.contacts]),
    operators: new Map([...page.operators, ...before.operators]),
  };
}

/** The last answer, also a stale one. */
export function validatorsOf(queries: QueryStates): Validators {
  return validators.valuesOf(queries).get(VALIDATORS_REQUEST.key) ?? NO_VALIDATORS;
}

/** Goes into the path of a query, so an address of another form is left out. */
const OPERATOR_ADDRESS = /^[a-z0-9]{1,90}$/;

const MAX_CONTACT_CHARACTERS = 100;

/** The first name and the first contact of each address. Missing values are left out, because no name is necessary. */
function validatorsIn(page: ValueOf<typeof rows>): Validators {
  const names = new Map<string, string>();
  const contacts = new Map<string, Contact>();
  const operators = new Map<string, Operator>();
  for (const validator of page) {
    if (!isValid(validator) || !isValid(validator.operator_address)) continue;
    const { operator_address: address, consensus_pubkey: key, description } = validator;
    const operator = dataPart(address);
    if (OPERATOR_ADDRESS.test(address) && !operators.has(operator))
      operators.set(operator, { address, consensusAddress: consensusAddressOf(address, key) });
    if (!isValid(description)) continue;
    const name = isValid(description.moniker) ? toLabelValue(cleanText(description.moniker)) : '';
    if (name !== '' && !names.has(operator)) names.set(operator, name);
    const securityContact = contactText(description.security_contact);
    const website = contactText(description.website);
    if ((securityContact ?? website) !== null && !contacts.has(operator)) {
      contacts.set(operator, { securityContact, website });
    }
  }
  return { names, contacts, operators };
}

type ConsensusKey = Extract<Extract<ValueOf<typeof rows>[number], object>['consensus_pubkey'], object>;

function consensusAddressOf(operator: string, key: Field<ConsensusKey>): string | undefined {
  if (!isValid(key) || key['@type'] !== '/cosmos.crypto.ed25519.PubKey' || !isValid(key.key)) return undefined;
  return consensusAddress(operator, Buffer.from(key.key, 'base64'));
}

function contactText(field: Field<string>): string | null {
  return isValid(field) ? cleanText(field, MAX_CONTACT_CHARACTERS) || null : null;
}
