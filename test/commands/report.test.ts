import { describe, expect, it } from 'vitest';
import { summarize, type Summary } from '../../src/commands/report.js';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import { instantAt, record } from '../alerts/recording.js';

/** What `once` says of a chain on which the scenario has lasted for some minutes: no poll came before. */
function summaryOf(scenario: ScenarioName, minutes: number): Summary {
  const phases = [{ minutes: 10, exporterDown: true }, { minutes, scenario, exporterDown: true }, { minutes: 1 }];
  const { judged: endpoints } = record(phases, { valsets: 12 });
  return summarize(endpoints, instantAt((10 + minutes) * 60), { failOn: 'warning' });
}

const shortened = ({ lines, failure }: Summary): string[] =>
  [...lines, failure === undefined ? 'exit 0' : 'exit 3'].map((line) => /^[^;,]*/.exec(line)?.[0] ?? '');

describe('the summary of one poll', () => {
  it('proves by their heights that batches have timed out', () => {
    expect(shortened(summaryOf('batch-timeout', 50))).toEqual([
      'demo: critical: transfers have been locked for 37 min in 3 batches past the timeout at the estimated external height',
      'demo: not judged by one poll: BridgeBacklogStuck (critical)',
      'exit 3',
    ]);
  });

  it('proves what the times of the documents prove, without what that inhibits', () => {
    expect(shortened(summaryOf('stuck', 65))).toEqual([
      'demo: critical: no event observed for 65 min',
      'demo: critical: no batch built for at least 66 min: 1.44M hub (301 transfers)',
      'demo: warning: transactions on 5 chains have waited longer than the age limit of their chain: ethereum (1) for 71 min',
      'demo: warning: the number of pending cross-chain transactions has been above 200 for at least 33 min',
      'demo: not judged by one poll: BridgeBacklogStuck (critical)',
      'exit 3',
    ]);
  });

  it('proves that nothing was executed since the last event', () => {
    expect(shortened(summaryOf('no-relayer', 250))).toEqual([
      'demo: critical: no signed batch has been executed for at least 4 h 8 min',
      'demo: critical: no batch built for at least 3 h 53 min: 452K hub (93 transfers)',
      'demo: not judged by one poll: BridgeBacklogStuck (critical)',
      'exit 3',
    ]);
  });

  it('proves by the creation of its cctxs that a chain is frozen', () => {
    expect(shortened(summaryOf('missed-cctxs', 130))).toEqual([
      'demo: critical: missed transactions stop 5 chains: ethereum (1) is frozen behind nonce 40863',
      'demo: warning: the number of pending cross-chain transactions has been above 200 for at least 38 min',
      'demo: not judged by one poll: BridgeBacklogStuck (critical)',
      'exit 3',
    ]);
  });

  it('proves by the age of its oldest transaction that a chain does not finish it, and names what it cannot judge', () => {
    expect(shortened(summaryOf('stuck-chain', 55))).toEqual([
      'demo: warning: a transaction on chain bsc (56) has waited for 57 min',
      'demo: not judged by one poll: BridgeBacklogStuck (critical)',
      'exit 3',
    ]);
  });

  it('proves by the oldest unsigned validator set that an own validator has not signed for an hour', () => {
    expect(shortened(summaryOf('silent-signer', 90))).toEqual([
      'demo: warning: signatures of 1 validator with 5 % of the power have been missing for 78 min',
      'demo: not judged by one poll: BridgeBacklogStuck (critical)',
      'exit 3',
    ]);
  });

  it('proves nothing about a healthy bridge', () => {
    expect(shortened(summaryOf('healthy', 20))).toEqual([
      'demo: not judged by one poll: BridgeBacklogStuck (critical)',
      'exit 0',
    ]);
  });
});
