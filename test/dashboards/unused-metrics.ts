const RAW_COUNT = 'A raw count of signatures; the signed power and the number of missing confirms are more meaningful.';
const NORMALIZED = 'Always about 4294967295, because the hub normalizes it.';
const HEIGHT_IS_NONCE =
  'The nonce equals the height of creation, and real nodes send 0 as the height of the observed set.';

/** Stable metrics that no panel and no rule uses, with the reason. */
export const unusedMetrics: Readonly<Record<string, string>> = {
  bridge_valset_confirms: RAW_COUNT,
  bridge_batch_confirms: RAW_COUNT,
  bridge_last_observed_valset_height: HEIGHT_IS_NONCE,
  bridge_newest_valset_height: HEIGHT_IS_NONCE,
  bridge_last_observed_valset_power: NORMALIZED,
  bridge_newest_valset_power: NORMALIZED,
  bridge_exporter_endpoint_info: 'The status page has the path; a failure message lists the paths.',
  bridge_exporter_targets: 'Depends on the configuration only; it is for comparing the sizes of shards.',
  bridge_exporter_recordings_total: 'Grows as configured; its failures alert.',
  bridge_exporter_recordings_size_bytes: 'Bounded by recorder.max_size; the status page has it.',
  bridge_last_observed_valset_reward_amount: 'Equals the parameter, which is in the table of rewards.',
  bridge_token_oldest_unbatched_transfer_id:
    'An id; the panel of new transfers since the oldest shows that of all tokens.',
  bridge_orchestrator_batch_confirm_deadline_height:
    'bridge_orchestrator_confirm_deadline_height has it, with that of validator sets.',
};
