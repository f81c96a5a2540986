import { consensusAddress, dataPart } from '../chain/addresses.js';
import { isValid, type Field } from '../chain/field.js';
import { list, object, string, type SchemaValue } from '../chain/fields.js';
import type { StepContext } from '../document-types.js';
import { toLabelValue } from '../facts/label-value.js';
import { required, WITHDRAWN } from '../facts/required-fields.js';
import { cleanText } from '../text/untrusted-text.js';
import { HOUR_MS, MEBIBYTE } from '../units.js';
import { hasNodeQueries, nextPageKey, nodeQuery, pagination, type QueryStates } from './query.js';

/*
 * The validators by the staking module of the Cosmos SDK (QueryValidatorsResponse): names for labels, contacts, and
 * operator addresses.
 */

/** The published contact of a validator; `null` for unpublished values. */
export interface Contact {
  readonly securityContact: string | null;
  readonly website: string | null;
}

/** Values by the data part of the operator address. */
export interface StakingValidators {
  readonly names: ReadonlyMap<string, string>;
  readonly contacts: ReadonlyMap<string, Contact>;
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

export const validators = nodeQuery({
  name: 'validators',
  // Names change a few times a year, and the response has megabytes.
  intervalMs: HOUR_MS,
  maxBodyBytes: 16 * MEBIBYTE,
  isEnabled: (options) =>
    hasStakingNames(options) ||
    // The address of an operator is in the path of the query about its validator.
    (options.document === 'module_state' && hasNodeQueries(options) && options.settings.watch.length > 0),
  path: '/cosmos/staking/v1beta1/validators?pagination.limit=1000',
  schema: object({ validators: rows, pagination }),
  value: (page): StakingValidators => {
    const read = readValidators(required(page.validators));
    // Every chain has validators.
    if (read.operators.size === 0 && nextPageKey(page) === undefined) throw WITHDRAWN;
    return read;
  },
  nextKey: nextPageKey,
  // Of entries with the same address, the first is kept.
  join: (before, page) => ({
    names: new Map([...page.names, ...before.names]),
    contacts: new Map([...page.contacts, ...before.contacts]),
    operators: new Map([...page.operators, ...before.operators]),
  }),
});

const NO_VALIDATORS: StakingValidators = { names: new Map(), contacts: new Map(), operators: new Map() };

/** The last answer, also a stale one. */
export function knownValidators(queries: QueryStates): StakingValidators {
  return validators.getAnswer(queries) ?? NO_VALIDATORS;
}

/** Goes into the path of a query, so an address of another form is left out. */
const OPERATOR_ADDRESS = /^[a-z0-9]{1,90}$/;

const MAX_CONTACT_CHARACTERS = 100;

/** The first name and the first contact of each address. Missing values are left out, because no name is necessary. */
function readValidators(page: SchemaValue<typeof rows>): StakingValidators {
  const names = new Map<string, string>();
  const contacts = new Map<string, Contact>();
  const operators = new Map<string, Operator>();
  for (const validator of page) {
    if (!isValid(validator) || !isValid(validator.operator_address)) continue;
    const { operator_address: address, consensus_pubkey: key, description } = validator;
    const operator = dataPart(address);
    if (OPERATOR_ADDRESS.test(address) && !operators.has(operator))
      operators.set(operator, { address, consensusAddress: readConsensusAddress(address, key) });
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

type ConsensusKey = Extract<Extract<SchemaValue<typeof rows>[number], object>['consensus_pubkey'], object>;

function readConsensusAddress(operator: string, key: Field<ConsensusKey>): string | undefined {
  if (!isValid(key) || key['@type'] !== '/cosmos.crypto.ed25519.PubKey' || !isValid(key.key)) return undefined;
  return consensusAddress(operator, Buffer.from(key.key, 'base64'));
}

function contactText(field: Field<string>): string | null {
  return isValid(field) ? cleanText(field, MAX_CONTACT_CHARACTERS) || null : null;
}
