import { dataPart } from '../../chain/addresses.js';
import { INVALID } from '../../chain/field.js';
import { asDecimalString } from '../../chain/numeral.js';
import { families, gauge, labeledGauge, toLabelValue } from '../../metrics/family.js';
import { firstBy } from '../grouping.js';
import { memoize } from '../memoize.js';
import { orEmpty } from '../required-fields.js';
import type { BridgeInput } from './input.js';
import { matchingRegistrations, validatorName } from './registrations.js';

/** The orchestrator of an entry of `watch`, as it is registered with the bridge. */
export interface WatchedOrchestrator {
  readonly orchestrator: string;
  /** The account of the validator. */
  readonly sender: string;
  /** Empty without one. */
  readonly name: string;
}

/** The registration of each entry of `watch`, each orchestrator once. Unreadable registrations are left out. */
export const watchedOrchestrators = memoize((input: BridgeInput): readonly WatchedOrchestrator[] => {
  const all = input.settings.watch.flatMap((entry) => {
    const registered = orEmpty(() => matchingRegistrations(input, entry)).flatMap((registration) => {
      const { orchestrator, sender } = registration;
      if (typeof orchestrator !== 'string' || typeof sender !== 'string') return [];
      return [{ orchestrator: orchestrator.toLowerCase(), sender, name: validatorName(input, registration) }];
    });
    // An entry with several registrations, which the hub does not allow, has one of them whatever their order.
    return registered.toSorted((a, b) => (a.orchestrator < b.orchestrator ? -1 : 1)).slice(0, 1);
  });
  return Array.from(firstBy(all, ({ orchestrator }) => dataPart(orchestrator)).values());
});

/** The coin that pays for transactions on the hub; `undefined` if it is not known. */
export function hubCoinDenom({ state: { params } }: BridgeInput): string | undefined {
  const denom = params === undefined || params === INVALID ? undefined : params.hub_coin_denom;
  return typeof denom === 'string' && denom !== '' ? denom : undefined;
}

export const watchedFamilies = families<BridgeInput>({
  bridge_watched_orchestrator_info: labeledGauge({
    help: 'Orchestrator of an entry of watch about which the node is asked; the value is always 1.',
    stability: 'experimental',
    // As many as are configured.
    labels: ['orchestrator', 'name'],
    derive: (input) =>
      input.settings.nodeQueries === 'off'
        ? []
        : watchedOrchestrators(input).map(({ orchestrator, name }) => ({
            labels: { orchestrator: toLabelValue(orchestrator), name: toLabelValue(name) },
            value: 1,
          })),
  }),
  bridge_watched_orchestrator_balance_limit_amount: gauge({
    help: 'Balance of the orchestrators of watch below which they are short of funds, as configured; absent without watch.',
    stability: 'experimental',
    value: ({ settings }) => (settings.watch.length === 0 ? undefined : asDecimalString(settings.watchMinBalance)),
  }),
});
