import { describe, expect, it } from 'vitest';
import { crosschainContext, crosschainPoll } from '../support/snapshots.js';
import { judgedEndpoints } from './judged-endpoints.js';
import { sentenceText } from '../../src/alerts/sentences.js';

const CROSSCHAIN = crosschainContext();
const at = (minute: number) => ({ epochSeconds: 1_700_000_000 + 60 * minute, monotonicMs: 60_000 * minute });

const cctx = (nonce: number) => ({
  index: `0x${nonce}`,
  cctx_status: { status: 'PendingOutbound', created_timestamp: '1700000000', lastUpdate_timestamp: '0' },
  inbound_params: { sender_chain_id: '7000' },
  outbound_params: [{ receiver_chainId: '1', coin_type: 'Gas', amount: '1', tss_nonce: String(nonce), hash: '' }],
});

/** The sentence after some minutes, in which the highest nonce rises every two minutes. The lowest missed one is 100. */
function sentenceAfter(minutes: number): string | undefined {
  const limits = { maxBodyBytes: 1024, staleAfterMs: 300_000 };
  const endpoints = judgedEndpoints([CROSSCHAIN], limits, at(0));
  for (let minute = 0; minute <= minutes; minute += 1) {
    const document = {
      height: String(1000 + minute),
      total_pending: '2',
      cctxs_missed: [cctx(100)],
      cctxs_pending: [cctx(120 + Math.floor(minute / 2))],
    };
    endpoints.record(CROSSCHAIN, crosschainPoll(document, { at: at(minute) }), at(minute));
  }
  const [own] = endpoints.verdicts(at(minutes));
  const verdict = own?.verdicts.find(({ alert }) => alert === 'CrosschainFreezeNear');
  return verdict && sentenceText(verdict.sentence);
}

describe('the sentence about a chain that freezes', () => {
  it('says how many nonces were used in the last hour', () => {
    expect(sentenceAfter(70)).toBe(
      'a missed transaction stops its chain: 1 freezes after 5 more nonces (30 in the last hour)',
    );
  });

  it('says only how many are left before an hour was observed', () => {
    expect(sentenceAfter(45)).toBe('a missed transaction stops its chain: 1 freezes after 18 more nonces');
  });
});
