import { dataPart } from '../chain/addresses.js';
import { sourceOf } from '../config/urls.js';
import type { Client } from '../http/client.js';
import { failure, type Failure, type PollError } from '../http/failure-reasons.js';
import { isPresent, type Field } from '../chain/field.js';
import { readDocument } from '../chain/document.js';
import { list, object, string, type ValueOf } from '../chain/fields.js';
import { toLabelValue } from '../metrics/family.js';
import { cleanText } from '../text/untrusted-text.js';
import type { Instant } from '../clock.js';
import {
  afterFailedPoll,
  afterRound,
  afterStart,
  isDue,
  isNotServed,
  NO_ATTEMPTS,
  type QueryAttempts,
} from '../sources/query-attempts.js';
import { fetchPages, type JobConnection } from './fetch-pages.js';

/* The names of validators, from the staking module of the Cosmos SDK (QueryValidatorsResponse). They never affect a poll. */

/** How the operators of a validator can be reached, as they have published it. `null` for what they have not. */
export interface Contact {
  readonly securityContact: string | null;
  readonly website: string | null;
}

/** Contacts by the data part of the operator address. */
export type Contacts = ReadonlyMap<string, Contact>;

/** What is read of the validators, each by the data part of its operator address. */
interface Validators {
  /** Their names. */
  readonly byOperator: ReadonlyMap<string, string>;
  readonly contacts: Contacts;
  /** Their operator addresses. */
  readonly operators: ReadonlyMap<string, string>;
}

export type NamesResult =
  | (Validators & { readonly ok: true })
  /** `isRefused`: the path is not served. */
  | (Failure & { readonly isRefused: boolean });

/** The validators of one page. */
export interface NamesPage extends Validators {
  readonly ok: true;
  /** Key of the next page; `undefined` on the last one. */
  readonly nextKey: string | undefined;
}

/** A page of 1000 validators has 30,000. */
const MAX_VALUES = 500_000;

const validators = list(
  object({
    operator_address: string,
    description: object({ moniker: string, security_contact: string, website: string }),
  }),
);
const validatorsPage = object({ validators, pagination: object({ next_key: string }) });

const VALIDATORS_PATH = '/cosmos/staking/v1beta1/validators?pagination.limit=1000';

/** Reads the names of all validators. */
export async function fetchNames(job: JobConnection, client: Client): Promise<NamesResult> {
  const release = await client.waitForMemory(job.limits.maxBodyBytes);
  const result = await fetchPages(job, VALIDATORS_PATH, client, readNamesPage).finally(release);
  if (!result.ok) return result;
  // Of entries with the same key, the first one stays.
  const pages = result.pages.toReversed();
  const operators = new Map(pages.flatMap((page) => Array.from(page.operators)));
  if (operators.size === 0) {
    const source = sourceOf(job.url, VALIDATORS_PATH);
    return { ...failure('schema', `${source}: the list has no validators`), isRefused: false };
  }
  return {
    ok: true,
    byOperator: new Map(pages.flatMap(({ byOperator }) => Array.from(byOperator))),
    contacts: new Map(pages.flatMap(({ contacts }) => Array.from(contacts))),
    operators,
  };
}

/** Reads one page. Error messages begin with `source`. */
export function readNamesPage(source: string, body: Buffer): NamesPage | Failure {
  const result = readDocument(validatorsPage, body, MAX_VALUES);
  if (!result.ok) return failure(result.reason, `${source}: ${result.message}`);
  const { value } = result;
  if (value === undefined || !isPresent(value.validators))
    return failure('schema', `${source}: not a list of validators`);
  const key = isPresent(value.pagination) ? value.pagination.next_key : undefined;
  return { ok: true, ...validatorsIn(value.validators), nextKey: isPresent(key) && key !== '' ? key : undefined };
}

/** Sent back to the node in the path of a query. Whatever is not an address of this form is left out. */
const OPERATOR_ADDRESS = /^[a-z0-9]{1,90}$/;

const MAX_CONTACT_CHARACTERS = 100;

/** The first name and the first contact of each address. Whatever is missing is left out: a name is never necessary. */
function validatorsIn(page: ValueOf<typeof validators>): Validators {
  const byOperator = new Map<string, string>();
  const contacts = new Map<string, Contact>();
  const operators = new Map<string, string>();
  for (const validator of page) {
    if (!isPresent(validator) || !isPresent(validator.operator_address)) continue;
    const { operator_address: address, description } = validator;
    const operator = dataPart(address);
    if (OPERATOR_ADDRESS.test(address) && !operators.has(operator)) operators.set(operator, address);
    if (!isPresent(description)) continue;
    const name = isPresent(description.moniker) ? toLabelValue(cleanText(description.moniker)) : '';
    if (name !== '' && !byOperator.has(operator)) byOperator.set(operator, name);
    const securityContact = contactText(description.security_contact);
    const website = contactText(description.website);
    if ((securityContact ?? website) !== null && !contacts.has(operator)) {
      contacts.set(operator, { securityContact, website });
    }
  }
  return { byOperator, contacts, operators };
}

function contactText(field: Field<string>): string | null {
  return isPresent(field) ? cleanText(field, MAX_CONTACT_CHARACTERS) || null : null;
}

/** The validators of one target, as last read from the staking module. */
export interface NamesState extends Validators {
  readonly attempts: QueryAttempts;
  /** When the names were read; `undefined` before the first time. */
  readonly readAt: Instant | undefined;
  /** Why the last attempt failed; `undefined` when it succeeded, and before the first. */
  readonly failure: PollError | undefined;
  /** Number of failed attempts, without those of a node that does not serve the list. */
  readonly failures: number;
}

export const NO_NAMES: NamesState = {
  byOperator: new Map(),
  contacts: new Map(),
  operators: new Map(),
  attempts: NO_ATTEMPTS,
  readAt: undefined,
  failure: undefined,
  failures: 0,
};

/** An hour: names change a few times a year, and the response has megabytes. */
const REFRESH_MS = 3_600_000;

export function isNamesReadDue({ attempts }: NamesState, now: Instant): boolean {
  return isDue(attempts, REFRESH_MS, now);
}

export function withNamesAttempt(names: NamesState, at: Instant): NamesState {
  return { ...names, attempts: afterStart(names.attempts, at) };
}

export function namesAfterFailedPoll(names: NamesState): NamesState {
  return { ...names, attempts: afterFailedPoll(names.attempts) };
}

/** After a failure, the last names stay. */
export function namesAfter(before: NamesState, result: NamesResult, at: Instant): NamesState {
  if (result.ok) {
    const { byOperator, contacts, operators } = result;
    const attempts = afterRound(before.attempts, 'answered');
    return { ...before, byOperator, contacts, operators, attempts, readAt: at, failure: undefined };
  }
  return {
    ...before,
    attempts: afterRound(before.attempts, result.isRefused ? 'refused' : 'failed'),
    failure: result.error,
    failures: before.failures + (result.isRefused && isNotServed(before.attempts) ? 0 : 1),
  };
}
