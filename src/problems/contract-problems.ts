import { add, subtract, type Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import { thresholdOfContract } from '../facts/contract/reading.js';
import { required, withdrawWithout } from '../facts/required-fields.js';
import { contractAnswers } from '../queries/contract-queries.js';
import { count } from '../text/format.js';
import { DAY_SECONDS, HOUR_SECONDS } from '../units.js';
import { COMPARE_VALSETS } from './oracle-problems.js';
import { change, IDENTITY_HOURS } from './params.js';
import { findEntry } from './marks.js';
import {
  defineProblem,
  type Evidence,
  OTHERS_NOT_SHOWN,
  OTHERS_UNJUDGED,
  type Finding,
  HIDDEN_WITHOUT_RELAYS,
} from './problem.js';
import { shortAddress } from './sentence.js';

/* The contract on the external chain, with `external`. */

/** The largest shortfall of each token, and the time of its last growth. */
type ShortfallMark = Readonly<Record<string, { readonly amount: Numeral; readonly grewAt: Instant }>>;

/**
 * The tokens. A surplus is unknown unless an answer about the token has come since the last document; `undefined` if
 * there is no new answer about any token.
 */
function newBacking({ input: { backing, contract: bridge }, newAnswers }: Evidence<'external_contract'>) {
  const answered = contractAnswers(newAnswers, bridge).backing.map(({ contract }) => contract);
  if (answered.length === 0 && backing.length > 0) return undefined;
  return backing.map((token) => (answered.includes(token.contract) ? token : { ...token, surplus: undefined }));
}

const unbacked = defineProblem('external_contract', {
  name: 'BridgeTokenUnbacked',
  severity: 'critical',
  // Without a tolerance: the sides are read at nearly the same time, so that the contract has every deposit that the
  // hub has observed (docs/external-contract.md). Ten minutes are two readings.
  afterMinutes: 10,
  description:
    'The contract holds less of a token than the hub has in supply and outstanding transfers. The shortfall is new or has grown within a day.',
  action:
    'Compare the last deposits and executed batches of the token on both chains. Unless they explain the shortfall, alert the owner of the contract, who can pause it, and the other validators.',
  mark: {
    isDebounced: true,
    next: (evidence, before: ShortfallMark | undefined): ShortfallMark =>
      Object.fromEntries(
        required(newBacking(evidence)).flatMap(({ contract, surplus }) => {
          const last = findEntry(before, contract);
          if (surplus === undefined) return last === undefined ? [] : [[contract, last]];
          if (surplus >= 0n) return [];
          const amount = -surplus;
          const isLarger = last === undefined || amount > last.amount;
          return [[contract, isLarger ? { amount, grewAt: evidence.input.at } : last]];
        }),
      ),
  },
  find: (evidence, mark) => {
    const { balances, backing: known, at } = evidence.input;
    // Without any answer of the hub, nothing is judged.
    withdrawWithout(known[0]);
    const backing = newBacking(evidence);
    if (backing === undefined) return OTHERS_NOT_SHOWN;
    const found = backing.map(({ contract, surplus }): Finding => {
      const subject = { token_contract: contract };
      if (surplus === undefined) return { notShown: subject };
      const shortfall = findEntry(mark, contract);
      if (shortfall === undefined || at - shortfall.grewAt > DAY_SECONDS) return undefined;
      return {
        subject,
        summary: `the contract holds less of ${shortAddress(contract)} than the hub owes`,
        details: [`${-surplus} smallest units are missing`],
      };
    });
    return backing.length < balances.length ? [...found, OTHERS_NOT_SHOWN] : found;
  },
});

const valsetNewer = defineProblem('external_contract', {
  name: 'BridgeContractValsetMismatch',
  severity: 'critical',
  afterMinutes: 5,
  dashboard: 'bridge-validator',
  // Unknown unless the hub block, the external block and the clock are within two minutes, so a hub node that is behind
  // does not cause it.
  description: 'The validator set in the contract is newer than every validator set of the hub.',
  action: COMPARE_VALSETS,
  find: ({ input: { isValsetUnknown, lastValsetNonce, isHubTimeKnown } }) => {
    withdrawWithout(lastValsetNonce);
    if (isValsetUnknown === undefined) return isHubTimeKnown ? OTHERS_NOT_SHOWN : OTHERS_UNJUDGED;
    const summary = 'the validator set in the contract is newer than every set of the hub';
    return isValsetUnknown ? { subject: { kind: 'valset_newer' }, summary } : undefined;
  },
});

const ownerChanged = change('external_contract', {
  name: 'BridgeContractOwnerChanged',
  severity: 'critical',
  hours: IDENTITY_HOURS,
  summary: 'the owner or the implementation of the contract changed',
  description: `The owner or the implementation of the contract changed within the last ${IDENTITY_HOURS} hours.`,
  action: 'Check that the change was announced. If not, alert the validators: new code can take all funds.',
  readValues: ({ owner, implementation }) => ({ owner: required(owner), implementation: required(implementation) }),
});

const paused = defineProblem('external_contract', {
  name: 'BridgeContractPaused',
  severity: 'critical',
  // A pause is always by hand. Two readings exclude that it is an answer of a faulty node.
  afterMinutes: 2,
  description: 'The contract is paused: live batches can neither be executed nor canceled.',
  action:
    'Find out who paused the contract and why. Do not ask relayers to act: every transaction to the contract fails.',
  find: ({ input }) => (required(input.paused) ? { summary: 'the contract is paused' } : undefined),
  inhibits: [
    { problem: 'BridgeBatchNotRelayed' },
    { problem: 'BridgeBatchTimeoutNear' },
    { problem: 'BridgeBatchOverdue' },
    ...HIDDEN_WITHOUT_RELAYS,
  ],
});

/** The last event nonces of the contract with their times, to date the first event that waits. */
type EventMark = readonly { readonly at: Instant; readonly nonce: Numeral; readonly waiting: Numeral }[];

const SILENT_SECONDS = HOUR_SECONDS;
const POINT_SECONDS = 300;
/** The limit is reached for an event of an older point, so that its exact time does not matter. */
const KEPT_SECONDS = 2 * SILENT_SECONDS;

const oracleSilentByContract = defineProblem('external_contract', {
  name: 'BridgeOracleSilent',
  severity: 'critical',
  afterMinutes: SILENT_SECONDS / 60 + 5,
  dashboard: 'bridge-validator',
  // Events are observed within minutes, so neither a busy bridge nor one that catches up causes it. A claim by a few
  // does not matter: the event exists, so the other validators are behind.
  description: 'The hub has not observed events of the contract for an hour, and their number does not decrease.',
  action:
    'Too few orchestrators claim the events. Check the log of your own orchestrator and its node of the external chain first, then tell the other operators.',
  mark: {
    next: ({ input: { lastEventNonce, unobservedEvents, at } }, before: EventMark = []): EventMark => {
      const nonce = required(lastEventNonce);
      const waiting = required(unobservedEvents);
      const newest = before.at(-1);
      if (newest !== undefined && at - newest.at < POINT_SECONDS) return before;
      return [...before.filter((point) => at - point.at <= KEPT_SECONDS), { at, nonce, waiting }];
    },
  },
  find: ({ input: { lastEventNonce, unobservedEvents: waiting, isHubTimeKnown } }, mark) => {
    const nonce = required(lastEventNonce);
    // Unknown while the hub node may be behind.
    if (waiting === undefined) return isHubTimeKnown ? OTHERS_NOT_SHOWN : OTHERS_UNJUDGED;
    if (waiting === 0n) return undefined;
    const observed = subtract(nonce, waiting);
    // The first reading of the contract with the oldest event that the hub has not observed.
    const since = mark?.find((point) => point.nonce > observed);
    if (since === undefined || waiting < since.waiting) return undefined;
    return {
      progressKey: String(add(observed, 1n)),
      start: since.at,
      summary: `the hub does not observe event ${add(observed, 1n)} of the contract`,
      details: [`the hub has not observed ${count(Number(waiting), 'event')} of the contract`],
    };
  },
  inhibits: [
    { problem: 'BridgeBatchNotRelayed' },
    { problem: 'BridgeBatchOverdue' },
    ...HIDDEN_WITHOUT_RELAYS,
    { problem: 'BridgeOracleStalled', severity: 'warning' },
  ],
});

/** The contract rounds the threshold, and requires a little more. */
const ROUNDING_RATIO = 0.0001;

const thresholdTooLow = defineProblem('external_contract', {
  name: 'BridgePowerThresholdTooLow',
  severity: 'warning',
  afterMinutes: 10,
  // A lower threshold is no reason to lower power_threshold: relayers ask for 66 % anyway.
  description: 'The contract requires more power than `power_threshold`.',
  action: 'Set power_threshold of the target to the threshold of the contract.',
  find: ({ input }) => {
    const needed = required(thresholdOfContract(input));
    if (needed <= Number(required(input.configuredThreshold)) + ROUNDING_RATIO) return undefined;
    return { summary: `the contract requires ${(needed * 100).toFixed(1)} % of the power, more than power_threshold` };
  },
});

export const contractProblems = [paused, unbacked, valsetNewer, ownerChanged, oracleSilentByContract, thresholdTooLow];
