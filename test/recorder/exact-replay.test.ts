import { describe, expect, it } from 'vitest';
import {
  answerOf,
  expectExactReplay,
  expectReplay,
  POLL_MS,
  startRecordedChain,
  useSimulatedTime,
  withText,
} from './every-poll.js';
import type { Respond } from './recorded-loop.js';

useSimulatedTime();

describe('a recording of every poll', () => {
  // One of those with the most to remember; test/recorder/every-scenario.slow.test.ts has all.
  it('replays to the series that were exported, with measured block times and counted transfers', async () => {
    const { bridge, contract } = await expectExactReplay('missed-cctxs', 24);
    const last = bridge.at(-1);
    expect(last).toMatch(/bridge_block_time_seconds\{target="demo"\} 6\.0/);
    expect(last).toMatch(/bridge_transfers_executed_total\{.*\} [1-9]/);
    expect(contract.at(-1)).toMatch(/bridge_token_backing_surplus_amount\{.*\} \d/);
    expect(contract.at(-1)).toMatch(/bridge_contract_info\{.*\} 1/);
  });

  it('replays failures, regressions, and a restart as they were', async () => {
    const { model, config, directory, daemon } = await startRecordedChain();
    const exported = new Map<string, string[]>();
    const ok = answerOf(model);
    const bodies: Readonly<Record<string, () => unknown>> = {
      module_state: () => model.moduleState(),
      rate_limiter_input: () => ({ ...model.rateLimiterInput({ window: 500n }), height: '9' }),
    };
    const behind: Respond = (document, input, at) => {
      const body = bodies[document]?.();
      return body === undefined ? ok(document, input, at) : { body: Buffer.from(JSON.stringify(body)), height: 9 };
    };
    const withBody =
      (body: string, height: number | undefined): Respond =>
      (document, input, at) => {
        const { call } = ok(document, input, at) ?? { call: undefined };
        return { body: Buffer.from(body), height, call };
      };
    // A height of 0 is no height, and is counted as an invalid value.
    const zero: Respond = (document, job, at) => {
      const answer = ok(document, job, at);
      return answer && { ...answer, height: 0 };
    };
    const html = withBody('<html>', undefined);
    const other = withBody('{"other":1}', 1);
    const none: Respond = () => undefined;
    const outage = Array.from({ length: 15 }, () => none);
    const before = [ok, ok, html, html, other, none, none, ok, behind, ok, behind, behind, behind, ok, zero] as const;
    const answers = [...before, 'restart', none, ok, ok, ...outage, ok, ok] as const;
    for (const answer of answers) {
      // oxlint-disable no-await-in-loop -- polls follow each other
      if (answer === 'restart') await daemon.restart();
      else withText(exported, await daemon.poll(answer));
      // oxlint-enable no-await-in-loop
      daemon.advance(POLL_MS);
      model.advanceTime(POLL_MS);
    }
    await daemon.close();
    const texts = exported.get('module_state') ?? [];
    expect(texts).toHaveLength(answers.length - 1);
    expect(texts.at(13)).toContain(
      'bridge_exporter_snapshot_regressions_total{target="demo",document="module_state"} 4',
    );
    expect(texts.at(14)).toContain('document="module_state",field="X-Cosmos-Block-Height"} 1');
    expect(texts.at(15)).toContain('bridge_exporter_polls_total{target="demo",document="module_state"} 1');
    expect(texts.at(32)).not.toContain('bridge_last_observed_nonce');
    await expectReplay(directory, config, exported);
  });
});
