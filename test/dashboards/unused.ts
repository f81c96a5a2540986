const RAW_COUNT =
  'A bare count of signatures: the signed power and the counts of missing ones say what follows from it.';
const NORMALISED = 'Always about 2^32: the hub normalises it. For looking at one node, not for a panel.';
const HEIGHT_IS_NONCE =
  'The nonce is the height of creation, and real nodes send 0 for the height of the observed set.';

/** Families that no panel and no rule uses, and why. */
export const unused: Readonly<Record<string, string>> = {
  bridge_valset_confirms: RAW_COUNT,
  bridge_batch_confirms: RAW_COUNT,
  bridge_last_observed_valset_height: HEIGHT_IS_NONCE,
  bridge_newest_valset_height: HEIGHT_IS_NONCE,
  bridge_last_observed_valset_power: NORMALISED,
  bridge_newest_valset_power: NORMALISED,
  bridge_last_observed_valset_reward_amount: 'A copy of the parameter, which is in the table of rewards.',
};
