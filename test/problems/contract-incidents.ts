import { changedState } from './recording.js';
import type { ModuleState } from '../../src/simulator/responses.js';
import { HEALTHY, healthy, incident, type Incident } from './incident.js';

/* Incidents of the contract on the external chain, with the healthy cases that look like them. */

const OTHER_OWNER = `0x${'0d'.repeat(20)}`;

let lastState: ModuleState | undefined;

/** The state stays what it is at the beginning, but for the height and the validator sets: users wait for their withdrawals, too. */
const withoutNewEvents = changedState((state) => {
  lastState ??= state;
  const { valsets, valset_confirms } = state;
  return { ...lastState, valsets, valset_confirms };
});

const ofContract: readonly Incident[] = [
  healthy('the contract is read and nothing happens', { minutes: 60 }),
  healthy('the contract of a main network is read for an hour', { minutes: 60 }, { options: { scenario: 'mainnet' } }),
  incident(
    'the contract is paused',
    { minutes: 30, contract: { contract: () => ({ paused: true }) } },
    { 'BridgeContractPaused/critical': 4 },
  ),
  incident(
    'the contract gets another owner',
    [HEALTHY, { minutes: 120, contract: { contract: () => ({ owner: OTHER_OWNER }) } }],
    { 'BridgeContractOwnerChanged/critical': 61 },
    { isOngoingAtEnd: true },
  ),
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
    { 'BridgeTokenUnbacked/critical': 16 },
  ),
  incident(
    'the contract has a validator set that the hub did not make',
    { minutes: 30, contract: { contract: ({ valsetNonce }) => ({ valsetNonce: valsetNonce + 1_000_000 }) } },
    { 'BridgeContractValsetMismatch/critical': 7 },
  ),
  incident(
    'the contract requires more power than power_threshold',
    { minutes: 90, contract: { contract: () => ({ powerThreshold: 3_221_225_471n }) } },
    { 'BridgePowerThresholdTooLow/warning': 75 },
    { isOngoingAtEnd: true },
  ),
  incident(
    'the node of the external chain is half an hour behind',
    { minutes: 40, contract: { lagSeconds: 1800 } },
    { 'BridgeNodeBehind/warning': 12 },
  ),
  incident(
    'the node of the hub is hours behind, and the contract is not compared with it',
    [HEALTHY, { minutes: 90, scenario: 'syncing' }, { minutes: 40, scenario: 'healthy' }],
    { 'BridgeNodeBehind/warning': 14, 'BridgeNodeBehind/critical': 64 },
  ),
  incident(
    'the node of the external chain fails, and nothing else is affected',
    { minutes: 40, contract: { fails: 'rate_limited' } },
    { 'BridgeEndpointDown/warning': 5 },
  ),
  incident(
    'no orchestrator reads the external chain',
    { minutes: 150, bridge: withoutNewEvents },
    { 'BridgeOracleSilent/critical': 110 },
    { options: { scenario: 'quiet' } },
  ),
];

export const contractIncidents = ofContract.map((one): Incident => ({
  ...one,
  options: { contract: true, ...one.options },
}));
