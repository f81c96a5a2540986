const IDENTITY = 'identifies a single item, and would be a label with unbounded cardinality';
const FREE_TEXT = 'free text of unbounded length';
const PRICING = 'a detail of a single transaction; a sum over different chains has no unit';
const FINAL = 'set only for finished transactions, which this document does not list';

/** The fields of the spec that no metric reads, with the reason. The keys are `object.field` as in spec-fields.ts. */
export const notExported: Readonly<Record<string, string>> = {
  'Coin.denom': 'the reward is 0 on all known chains',
  'Valset.reward_token': 'the token of a reward, whose amount is exported',
  'ValsetConfirm.orchestrator':
    'signatures are counted by external address, which can differ from that of the orchestrator',
  'ValsetConfirm.signature': 'only relayers need the signature',
  'BatchConfirm.orchestrator':
    'signatures are counted by external address, which can differ from that of the orchestrator',
  'BatchConfirm.signature': 'only relayers need the signature',
  'OutgoingTransfer.sender': `${IDENTITY}; shown on /pending`,
  'OutgoingTransfer.dest_address': `${IDENTITY}; shown on /pending`,
  'Cctx.creator': IDENTITY,
  'Cctx.native_fees': PRICING,
  'Cctx.relayed_message': FREE_TEXT,
  'Cctx.protocol_contract_version': 'describes how a transaction is built, not whether it is stuck',
  'Cctx.revert_options': 'instructions of the sender for a revert',
  'CctxStatus.status_message': FREE_TEXT,
  'CctxStatus.error_message': FREE_TEXT,
  'CctxStatus.isAbortRefunded': FINAL,
  'InboundParams.sender': IDENTITY,
  'InboundParams.tx_origin': IDENTITY,
  'InboundParams.coin_type': 'the current outbound, which is pending, has its own coin type',
  'InboundParams.asset': IDENTITY,
  'InboundParams.amount': 'the current outbound, which is pending, has its own amount without fees',
  'InboundParams.observed_hash': IDENTITY,
  'InboundParams.observed_external_height':
    'heights of different chains cannot be compared; created_timestamp gives the age',
  'InboundParams.ballot_index': IDENTITY,
  'InboundParams.finalized_native_height': '0 for outgoing transactions, which are most of the pending ones',
  'InboundParams.tx_finalization_status': 'constant for pending transactions',
  'InboundParams.is_cross_chain_call': 'describes how a transaction is built, not whether it is stuck',
  'OutboundParams.receiver': IDENTITY,
  'OutboundParams.gas_limit': PRICING,
  'OutboundParams.gas_price': PRICING,
  'OutboundParams.gas_priority_fee': PRICING,
  'OutboundParams.ballot_index': IDENTITY,
  'OutboundParams.observed_external_height': FINAL,
  'OutboundParams.gas_used': FINAL,
  'OutboundParams.effective_gas_price': FINAL,
  'OutboundParams.effective_gas_limit': FINAL,
  'OutboundParams.tx_finalization_status': FINAL,
  'OutboundParams.call_options': PRICING,
  'OutboundParams.call_options.gas_limit': PRICING,
  'OutboundParams.call_options.is_arbitrary_call': 'describes how a transaction is built, not whether it is stuck',
  'RevertOptions.revert_address': IDENTITY,
  'RevertOptions.call_on_revert': 'instructions of the sender for a revert',
  'RevertOptions.abort_address': IDENTITY,
  'RevertOptions.revert_message': FREE_TEXT,
  'RevertOptions.revert_gas_limit': PRICING,
};
