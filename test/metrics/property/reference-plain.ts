import {
  boolean,
  divide,
  field,
  integer,
  isMissing,
  isObject,
  list,
  number,
  optionalString,
  sum,
  Withdrawn,
  type Rational,
  type SeriesCollector,
} from './exact.js';
import { membersOf, totalPower, valsetsOf } from './reference-signing.js';

export function referencePlain(state: unknown, height: Rational | undefined, out: SeriesCollector): void {
  out.gauge('bridge_height', () => height);
  out.gauge('bridge_last_observed_nonce', () => number(field(state, 'last_observed_nonce')));
  out.gauge('bridge_last_observed_external_height', () => number(field(state, 'last_observed_external_height')));
  out.gauge('bridge_last_outgoing_batch_id', () => number(field(state, 'last_outgoing_batch_id')));
  out.gauge('bridge_last_outgoing_pool_id', () => number(field(state, 'last_outgoing_pool_id')));

  const length = (name: string, ...path: readonly string[]): void => {
    out.gauge(name, () => integer(list(field(state, ...path)).length));
  };
  length('bridge_valsets', 'valsets');
  length('bridge_valset_confirms', 'valset_confirms');
  length('bridge_batches', 'batches');
  length('bridge_batch_confirms', 'batch_confirms');
  length('bridge_orchestrator_addresses', 'orchestrator_addresses');
  length('bridge_erc20_to_denoms', 'erc20_to_denoms');
  length('bridge_unbatched_transfers', 'unbatched_transfers');
  length('bridge_external_blacklist', 'external_blacklist');
  length('bridge_params_admins', 'params', 'admins');
  out.labeledGauge('bridge_attestations', () => {
    const flags = list(field(state, 'attestations')).map((attestation) => {
      if (!isObject(attestation)) throw new Withdrawn('an attestation that is not an object');
      const observed = field(attestation, 'observed');
      return isMissing(observed) ? undefined : boolean(observed);
    });
    const count = (observed: boolean | undefined): Rational =>
      integer(flags.filter((flag) => flag === observed).length);
    const unknown = [{ observed: 'unknown' }, count(undefined)] as const;
    return [
      [{ observed: 'true' }, count(true)],
      [{ observed: 'false' }, count(false)],
      ...(flags.includes(undefined) ? [unknown] : []),
    ];
  });
  out.gauge('bridge_batch_transactions', () =>
    sum(list(field(state, 'batches')).map((batch) => integer(list(field(batch, 'transactions')).length))),
  );
}

export function referenceValsets(state: unknown, out: SeriesCollector): void {
  const observed = (): unknown => field(state, 'last_observed_valset');
  out.gauge('bridge_last_observed_valset_nonce', () => number(field(observed(), 'nonce')));
  out.gauge('bridge_last_observed_valset_height', () => number(field(observed(), 'height')));
  out.gauge('bridge_last_observed_valset_members', () => integer(membersOf(observed()).length));
  out.gauge('bridge_last_observed_valset_power', () => totalPower(observed()));
  out.gauge('bridge_last_observed_valset_reward_amount', () => number(field(observed(), 'reward_amount')));

  const newest = (): unknown => valsetsOf(state).newest;
  out.gauge('bridge_newest_valset_nonce', () => number(field(newest(), 'nonce')));
  out.gauge('bridge_newest_valset_height', () => number(field(newest(), 'height')));
  out.gauge('bridge_newest_valset_members', () => integer(membersOf(newest()).length));
  out.gauge('bridge_newest_valset_power', () => totalPower(newest()));
}

export function referenceParams(state: unknown, out: SeriesCollector): void {
  const param = (name: string, path: string): void => {
    out.gauge(name, () => number(field(state, 'params', ...path.split('.'))));
  };
  const seconds = (name: string, path: string): void => {
    out.gauge(name, () => divide(number(field(state, 'params', path)), integer(1000)));
  };
  out.labeledGauge('bridge_params_info', () => {
    const label = (name: string): string => optionalString(field(state, 'params', name)) ?? '';
    const id = field(state, 'params', 'bridge_chain_id');
    return [
      [
        {
          bridge_id: label('bridge_id'),
          bridge_chain_id: typeof id === 'number' ? id.toString() : label('bridge_chain_id'),
          bridge_external_address: label('bridge_external_address').toLowerCase(),
          contract_source_hash: label('contract_source_hash'),
          hub_coin_denom: label('hub_coin_denom'),
          hub_coin_erc20_contract: label('hub_coin_erc20_contract').toLowerCase(),
        },
        integer(1),
      ],
    ];
  });
  param('bridge_params_signed_valsets_window_blocks', 'signed_valsets_window');
  param('bridge_params_signed_batches_window_blocks', 'signed_batches_window');
  param('bridge_params_signed_claims_window_blocks', 'signed_claims_window');
  param('bridge_params_unbond_slashing_valsets_window_blocks', 'unbond_slashing_valsets_window');
  seconds('bridge_params_target_batch_timeout_seconds', 'target_batch_timeout');
  seconds('bridge_params_average_block_time_seconds', 'average_block_time');
  seconds('bridge_params_average_external_block_time_seconds', 'average_external_block_time');
  param('bridge_params_slash_fraction_valset_ratio', 'slash_fraction_valset');
  param('bridge_params_slash_fraction_batch_ratio', 'slash_fraction_batch');
  param('bridge_params_slash_fraction_claim_ratio', 'slash_fraction_claim');
  param('bridge_params_slash_fraction_conflicting_claim_ratio', 'slash_fraction_conflicting_claim');
  param('bridge_params_slash_fraction_bad_eth_signature_ratio', 'slash_fraction_bad_eth_signature');
  out.gauge('bridge_params_claim_slashing_enabled', () =>
    integer(boolean(field(state, 'params', 'claim_slashing_enabled')) ? 1 : 0),
  );
  param('bridge_params_bridge_contract_start_height', 'bridge_contract_start_height');
  param('bridge_params_valset_reward_amount', 'valset_reward.amount');
}
