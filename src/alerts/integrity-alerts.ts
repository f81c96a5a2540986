import { count, percent } from '../text/format.js';
import { dataAlert } from './alert.js';
import { ON_TARGET } from './promql.js';
import { SUBSTANTIAL_POWER_RATIO } from './oracle-alerts.js';
import {
  bridgeItemsOf,
  claimText,
  listedRows,
  membersOf,
  numberAndPower,
  validators,
  withDetails,
} from './sentences.js';
import { valuesWithin } from './poll-history.js';
import { labelOf } from './samples.js';
import { type DatedFindings, type Finding, type PollView } from './view.js';

/*
 * Alerts on what only an attack, a forged signature, a bug or a restored old state explains. They fire with the first document: one
 * document is consistent in itself.
 */

const DAY_MINUTES = 24 * 60;

type IntegrityFamily = 'bridge_integrity_violations' | 'bridge_integrity_violation_power_ratio';

type Kind = 'valset_mismatch' | 'valset_unknown' | 'valset_claim_mismatch' | 'withdraw_claim_without_batch';

/** The violations of a kind, if there are any. */
function violations({ samples }: PollView<IntegrityFamily>, kind: Kind): readonly Finding[] {
  return samples
    .series('bridge_integrity_violations')
    .filter(({ labels, value }) => labels['kind'] === kind && value > 0)
    .map(({ value }) => ({ labels: { kind }, value }));
}

/** The claims of a kind by at least, or by less than, a third of the power; the value is the power. */
function claimsByPower(kind: Kind, isSubstantial: boolean) {
  return (view: PollView<IntegrityFamily>): readonly Finding[] =>
    violations(view, kind).length === 0
      ? []
      : view.samples
          .series('bridge_integrity_violation_power_ratio')
          .filter(({ labels, value }) => labels['kind'] === kind && value >= SUBSTANTIAL_POWER_RATIO === isSubstantial)
          .map(({ value }) => ({ labels: { kind }, value }));
}

function claimsExpr(kind: Kind, isSubstantial: boolean): string {
  return `bridge_integrity_violation_power_ratio{kind="${kind}"} ${isSubstantial ? '>=' : '<'} ${SUBSTANTIAL_POWER_RATIO}
and ${ON_TARGET} bridge_integrity_violations{kind="${kind}"} > 0`;
}

/** Whether the set in the contract became unknown within a day, as far as this process observed it. */
function becameUnknown(view: PollView<IntegrityFamily>): boolean {
  const labels = { kind: 'valset_unknown' };
  return valuesWithin(view, 'bridge_integrity_violations', labels, DAY_MINUTES).includes(0);
}

const UNKNOWN = 'bridge_integrity_violations{kind="valset_unknown"}';

/** Who made the claims of these kinds. */
function accused({ all }: DatedFindings, view: Pick<PollView, 'items'>): string {
  const kinds = new Set(all.map(({ labels }) => labelOf(labels, 'kind')));
  const claims = listedRows(bridgeItemsOf(view)?.claims).filter(
    ({ violation }) => violation !== null && kinds.has(violation),
  );
  return claims
    .map((claim) => {
      const { voted } = claim;
      if (voted === null) return claimText(claim);
      const who = validators(membersOf(voted), voted.total);
      const names = who === '' ? '' : `: ${who}`;
      return `${claimText(claim)} is claimed by ${numberAndPower(voted.total, voted.powerRatio)}${names}`;
    })
    .join('; ');
}

/** Asking others to vote for such a claim would do the harm. */
const INHIBITS_VOTES = [
  { alert: 'BridgeOracleStalled' },
  { alert: 'BridgeOrchestratorMissingVotes' },
  { alert: 'BridgeWatchedOrchestratorLagging' },
];

export const COMPARE_VALSETS =
  'Save the document, compare it with a second node, and with the validator set update on the external chain. If it is confirmed, alert the other validators and the owner of the contract, who can pause it.';

const KEEP_HALT =
  'Save the document and look up the batch on the external chain and on a second node. If it was executed there, alert the other validators and the developers before 66 % have voted: the hub halts then. If not, nobody else may vote for it, and the voters repair their nodes.';

function contractValsetMismatch(
  severity: 'critical' | 'warning',
  alert: {
    readonly description: string;
    readonly expr: string;
    readonly find: (view: PollView<IntegrityFamily>) => readonly Finding[];
    readonly summary: string;
    readonly forMinutes?: number;
  },
) {
  return dataAlert('module_state', {
    name: 'BridgeContractValsetMismatch',
    severity,
    dashboard: 'bridge-signers',
    families: ['bridge_integrity_violations', 'bridge_integrity_violation_power_ratio'],
    ...alert,
    action: COMPARE_VALSETS,
    inhibits: severity === 'critical' ? INHIBITS_VOTES : [],
    sentence: (findings, view) => {
      const kinds = new Set(findings.all.map(({ labels }) => labelOf(labels, 'kind')));
      const [fact = '', ...details] = [
        kinds.has('valset_mismatch')
          ? ['the validator set in the contract differs from the one of the hub with its nonce']
          : [],
        kinds.has('valset_unknown') ? ['the hub does not know the validator set in the contract'] : [],
        kinds.has('valset_claim_mismatch')
          ? ['a validator set that the hub does not have is claimed to be in the contract', accused(findings, view)]
          : [],
      ].flat();
      return withDetails(fact, ...details);
    },
  });
}

function claimWithoutBatch(
  severity: 'critical' | 'warning',
  isSubstantial: boolean,
  alert: { readonly description: string; readonly forMinutes?: number },
) {
  const kind = 'withdraw_claim_without_batch';
  return dataAlert('module_state', {
    name: 'BridgeClaimWithoutBatch',
    severity,
    dashboard: 'bridge-signers',
    families: ['bridge_integrity_violations', 'bridge_integrity_violation_power_ratio'],
    ...alert,
    summary: '{{ $value | humanizePercentage }} of the power claim a batch that the hub does not have.',
    expr: claimsExpr(kind, isSubstantial),
    find: claimsByPower(kind, isSubstantial),
    action: KEEP_HALT,
    inhibits: severity === 'critical' ? INHIBITS_VOTES : [],
    sentence: (findings, view) => {
      const [claims] = violations(view, kind);
      const power = `${percent(Math.max(...findings.all.map(({ value }) => value)))} of the power`;
      return withDetails(
        `${count(claims?.value ?? 0, 'claim')} with up to ${power} that a batch was executed which the hub does not have`,
        'the hub halts at 66 %',
        accused(findings, view),
      );
    },
  });
}

export const integrityAlerts = [
  contractValsetMismatch('critical', {
    description:
      'The validator set in the contract is not the one that the hub made, the hub has not known it for less than a day, or a third of the power claims such a set. Whoever controls that set controls all funds; this can be a theft in progress.',
    // A set that became unknown fires for a day. After that it can be an old state of the node.
    expr: `bridge_integrity_violations{kind="valset_mismatch"} > 0
or (
  ${claimsExpr('valset_claim_mismatch', true).replaceAll('\n', '\n  ')}
)
or (
  ${UNKNOWN} > 0
  and ${ON_TARGET} min_over_time(${UNKNOWN}[1d]) == 0
)`,
    find: (view) => [
      ...violations(view, 'valset_mismatch'),
      ...claimsByPower('valset_claim_mismatch', true)(view),
      ...(becameUnknown(view) ? violations(view, 'valset_unknown') : []),
    ],
    summary: 'the validator set in the contract is not the one of the hub ({{ $labels.kind }}).',
  }),
  claimWithoutBatch('critical', true, {
    description:
      'A third of the power or more claims that a batch was executed which the hub does not have. At 66 % of the power, the hub halts.',
  }),
  contractValsetMismatch('warning', {
    description:
      'Less than a third of the power claims a validator set in the contract that the hub did not make: a faulty or lying validator, as long as no others follow.',
    expr: claimsExpr('valset_claim_mismatch', false),
    find: claimsByPower('valset_claim_mismatch', false),
    forMinutes: 5,
    summary: '{{ $value | humanizePercentage }} of the power claim a validator set that the hub did not make.',
  }),
  claimWithoutBatch('warning', false, {
    description:
      'Less than a third of the power claims that a batch was executed which the hub does not have: a faulty or lying validator, as long as no others follow.',
    forMinutes: 5,
  }),
];
