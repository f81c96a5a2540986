import { labelOf, type Samples } from '../metrics/samples.js';
import { dataPart } from '../chain/addresses.js';
import type { Endpoint } from '../poll/registry.js';
import { hasStakingNames, validatorsOf, type Contact, type Contacts } from '../queries/validators.js';
import type { BlockingValidator } from './blocking.js';
import { isolated, markup, type Markup } from './html.js';

/*
 * How to reach the operators of a validator, as they have published it with the staking module. Anyone can publish anything.
 */

export type ContactsByTarget = ReadonlyMap<string, Contacts>;

export function contactsByTarget(endpoints: readonly Pick<Endpoint, 'state' | 'job'>[]): ContactsByTarget {
  const named = endpoints.filter(({ job }) => hasStakingNames(job.context));
  return new Map(named.map(({ state }) => [state.target, validatorsOf(state.queries).contacts]));
}

/** Adds the contacts to validators, which the metrics map to their operator addresses. */
export function withContacts(
  validators: readonly BlockingValidator[],
  samples: Samples<'bridge_orchestrator_info'>,
  contacts: Contacts = new Map(),
): readonly BlockingValidator[] {
  const operators = new Map(
    samples
      .series('bridge_orchestrator_info')
      .map(({ labels }) => [labelOf(labels, 'external_address'), labelOf(labels, 'validator')]),
  );
  return validators.map((validator) => {
    const contact = contacts.get(dataPart(operators.get(validator.externalAddress) ?? ''));
    return contact === undefined ? validator : { ...validator, contact };
  });
}

export function contactHtml(contact: Contact | undefined): Markup {
  if (contact === undefined) return markup``;
  const { securityContact, website } = contact;
  const parts = [
    ...(securityContact === null ? [] : [isolated(securityContact)]),
    ...(website === null ? [] : [websiteHtml(website)]),
  ];
  return markup`<small>published contact: ${parts.map((part, index) => markup`${index === 0 ? '' : ', '}${part}`)}</small>`;
}

/** A link only if nothing but https can be behind it, to the host that the text shows. */
function websiteHtml(text: string): Markup {
  const isPlain = /^https:\/\/[a-z\d.-]+(?:[/?#][\x21-\x7E]*)?$/i.test(text) && URL.canParse(text);
  return isPlain ? markup`<a href="${text}" rel="noreferrer nofollow">${text}</a>` : isolated(text);
}
