import { describe, expect, it } from 'vitest';
import { idleState, vote } from '../items/bridge-state.js';
import { between, pendingAt, polledSnapshots, judgeTarget, textOf, problem } from './sample-snapshots.js';

const claim = (nonce: number, votes: readonly number[], content: object) => ({
  observed: false,
  height: '950',
  votes: votes.map(vote),
  claim: { event_nonce: `${nonce}`, block_height: '812', ...content },
});

const deposit = (amount: string) => ({
  '@type': '/injective.peggy.v1.MsgDepositClaim',
  token_contract: '0xUSDT',
  amount,
  cosmos_receiver: 'hub1receiver',
});

function claimsOf(...claims: readonly object[]): string {
  const attestations = [...idleState.attestations, ...claims];
  const text = textOf(pendingAt(polledSnapshots({ ...idleState, attestations }), 1));
  return between(text, 'Claims of pending events', 'Transfers');
}

describe('the claims of pending events', () => {
  it('say what is in dispute, who voted for what, and who did not', () => {
    const text = claimsOf(claim(8, [0, 1], deposit('2500000')), claim(8, [2], deposit('9500000')));
    const contradiction = 'conflict: validators voted for different claims of this event';
    expect(text).toContain(`\ndeposit of USDT, external height 812\n2.5 USDT\nhub1receiver\n${contradiction}\n`);
    expect(text).toContain('\ndeposit of USDT, external height 812\n9.5 USDT\n');
    expect(text).toMatch(/2 have not voted for it: .*hub1ryyyyyyyyyy/);
    expect(text).toMatch(/3 have not voted for it: .*hub1ryyyyyyyyyy/);
  });

  it('of the event that blocks the others are open while an alert fires, the rest on demand', () => {
    const parts = (claims: readonly object[], alert: string) => {
      const attestations = [...idleState.attestations, ...claims];
      const problems = [judgeTarget([problem(alert, 'critical', 20)])];
      const html = pendingAt(polledSnapshots({ ...idleState, attestations }), 1, {}, { problems });
      const [, section = ''] = /<section id="claims"([^]*?)<\/section>/.exec(html) ?? [];
      const [open = '', folded = ''] = section.split('<details id="claims/rows">');
      const events = (text: string) =>
        Array.from(text.matchAll(/<tr role="row" id="claims\/(\d+)/g), ([, event]) => event);
      return [events(open), events(folded)];
    };
    const claims = [8, 9, 10, 11, 12, 13, 14, 15, 16].map((nonce) => claim(nonce, [0], deposit('1')));
    expect(parts(claims, 'BridgeOracleStalled')).toEqual([['8'], ['9', '10', '11', '12', '13', '14', '15', '16']]);
    const conflict = [...claims, claim(10, [1], deposit('2'))];
    expect(parts(conflict, 'BridgeConflictingClaims')).toEqual([
      ['10', '10'],
      ['8', '9', '11', '12', '13', '14', '15', '16'],
    ]);
    expect(parts(claims.slice(7), 'BridgeOracleStalled'), 'a short list').toEqual([['15', '16'], []]);
  });

  it('name the batch or the validator set that is claimed', () => {
    const text = claimsOf(
      claim(8, [0], { '@type': 'MsgWithdrawClaim', batch_nonce: '31', token_contract: '0xUSDT' }),
      claim(9, [0], { '@type': 'MsgValsetUpdatedClaim', valset_nonce: '5', members: [] }),
      claim(10, [0], { '@type': 'MsgERC20DeployedClaim', token_contract: '0xUSDT' }),
      claim(11, [0], { '@type': 'MsgOther' }),
    );
    expect(text).toContain('batch 31 of USDT');
    expect(text).toContain('validator set 5');
    expect(text).toContain('deployment of');
    expect(text).toContain('of unknown type');
  });
});
