/**
 * The families that the verdicts (src/verdicts) judge. Their samples are sent to the main thread beside the rendered text, so that a
 * verdict and the alert it corresponds to have the same numbers. Short, because samples are copied with every poll.
 */
export const judgedFamilies = [
  'bridge_height',
  'bridge_last_observed_nonce',
  'bridge_last_observed_external_height',
  'bridge_last_outgoing_batch_id',
  'bridge_batches',
  'bridge_unbatched_transfers',
  'bridge_batch_transactions',
  'bridge_oldest_pending_transfer_id',
  'bridge_params_signed_valsets_window_blocks',
  'bridge_params_target_batch_timeout_seconds',
  'bridge_params_average_block_time_seconds',
  'bridge_params_average_external_block_time_seconds',
  'bridge_params_hash',
  'bridge_external_blacklist_hash',
  'bridge_last_observed_valset_nonce',
  'bridge_unrelayed_valsets_below_threshold',
  'bridge_batches_below_threshold',
  'bridge_valset_power_drift_ratio',
  'bridge_batch_oldest_height',
  'bridge_batch_next_timeout_height',
  'bridge_external_height_projected',
  'bridge_batches_overdue',
  'bridge_pending_events',
  'bridge_conflicting_claims',
  'bridge_orchestrator_info',
  'bridge_watched_validator_active',
  'bridge_orchestrator_power_ratio',
  'bridge_orchestrator_missing_valset_confirms',
  'bridge_orchestrator_confirm_deadline_height',
  'bridge_orchestrator_missing_batch_confirms',
  'bridge_orchestrator_missing_votes',
  'crosschain_height',
  'crosschain_total_pending',
  'crosschain_cctxs_missed',
  'crosschain_cctxs_hidden',
  'crosschain_lowest_pending_nonce',
  'crosschain_oldest_cctx_created_timestamp_seconds',
  'crosschain_rate_limit_utilization_ratio',
  'crosschain_rate_limit_exceeded',
] as const;

export type JudgedFamily = (typeof judgedFamilies)[number];

const names: ReadonlySet<string> = new Set(judgedFamilies);

export function isJudged(name: string): name is JudgedFamily {
  return names.has(name);
}
