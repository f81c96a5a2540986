import { performance } from 'node:perf_hooks';
import { dataPart } from '../chain/addresses.js';
import type { Client } from '../http/client.js';
import { failure, type Failure, type PollError } from '../http/failure-reasons.js';
import { isPresent, type Field } from '../json/field.js';
import { list, NO_ALIASES, object, readDocument, string, type ValueOf } from '../json/shapes.js';
import { toLabelValue } from '../metrics/family.js';
import { cleanText } from '../text/untrusted-text.js';
import type { Instant } from '../clock.js';
import type { Decoder } from './decode.js';
import type { PollJob } from './poll.js';

/* The names of validators, from the staking module of the Cosmos SDK (QueryValidatorsResponse). They never affect a poll. */

/** How the operators of a validator can be reached, as they have published it. `null` for what they have not. */
export interface Contact {
  readonly securityContact: string | null;
  readonly website: string | null;
}

/** Contacts by the data part of the operator address. */
export type Contacts = ReadonlyMap<string, Contact>;

/** Operator addresses by their data part. */
type Operators = ReadonlyMap<string, string>;

/** Names by the data part of the operator address. */
export type NamesResult =
  | {
      readonly ok: true;
      readonly byOperator: ReadonlyMap<string, string>;
      readonly contacts: Contacts;
      readonly operators: Operators;
    }
  | Failure;

/** The names of one page. */
export interface NamesPage {
  readonly ok: true;
  readonly byOperator: ReadonlyMap<string, string>;
  readonly contacts: Contacts;
  readonly operators: Operators;
  /** Key of the next page; `undefined` on the last one. */
  readonly nextKey: string | undefined;
}

/** Chains have hundreds of validators, and a page 1000. */
const MAX_PAGES = 10;

/** A page of 1000 validators takes about 2 MB. */
const PAGE_BUDGET_BYTES = 64 * 2 ** 20;

const validators = list(
  object(
    {
      operator_address: string,
      description: object({ moniker: string, security_contact: string, website: string }, 'any'),
    },
    'any',
  ),
);
const readPage = object({ validators, pagination: object({ next_key: string }, 'any') }, 'any').compile('', NO_ALIASES);

/** The path of one page of validators. `nextKey` is that of the page before. */
function validatorsPath(nextKey: string | undefined): string {
  const query = new URLSearchParams({ 'pagination.limit': '1000' });
  if (nextKey !== undefined) query.set('pagination.key', nextKey);
  return `/cosmos/staking/v1beta1/validators?${query.toString()}`;
}

/** Reads the names of all validators, page by page. More than ten pages are a failure. */
export async function fetchNames(
  { url: baseUrl, httpClient, limits }: Pick<PollJob, 'url' | 'httpClient' | 'limits'>,
  client: Client,
  decoder: Decoder,
): Promise<NamesResult> {
  const release = await client.reserveMemory(limits.maxBodyBytes);
  try {
    const started = performance.now();
    const names = new Map<string, string>();
    const contacts = new Map<string, Contact>();
    const operators = new Map<string, string>();
    let nextKey: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const url = new URL(baseUrl + validatorsPath(nextKey));
      const elapsedMs = performance.now() - started;
      // oxlint-disable-next-line no-await-in-loop -- a page names the next one
      const fetched = await client.fetch(url, { ...limits, elapsedMs }, httpClient);
      if (!fetched.ok) return failure(fetched.error.reason, url.host + fetched.error.message);
      // oxlint-disable-next-line no-await-in-loop -- as above
      const { outcome: decoded } = await decoder.decode({ source: sourceOf(url) }, fetched.body);
      if (!decoded.ok) return decoded;
      for (const [operator, name] of decoded.byOperator) if (!names.has(operator)) names.set(operator, name);
      for (const [operator, contact] of decoded.contacts) if (!contacts.has(operator)) contacts.set(operator, contact);
      for (const [key, address] of decoded.operators) operators.set(key, address);
      ({ nextKey } = decoded);
      if (nextKey === undefined) return { ok: true, byOperator: names, contacts, operators };
    }
    return failure(
      'too_large',
      `${sourceOf(new URL(baseUrl + validatorsPath(undefined)))}: more than ${MAX_PAGES} pages of validators`,
    );
  } finally {
    release();
  }
}

/** Host and path of a request, at the beginning of messages. */
export function sourceOf({ host, pathname }: URL): string {
  return host + pathname;
}

/** Reads one page. Error messages begin with `source`. */
export function readNamesPage(source: string, body: Buffer): NamesPage | Failure {
  const result = readDocument(readPage, body, PAGE_BUDGET_BYTES);
  if (!result.ok) return failure(result.reason, `${source}: ${result.message}`);
  const { value } = result;
  if (value === undefined || !isPresent(value.validators))
    return failure('schema', `${source}: not a list of validators`);
  const key = isPresent(value.pagination) ? value.pagination.next_key : undefined;
  const { validators: page } = value;
  return {
    ok: true,
    byOperator: namesIn(page),
    contacts: contactsIn(page),
    operators: operatorsIn(page),
    nextKey: isPresent(key) && key !== '' ? key : undefined,
  };
}

/** The first name of each address. Validators without an address or a name are left out: a name is never necessary. */
function namesIn(page: ValueOf<typeof validators>): Map<string, string> {
  const names = new Map<string, string>();
  for (const validator of page) {
    if (!isPresent(validator) || !isPresent(validator.operator_address) || !isPresent(validator.description)) continue;
    const { operator_address: address, description } = validator;
    const operator = dataPart(address);
    const name = isPresent(description.moniker) ? toLabelValue(cleanText(description.moniker)) : '';
    if (name !== '' && !names.has(operator)) names.set(operator, name);
  }
  return names;
}

/** Sent back to the node in the path of a query. Whatever is not an address of this form is left out. */
const OPERATOR_ADDRESS = /^[a-z0-9]{1,90}$/;

function operatorsIn(page: ValueOf<typeof validators>): Operators {
  return new Map(
    page.flatMap((validator): [string, string][] => {
      const address = isPresent(validator) ? validator.operator_address : undefined;
      return isPresent(address) && OPERATOR_ADDRESS.test(address) ? [[dataPart(address), address]] : [];
    }),
  );
}

const MAX_CONTACT_CHARACTERS = 100;

/** The first contact of each address, of those with one. */
function contactsIn(page: ValueOf<typeof validators>): Map<string, Contact> {
  const contacts = new Map<string, Contact>();
  for (const validator of page) {
    if (!isPresent(validator) || !isPresent(validator.operator_address) || !isPresent(validator.description)) continue;
    const { operator_address: address, description } = validator;
    const operator = dataPart(address);
    const securityContact = contactText(description.security_contact);
    const website = contactText(description.website);
    if ((securityContact ?? website) !== null && !contacts.has(operator)) {
      contacts.set(operator, { securityContact, website });
    }
  }
  return contacts;
}

function contactText(field: Field<string>): string | null {
  return isPresent(field) ? cleanText(field, MAX_CONTACT_CHARACTERS) || null : null;
}

/** The names of the validators of one target, as last read from the staking module. */
export interface NamesState {
  readonly byOperator: ReadonlyMap<string, string>;
  readonly contacts: Contacts;
  readonly operators: Operators;
  readonly attemptedAt: Instant | undefined;
  /** When the names were read; `undefined` before the first time. */
  readonly readAt: Instant | undefined;
  /** Why the last attempt failed; `undefined` when it succeeded, and before the first. */
  readonly failure: PollError | undefined;
}

export const NO_NAMES: NamesState = {
  byOperator: new Map(),
  contacts: new Map(),
  operators: new Map(),
  attemptedAt: undefined,
  readAt: undefined,
  failure: undefined,
};

/** An hour: names change a few times a year, and the response has megabytes. */
const REFRESH_MS = 3_600_000;

export function isNamesReadDue({ attemptedAt }: NamesState, now: Instant): boolean {
  return attemptedAt === undefined || now.monotonicMs - attemptedAt.monotonicMs >= REFRESH_MS;
}

/** After a failure, the last names stay. */
export function namesAfter(before: NamesState, result: NamesResult, at: Instant): NamesState {
  if (!result.ok) return { ...before, failure: result.error };
  const { byOperator, contacts, operators } = result;
  return { ...before, byOperator, contacts, operators, readAt: at, failure: undefined };
}
