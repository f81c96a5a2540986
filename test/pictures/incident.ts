import type { RecordedTarget } from '../dashboards/recorded-prometheus.js';
import { changedState } from '../problems/recording.js';

/*
 * The incident on the picture of the dashboard. On the bridge, two validators fall silent, one of them watched, and later most others do not sign
 * the batches of one token. On the hub, transactions are missed, and later a chain stands still. The node of a third target fails in the end.
 */
/** Half a day, so that the deadlines of batches come near. */
const bridge = changedState((state) => ({ params: { ...state.params, signed_batches_window: '2400' } }));

export const incident: readonly RecordedTarget[] = [
  {
    name: 'injective',
    documents: ['module_state'],
    phases: [
      { minutes: 180, bridge },
      { minutes: 75, bridge, scenario: 'silent-signer' },
      { minutes: 125, bridge, scenario: 'unsigned-batch' },
    ],
    options: { valsets: 30 },
  },
  {
    name: 'zetachain',
    documents: ['rate_limiter_input'],
    phases: [{ minutes: 200 }, { minutes: 90, scenario: 'missed-cctxs' }, { minutes: 90, scenario: 'stuck-chain' }],
    options: { seed: 3 },
  },
  {
    name: 'testnet',
    phases: [{ minutes: 366 }, { minutes: 14, bridge: { fails: 'status' } }],
    options: { seed: 5 },
  },
];
