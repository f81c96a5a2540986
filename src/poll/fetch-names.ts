import { performance } from 'node:perf_hooks';
import { validatorsPage, validatorsPath, type ValidatorsPage } from '../chain/staking.js';
import type { HttpClientConfig } from '../config/http-client-config.js';
import type { Client, FetchLimits } from '../http/client.js';
import type { FailureReason, PollError } from '../http/errors.js';
import { INVALID, type Field } from '../json/field.js';
import { readDocument } from '../json/read-document.js';
import { NO_ALIASES } from '../json/shapes.js';
import { toLabelValue } from '../metrics/family.js';

/** The staking module of a node to read names from. Plain data, sent to the worker thread. */
export interface NamesJob {
  readonly baseUrl: string;
  readonly httpClient?: HttpClientConfig;
  /** For all pages together, and for the body of each. */
  readonly limits: FetchLimits;
}

/** Names by the data part of the operator address. */
export type NamesResult =
  | { readonly ok: true; readonly names: ReadonlyMap<string, string> }
  | { readonly ok: false; readonly error: PollError };

/** Chains have hundreds of validators, and a page 1000. */
const MAX_PAGES = 10;

/** A page of 1000 validators takes about 2 MB. */
const PAGE_BUDGET_BYTES = 64 * 2 ** 20;

const readPage = validatorsPage.compile('', NO_ALIASES);

/**
 * Reads the names of all validators, page by page. Calls `onBody` with the path before a body is decoded. Expected failures are
 * values, with the reasons of a poll; more than ten pages are one of them.
 */
export async function fetchNames(
  { baseUrl, httpClient, limits }: NamesJob,
  client: Client,
  onBody: (path: string) => void = () => undefined,
): Promise<NamesResult> {
  const started = performance.now();
  const names = new Map<string, string>();
  let nextKey: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const url = new URL(baseUrl + validatorsPath(nextKey));
    const elapsedMs = performance.now() - started;
    // oxlint-disable-next-line no-await-in-loop -- a page names the next one
    const fetched = await client.fetch(url, { ...limits, elapsedMs }, httpClient);
    if (!fetched.ok) return { ok: false, error: fetched.error };
    onBody(url.pathname);
    try {
      const result = readDocument(readPage, fetched.body.bytes, PAGE_BUDGET_BYTES);
      if (!result.ok) return failed(result.reason, `${url.pathname}: ${result.message}`);
      const { value } = result;
      if (value === undefined || !isPresent(value.validators)) {
        return failed('schema', `${url.pathname}: not a list of validators`);
      }
      addNames(names, value.validators);
      const key = isPresent(value.pagination) ? value.pagination.next_key : undefined;
      if (!isPresent(key) || key === '') return { ok: true, names };
      nextKey = key;
    } finally {
      fetched.body.release();
    }
  }
  return failed('too_large', `${validatorsPath(undefined)}: more than ${MAX_PAGES} pages of validators`);
}

/** Keeps the first name of an address. Validators without an address or a name are left out: a name is never necessary. */
function addNames(
  names: Map<string, string>,
  validators: Exclude<ValidatorsPage['validators'], undefined | typeof INVALID>,
): void {
  for (const validator of validators) {
    if (!isPresent(validator) || !isPresent(validator.operator_address) || !isPresent(validator.description)) continue;
    const { operator_address: operator, description } = validator;
    const name = isPresent(description.moniker) ? cleanName(description.moniker) : '';
    if (name !== '' && !names.has(operator)) names.set(operator, name);
  }
}

/** Anyone can choose any name: control characters and directional marks would change the text around it. */
function cleanName(moniker: string): string {
  return toLabelValue(
    moniker
      .slice(0, 1000)
      .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
      .trim(),
  );
}

function isPresent<T>(field: Field<T>): field is T {
  return field !== undefined && field !== INVALID;
}

function failed(reason: FailureReason, message: string): NamesResult {
  return { ok: false, error: { reason, message } };
}
