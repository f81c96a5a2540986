import type { Batch, Transfer, Valset } from '../chain/module-state.js';
import { voters, type Event } from '../metrics/bridge/attestations.js';
import { isExpired, isOverdue, projectedExternalHeight } from '../metrics/bridge/batches.js';
import { conflictingEvents, pendingClaims, pendingEvents, votedAddresses } from '../metrics/bridge/events.js';
import type { BridgeInput } from '../metrics/bridge/input.js';
import {
  memberAddresses,
  newestPowers,
  newestTotal,
  newestValset,
  powerOf,
  unrelayedValsets,
} from '../metrics/bridge/joins.js';
import { deadlineOf } from '../metrics/bridge/orchestrators.js';
import { batchesBelowThreshold, valsetsBelowThreshold } from '../metrics/bridge/signing.js';
import { fee, transferred, unbatched } from '../metrics/bridge/tokens.js';
import { lengthOf } from '../metrics/family.js';
import type { BatchItem, BatchState, BridgeItems, ClaimItem, TransferItem, ValsetItem } from './items.js';
import { missingOf } from './members.js';
import { cutText, exact, ifKnown, known, section } from './section.js';
import { batchSignatures, valsetSignatures } from './signatures.js';
import { externalBlocks, hubBlocksSince, hubBlocksUntil } from './spans.js';
import { coinItem, tokenItem } from './tokens.js';
import { decimal, toDigits, numeralKey, ratio } from '../chain/decimal.js';
import { required, rows } from '../metrics/withdrawal.js';
import { trustedDigits } from '../json/numeral.js';

/** What waits in the bridge, from the same joins as the gauges, so that the two cannot disagree. */
export function bridgeItems(input: BridgeInput): BridgeItems {
  const { state, height, settings } = input;
  return {
    document: 'module_state',
    hubHeight: known(() => exact(height)),
    lastObservedNonce: known(() => exact(state.last_observed_nonce)),
    lastObservedExternalHeight: known(() => exact(state.last_observed_external_height)),
    projectedExternalHeight: known(() => {
      const projected = projectedExternalHeight(input);
      return projected && toDigits(projected);
    }),
    powerThreshold: exact(trustedDigits(settings.powerThreshold)),
    batchesBelowThreshold: known(() => batchesBelowThreshold(input)),
    valsetsBelowThreshold: known(() => valsetsBelowThreshold(input)),
    pendingEvents: known(() => toDigits(pendingEvents(input))),
    conflictingEvents: known(() => conflictingEvents(input).size),
    batches: section(
      () => rows(state.batches),
      [ifKnown(({ block }) => required(block)), ({ batch_nonce }) => required(batch_nonce)],
      (batch) => batchItem(input, batch),
      () => lengthOf(state.batches),
    ),
    valsets: section(
      () => unrelayedValsets(input),
      [({ nonce }) => required(nonce)],
      (valset) => valsetItem(input, valset),
    ),
    claims: section(
      () => pendingClaims(input),
      [({ nonce }) => nonce, ifKnown(({ attestation }) => required(attestation.height))],
      (claim) => claimItem(input, claim),
    ),
    transfers: section(
      () => unbatched(input),
      [({ id }) => required(id)],
      (transfer) => transferItem(input, transfer),
      () => lengthOf(state.unbatched_transfers),
    ),
  };
}

function transferItem(input: BridgeInput, transfer: Transfer): TransferItem {
  const { id, sender, dest_address } = transfer;
  return {
    id: exact(id),
    sender: cutText(() => required(sender).decode()),
    destination: cutText(() => required(dest_address).decode()),
    amount: coinItem(input, transfer, transferred),
    fee: coinItem(input, transfer, fee),
  };
}

function batchItem(input: BridgeInput, batch: Batch): BatchItem {
  const { batch_nonce, token_contract, transactions, block, batch_timeout } = batch;
  return {
    nonce: exact(batch_nonce),
    token: tokenItem(input, token_contract),
    transfers: known(() => lengthOf(transactions)),
    createdHeight: known(() => exact(block)),
    age: hubBlocksSince(input, block),
    timeoutHeight: known(() => exact(batch_timeout)),
    headroom: externalBlocks(input, () => decimal(required(input.state.last_observed_external_height)), batch_timeout),
    projectedHeadroom: externalBlocks(input, () => required(projectedExternalHeight(input)), batch_timeout),
    state: known(() => batchState(input, batch)),
    ...batchSignatures(input, batch),
  };
}

function batchState(input: BridgeInput, batch: Batch): BatchState | undefined {
  if (isExpired(input, batch)) return 'expired';
  const overdue = isOverdue(input, batch);
  return overdue === undefined ? undefined : overdue ? 'overdue' : 'live';
}

function valsetItem(input: BridgeInput, valset: Valset): ValsetItem {
  const deadline = () => deadlineOf(valset, decimal(required(required(input.state.params).signed_valsets_window)));
  return {
    nonce: exact(valset.nonce),
    members: known(() => memberAddresses(valset).size),
    createdHeight: known(() => exact(valset.height)),
    age: hubBlocksSince(input, valset.height),
    deadlineHeight: known(() => toDigits(deadline())),
    headroom: hubBlocksUntil(input, deadline),
    ...valsetSignatures(input, valset),
  };
}

function claimItem(input: BridgeInput, { nonce, attestation }: Event): ClaimItem {
  const voted = known(() => votedAddresses(input, attestation));
  return {
    eventNonce: exact(nonce),
    conflicting: conflictingEvents(input).has(numeralKey(nonce)),
    votes: known(() => voters(attestation).length),
    votedPowerRatio: voted && known(() => ratio(powerOf(newestPowers(input), voted), newestTotal(input))),
    firstVoteHeight: known(() => exact(attestation.height)),
    age: hubBlocksSince(input, attestation.height),
    missing: voted && known(() => missingOf(input, newestValset(input), (address) => voted.has(address))),
  };
}
