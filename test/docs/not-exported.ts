/*
 * Fields of the spec that no family reads, each with the reason. Rows by object of the spec, as in spec-fields.ts.
 */
const IDENTITY =
  'identity: which one it is, not how much; not a label either, as there is no bound on how many there are';
const FREE_TEXT = 'free text of any length';
const PRICING = 'a detail of one transaction: sums over different chains have no unit';
const FINAL = 'of settled transactions only; this document lists those that are not';

export const notExported: Readonly<Record<string, string>> = {
  'Coin.denom': 'part of bridge_params_hash; the denom of a reward that is 0 on the chains known',
  'Valset.reward_token': 'the token of a reward whose amount is exported where it is in force',
  'ValsetConfirm.orchestrator': 'the signature counts by its external key, which need not be that of the orchestrator',
  'ValsetConfirm.signature': 'proof, of use to whoever relays it',
  'BatchConfirm.orchestrator': 'the signature counts by its external key, which need not be that of the orchestrator',
  'BatchConfirm.signature': 'proof, of use to whoever relays it',
  'OutgoingTransfer.sender': `${IDENTITY}; shown on /pending`,
  'OutgoingTransfer.dest_address': `${IDENTITY}; shown on /pending`,
  'Attestation.claim.type_url': 'the kind of event; what the exporter tells does not depend on it',
  'Cctx.creator': IDENTITY,
  'Cctx.native_fees': PRICING,
  'Cctx.relayed_message': FREE_TEXT,
  'Cctx.protocol_contract_version': 'says how a transaction is built, not whether it is stuck',
  'Cctx.revert_options': 'what its sender wants done on a revert',
  'CctxStatus.status_message': FREE_TEXT,
  'CctxStatus.error_message': FREE_TEXT,
  'CctxStatus.isAbortRefunded': FINAL,
  'InboundParams.sender': IDENTITY,
  'InboundParams.tx_origin': IDENTITY,
  'InboundParams.coin_type': 'the current outbound has its own, which is what waits',
  'InboundParams.asset': IDENTITY,
  'InboundParams.amount': 'the current outbound has its own, fees deducted, which is what waits',
  'InboundParams.observed_hash': IDENTITY,
  'InboundParams.observed_external_height':
    'heights of different chains, which cannot be compared; created_timestamp tells the age',
  'InboundParams.ballot_index': IDENTITY,
  'InboundParams.finalized_native_height': '0 for outgoing transactions, which are most of what waits',
  'InboundParams.tx_finalization_status': 'constant for what is pending',
  'InboundParams.is_cross_chain_call': 'says how a transaction is built, not whether it is stuck',
  'OutboundParams.receiver': IDENTITY,
  'OutboundParams.gas_limit': PRICING,
  'OutboundParams.gas_price': PRICING,
  'OutboundParams.gas_priority_fee': PRICING,
  'OutboundParams.ballot_index': IDENTITY,
  'OutboundParams.observed_external_height': FINAL,
  'OutboundParams.gas_used': FINAL,
  'OutboundParams.effective_gas_price': FINAL,
  'OutboundParams.effective_gas_limit': FINAL,
  'OutboundParams.tss_pubkey': IDENTITY,
  'OutboundParams.tx_finalization_status': FINAL,
  'OutboundParams.call_options': PRICING,
  'OutboundParams.call_options.gas_limit': PRICING,
  'OutboundParams.call_options.is_arbitrary_call': 'says how a transaction is built, not whether it is stuck',
  'RevertOptions.revert_address': IDENTITY,
  'RevertOptions.call_on_revert': 'what its sender wants done on a revert',
  'RevertOptions.abort_address': IDENTITY,
  'RevertOptions.revert_message': FREE_TEXT,
  'RevertOptions.revert_gas_limit': PRICING,
};
