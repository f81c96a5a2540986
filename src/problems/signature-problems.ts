import { compare, type Numeral } from '../chain/numeral.js';
import type { Batch, Valset } from '../chain/module-state.js';
import { isValid, type Field } from '../chain/fields.js';
import type { Instant } from '../clock.js';
import { hubBlocksSince, hubBlocksUntil, isLate, timeOfHeight } from '../facts/bridge/block-times.js';
import { valsetDeadline } from '../facts/bridge/members.js';
import type { BridgeInput } from '../facts/bridge/bridge-input.js';
import {
  batchesBelowThreshold,
  batchesByKey,
  batchSignatures,
  isBatchSigned,
  readBatchKey,
  valsetSignatures,
  valsetSignedPower,
} from '../facts/bridge/signatures.js';
import { unrelayedValsets } from '../facts/bridge/valsets.js';
import { required } from '../facts/required-fields.js';
import { percent } from '../text/format.js';
import { DAY_SECONDS } from '../units.js';
import { defineProblem, type Evidence } from './problem.js';
import { amountsText, batchText, clockTime, missingTexts, timeoutText } from './sentence.js';

/* Batches and validator sets that lack signatures. */

const CONTACT_SIGNERS = 'Contact the operators of the validators that have not signed, the most power first.';

/**
 * After a batch has timed out unsigned, the next one continues its problem, because the transfers have to be requested
 * again. If no document had an unsigned batch for longer than this, the batch may have been signed meanwhile.
 */
const REQUEST_SECONDS = 600;

/**
 * `batch` is the oldest unsigned batch, with its timeout. `firstBatch` is the first of the consecutive batches that
 * timed out unsigned before it, and `firstBlock` the block of its creation. `seenAt` is the time of the last document with an
 * unsigned batch.
 */
type UnsignedMark = {
  readonly batch: string;
  readonly timeout: Numeral | null;
  readonly firstBatch: string;
  readonly firstBlock: Numeral | null;
  readonly seenAt: Instant;
} | null;

const validOrNull = (field: Field<Numeral>): Numeral | null => (isValid(field) ? field : null);

function oldestUnsigned(input: BridgeInput): Batch | undefined {
  const unsigned = batchesBelowThreshold(input);
  return unsigned.toSorted((a, b) => compare(required(a.block), required(b.block)))[0];
}

/**
 * A signed batch is progress, and so is a batch that the hub canceled because a later batch of the token was executed.
 * A timeout is no progress: the transfers wait for signatures in the next batch.
 */
function unsignedSince({ input }: Evidence<'module_state'>, before: UnsignedMark | undefined): UnsignedMark {
  const oldest = oldestUnsigned(input);
  const now = input.at;
  const current = oldest && {
    batch: readBatchKey(oldest),
    timeout: validOrNull(oldest.batch_timeout),
    seenAt: now,
  };
  const anew = current ? { ...current, firstBatch: current.batch, firstBlock: validOrNull(oldest.block) } : null;
  if (before === undefined || before === null) return anew;
  const [earlier] = batchesByKey(input).get(before.batch) ?? [];
  if (earlier !== undefined) return isBatchSigned(input, earlier) === true ? anew : { ...before, seenAt: now };
  const externalHeight = validOrNull(input.state.last_observed_external_height);
  const hasTimedOut = before.timeout !== null && externalHeight !== null && before.timeout < externalHeight;
  return hasTimedOut && now - before.seenAt <= REQUEST_SECONDS ? { ...before, ...current } : anew;
}

const batchUnsigned = defineProblem('module_state', {
  name: 'BridgeBatchUnsigned',
  severity: 'critical',
  afterMinutes: 30,
  description: 'Validators with less power than `power_threshold` have signed the oldest unsigned batch.',
  action: CONTACT_SIGNERS,
  mark: { isDebounced: true, next: unsignedSince },
  find: ({ input }, mark: UnsignedMark | undefined) => {
    const oldest = oldestUnsigned(input);
    if (oldest === undefined) return undefined;
    const unsigned = batchesBelowThreshold(input);
    const missing = missingTexts(batchSignatures(input, oldest).missing, 'signed');
    return {
      progressKey: mark?.firstBatch ?? '',
      start: timeOfHeight(input, () => required(mark?.firstBlock ?? undefined)),
      summary: missing.summary(`${batchText(input, oldest)} lacks signatures`),
      details: [
        missing.details('signed it'),
        unsigned.length > 1 ? `${unsigned.length} batches in all` : '',
        timeoutText(input, oldest),
        amountsText(input, unsigned),
      ],
      action: missing.action(CONTACT_SIGNERS),
    };
  },
  // Batches that are built meanwhile cannot be relayed either.
  inhibits: [
    { problem: 'BridgeOrchestratorMissingConfirms', exceptWatched: true },
    { problem: 'BridgeBacklogStuck' },
    { problem: 'BridgeBacklogHigh' },
  ],
});

const CONTACT_SIGNERS_OF_SET =
  'Contact the operators of the validators that have not signed. Until they sign, the contract keeps an older validator set.';

/**
 * The unsigned validator sets that are newer than every signed set, newest first. The problem has lasted since the last
 * one in this list, the oldest.
 */
function newestUnsigned(input: BridgeInput): readonly Valset[] {
  const newestFirst = unrelayedValsets(input).toSorted((a, b) => compare(required(b.nonce), required(a.nonce)));
  const signed = newestFirst.findIndex((valset) => {
    const power = valsetSignedPower(input, valset);
    return power?.isBelowThreshold !== true;
  });
  return signed === -1 ? newestFirst : newestFirst.slice(0, signed);
}

const valsetUnsigned = defineProblem('module_state', {
  name: 'BridgeValsetUnsigned',
  severity: 'warning',
  afterMinutes: 60,
  description:
    'Validators with less power than `power_threshold` have signed the newest validator set. BridgeOrchestratorDeadlineNear covers jailing.',
  action: CONTACT_SIGNERS_OF_SET,
  find: ({ input }) => {
    const unsigned = newestUnsigned(input);
    const [newest] = unsigned;
    if (newest === undefined) return undefined;
    // Signatures of a set that is seconds old say nothing about the signers.
    const judged = unsigned.find(({ height }) => isLate(hubBlocksSince(input, height))) ?? newest;
    const signatures = valsetSignatures(input, judged);
    // Without the power of the missing, a share of this set: the signed power is a share of the set in the contract.
    const missing = missingTexts(signatures.missing && { ...signatures.missing, powerRatio: null }, 'signed');
    const left = hubBlocksUntil(input, () => valsetDeadline(input, judged))?.seconds ?? Infinity;
    const what = judged === newest ? 'it' : `set ${required(judged.nonce)}, the newest older than five minutes`;
    return {
      start: timeOfHeight(input, () => required(unsigned.at(-1)?.height)),
      summary: missing.summary('the newest validator set lacks signatures'),
      details: [
        unsigned.length > 1 ? `${unsigned.length} sets in a row were not signed in time` : '',
        `${percent(signatures.signedPowerRatio ?? 0)} of the power in the contract has signed ${what}`,
        missing.details('signed it'),
        left > 0 && left < DAY_SECONDS
          ? `a validator that has not signed it by ${clockTime(input, left)} is jailed`
          : '',
      ],
      action: missing.action(CONTACT_SIGNERS_OF_SET),
    };
  },
});

export const signatureProblems = [batchUnsigned, valsetUnsigned];
