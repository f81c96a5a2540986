import { changedState, type Phase } from './recording.js';
import type { ModuleState } from '../../src/simulator/responses.js';
import type { Incident } from './incidents.js';

/* Incidents of the contract on the external chain, with the healthy cases that look like them. */

const HEALTHY_MINUTES = 20;

type Details = Omit<Incident, 'title' | 'phases' | 'beginsAtMinute'>;

/** A healthy phase, the incident, and a recovery that is longer than `keep_firing_for`. */
function incident(title: string, phase: Phase, { options, ...details }: Details): Incident {
  const phases = [{ minutes: HEALTHY_MINUTES }, phase, { minutes: 40 }];
  return { title, phases, beginsAtMinute: HEALTHY_MINUTES, options: { contract: true, ...options }, ...details };
}

const OTHER_OWNER = `0x${'0d'.repeat(20)}`;

let lastState: ModuleState | undefined;

/** The state stays what it is at the beginning, but for the height and the validator sets: users wait for their withdrawals, too. */
const withoutNewEvents = changedState((state) => {
  lastState ??= state;
  const { valsets, valset_confirms } = state;
  return { ...lastState, valsets, valset_confirms };
});

/** As above, and one validator claims the next event. */
const withOneClaim = changedState((state) => {
  lastState ??= state;
  const { valsets, valset_confirms } = state;
  const { last_observed_nonce: nonce, attestations } = lastState;
  const observed = attestations.filter((attestation) => attestation.observed);
  const next = {
    observed: false,
    height: observed[0]?.height,
    votes: observed[0]?.votes.slice(0, 1),
    claim: { '@type': '/bridge.v1.MsgDepositClaim', event_nonce: String(Number(nonce) + 1) },
  };
  return { ...lastState, valsets, valset_confirms, attestations: [...observed, next] };
});

export const contractIncidents: readonly Incident[] = [
  incident('the contract is read and nothing happens', { minutes: 60 }, { expectedAlerts: {} }),
  {
    ...incident(
      'the contract of a main network is read for an hour',
      { minutes: 60 },
      { options: { scenario: 'mainnet' }, expectedAlerts: {} },
    ),
    beginsAtMinute: 0,
    isOngoingAtEnd: true,
  },
  incident(
    'the contract is paused',
    { minutes: 30, contract: { contract: () => ({ paused: true }) } },
    { expectedAlerts: { 'BridgeContractPaused/critical': 4 } },
  ),
  {
    ...incident(
      'the contract gets another owner',
      { minutes: 60, contract: { contract: () => ({ owner: OTHER_OWNER }) } },
      { expectedAlerts: { 'BridgeContractOwnerChanged/critical': 61 }, isOngoingAtEnd: true },
    ),
    phases: [{ minutes: HEALTHY_MINUTES }, { minutes: 120, contract: { contract: () => ({ owner: OTHER_OWNER }) } }],
  },
  {
    ...incident(
      'the contract gets another implementation',
      { minutes: 60 },
      { expectedAlerts: { 'BridgeContractOwnerChanged/critical': 61 }, isOngoingAtEnd: true },
    ),
    phases: [
      { minutes: HEALTHY_MINUTES },
      { minutes: 120, contract: { contract: () => ({ implementation: OTHER_OWNER }) } },
    ],
  },
  incident(
    'tokens are taken out of the contract',
    {
      minutes: 60,
      contract: {
        contract: ({ balances }) => ({
          balances: new Map(Array.from(balances, ([token, balance]) => [token, balance / 2n])),
        }),
      },
    },
    { expectedAlerts: { 'BridgeTokenUnbacked/critical': 16 } },
  ),
  incident(
    'tokens are minted without a deposit',
    { minutes: 60, contract: { supply: (supply) => supply + 10n ** 30n } },
    { expectedAlerts: { 'BridgeTokenUnbacked/critical': 16 } },
  ),
  incident(
    'the contract has a validator set that the hub did not make',
    { minutes: 30, contract: { contract: ({ valsetNonce }) => ({ valsetNonce: valsetNonce + 1_000_000 }) } },
    { expectedAlerts: { 'BridgeContractValsetMismatch/critical': 7 } },
  ),
  incident(
    'the contract requires more power than power_threshold',
    { minutes: 90, contract: { contract: () => ({ powerThreshold: 3_221_225_471n }) } },
    { expectedAlerts: { 'BridgePowerThresholdTooLow/warning': 75 }, isOngoingAtEnd: true },
  ),
  incident(
    'the node of the external chain is half an hour behind',
    { minutes: 40, contract: { lagSeconds: 1800 } },
    { expectedAlerts: { 'BridgeNodeBehind/warning': 12 } },
  ),
  {
    ...incident(
      'the node of the hub is hours behind, and the contract is not compared with it',
      { minutes: 90, scenario: 'syncing' },
      { expectedAlerts: { 'BridgeNodeBehind/warning': 14 } },
    ),
    phases: [{ minutes: HEALTHY_MINUTES }, { minutes: 90, scenario: 'syncing' }, { minutes: 40, scenario: 'healthy' }],
  },
  incident(
    'the node of the external chain is one of another chain',
    { minutes: 40, contract: { fails: 'schema' } },
    { expectedAlerts: { 'BridgeEndpointDown/warning': 5, 'BridgeSnapshotStale/warning': 17 } },
  ),
  incident(
    'the node of the external chain fails, and nothing else is affected',
    { minutes: 40, contract: { fails: 'rate_limited' } },
    { expectedAlerts: { 'BridgeEndpointDown/warning': 5, 'BridgeSnapshotStale/warning': 17 } },
  ),
  incident(
    'no orchestrator reads the external chain',
    { minutes: 150, bridge: withoutNewEvents },
    { options: { scenario: 'quiet' }, expectedAlerts: { 'BridgeOracleSilent/critical': 110 } },
  ),
  incident(
    'one orchestrator reads the external chain, and claims the next event',
    { minutes: 150, bridge: withOneClaim },
    {
      options: { scenario: 'quiet' },
      expectedAlerts: { 'BridgeOracleSilent/critical': 110, 'BridgeOracleStalled/warning': 80 },
    },
  ),
];
