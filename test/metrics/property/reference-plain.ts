import {
  field,
  flag,
  isMissing,
  isObject,
  list,
  number,
  optionalText,
  over,
  sum,
  whole,
  Withdrawn,
  type Collected,
  type Exact,
} from './exact.js';
import { membersOf, totalPower, valsetsOf } from './reference-signing.js';

type Json = unknown;

export function referencePlain(state: Json, height: Exact | undefined, out: Collected): void {
  out.single('bridge_height', () => height);
  out.single('bridge_last_observed_nonce', () => number(field(state, 'last_observed_nonce')));
  out.single('bridge_last_observed_external_height', () => number(field(state, 'last_observed_external_height')));
  out.single('bridge_last_outgoing_batch_id', () => number(field(state, 'last_outgoing_batch_id')));
  out.single('bridge_last_outgoing_pool_id', () => number(field(state, 'last_outgoing_pool_id')));

  const length = (name: string, ...path: readonly string[]): void => {
    out.single(name, () => whole(list(field(state, ...path)).length));
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
  out.labelled('bridge_attestations', () => {
    const flags = list(field(state, 'attestations')).map((attestation) => {
      if (!isObject(attestation)) throw new Withdrawn('an attestation that is none');
      const observed = field(attestation, 'observed');
      return isMissing(observed) ? undefined : flag(observed);
    });
    const count = (wanted: boolean | undefined): Exact => whole(flags.filter((one) => one === wanted).length);
    const unknown = [{ observed: 'unknown' }, count(undefined)] as const;
    return [
      [{ observed: 'true' }, count(true)],
      [{ observed: 'false' }, count(false)],
      ...(flags.includes(undefined) ? [unknown] : []),
    ];
  });
  out.single('bridge_batch_transactions', () =>
    sum(list(field(state, 'batches')).map((batch) => whole(list(field(batch, 'transactions')).length))),
  );
}

export function referenceValsets(state: Json, out: Collected): void {
  const observed = (): Json => field(state, 'last_observed_valset');
  out.single('bridge_last_observed_valset_nonce', () => number(field(observed(), 'nonce')));
  out.single('bridge_last_observed_valset_height', () => number(field(observed(), 'height')));
  out.single('bridge_last_observed_valset_members', () => whole(membersOf(observed()).length));
  out.single('bridge_last_observed_valset_power', () => totalPower(observed()));
  out.single('bridge_last_observed_valset_reward_amount', () => number(field(observed(), 'reward_amount')));

  const newest = (): Json => valsetsOf(state).newest;
  out.single('bridge_newest_valset_nonce', () => number(field(newest(), 'nonce')));
  out.single('bridge_newest_valset_height', () => number(field(newest(), 'height')));
  out.single('bridge_newest_valset_members', () => whole(membersOf(newest()).length));
  out.single('bridge_newest_valset_power', () => totalPower(newest()));
}

export function referenceParams(state: Json, out: Collected): void {
  const param = (name: string, path: string): void => {
    out.single(name, () => number(field(state, 'params', ...path.split('.'))));
  };
  const seconds = (name: string, path: string): void => {
    out.single(name, () => over(number(field(state, 'params', path)), whole(1000)));
  };
  out.labelled('bridge_params_info', () => {
    const label = (name: string): string => optionalText(field(state, 'params', name)) ?? '';
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
        whole(1),
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
  out.single('bridge_params_claim_slashing_enabled', () =>
    whole(flag(field(state, 'params', 'claim_slashing_enabled')) ? 1 : 0),
  );
  param('bridge_params_bridge_contract_start_height', 'bridge_contract_start_height');
  param('bridge_params_valset_reward_amount', 'valset_reward.amount');
}
