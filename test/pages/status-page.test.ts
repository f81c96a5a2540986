import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { FailureReason } from '../../src/http/failure-reasons.js';
import { CONTENT_SECURITY_POLICY } from '../../src/pages/layout.js';
import { recordedStates, type RecordedStates } from '../support/endpoint-states.js';
import type { PollResult } from '../../src/engine/step.js';
import { idleState } from '../items/bridge-state.js';
import {
  at,
  between,
  BRIDGE,
  bridgeResult,
  CROSSCHAIN,
  crosschainResult,
  FAILED,
  HOSTILE,
  initialSnapshots,
  instance,
  pendingAt,
  polledSnapshots,
  STALE_AFTER_SECONDS,
  statusAt,
  TARGET,
  judgeTarget,
  textOf,
  titleOf,
  transfer,
  problem,
} from './sample-snapshots.js';

const state = { unbatched_transfers: [transfer('424242', '1')], batches: [] };
const cctxs = { cctxs_missed: [], cctxs_pending: [], total_pending: '0' };

function bothUp(): RecordedStates {
  const snapshots = polledSnapshots(state);
  snapshots.record(CROSSCHAIN, crosschainResult(cctxs), at(0));
  return snapshots;
}

function failing(reason: FailureReason, message = 'what happened'): PollResult {
  return { outcome: { ok: false, error: { reason, message } }, phaseSeconds: { fetch: 1.5 } };
}

const unknown = (...reasons: readonly string[]) => ({ problems: [judgeTarget([], reasons)] });

describe('the status page', () => {
  it('has a line for each of several nodes: which is in use, and what is wrong', () => {
    const snapshots = initialSnapshots();
    const trouble = {
      since: at(-720).at,
      message: 'a.example: responded with <429>',
      isDown: true,
    };
    const behind = { since: at(-60).at, message: 'c.example is 7 min behind the chain', isDown: false };
    const nodes = [
      { source: 'a.example', isInUse: false, trouble },
      { source: 'b.example', isInUse: true },
      { source: 'c.example', isInUse: false, trouble: behind },
    ];
    snapshots.record(BRIDGE, { ...bridgeResult(state), nodes }, at(0));
    const text = textOf(statusAt(snapshots, 0)).replaceAll('\n', ' ');
    expect(text).toContain(
      'down since 12 min ago: a.example: responded with <429> in use b.example behind since 60 s ago: c.example is 7 min behind the chain',
    );
    expect(text).not.toContain('node.example:1317 node');
  });

  it('shows endpoints that were never polled', () => {
    const html = statusAt(initialSnapshots(), 0, unknown('module_state has not been polled yet'));
    expect(titleOf(html)).toBe(
      '○ main &quot;net&quot; &lt;1&gt; cannot be judged: module_state has not been polled yet · bridge-exporter',
    );
    expect(textOf(html)).toBe(`${TARGET} cannot be judged: module_state has not been polled yet
Endpoints 0 of 2 up
State
Endpoint
Last success
Backlog
Polls
initial
${TARGET}
Bridge module_state
node.example:1317
never
no chain series are exported
0 of 0 failed
initial
${TARGET}
Cross-chain rate_limiter_input
node.example:1317
never
no chain series are exported
0 of 0 failed
This exporter
Version
0.1.0, Node.js 20.19.0
Uptime
60 min
Configuration
81985529216, loaded 60 s ago`);
  });

  it('lists failing endpoints first, with reason and remedy', () => {
    const snapshots = bothUp();
    snapshots.record(CROSSCHAIN, failing('rate_limited', '/x: responded with status 429'), at(20));
    const html = statusAt(snapshots, 24);
    const text = textOf(html);
    expect(between(text, 'Endpoints 1 of 2 up', 'up')).toBe(
      `Endpoints 1 of 2 up
State
Endpoint
Last success
Backlog
Polls
failing
${TARGET}
Cross-chain rate_limiter_input
node.example:1317
24 s ago
rate_limited /x: responded with status 429
4 s ago
Raise poll.interval or external.interval, or the rate limit of the node or provider.
As of the last success:
Pending cctxs 0
1 of 2 failed`,
    );
  });

  it('is not green while a poll fails for less time than its alert requires', () => {
    const snapshots = bothUp();
    snapshots.record(CROSSCHAIN, failing('rate_limited', '/x: responded with status 429'), at(20));
    const html = statusAt(snapshots, 24, { problems: snapshots.problems(at(24)) });
    expect(textOf(html).split('\n')[0]).toBe(`warning in 2 min ${TARGET}: polls of rate_limiter_input fail, for 4 s`);
  });

  it('shows that the series of an endpoint are withdrawn, and no old number', () => {
    const snapshots = bothUp();
    snapshots.record(BRIDGE, FAILED, at(30));
    snapshots.record(CROSSCHAIN, crosschainResult(cctxs), at(60));
    const html = statusAt(snapshots, STALE_AFTER_SECONDS + 5);
    const text = textOf(html);
    expect(text).toContain(
      'withdrawn\nmain "net" <1>\nBridge module_state\nnode.example:1317\n65 s ago\nchain series are withdrawn',
    );
    expect(text).toContain('status /x: responded with status 500: <b>"oh"</b>\n35 s ago');
    expect(text).not.toContain('Waiting transfers');
    expect(html).not.toContain('424242');
  });

  it('reports a stalled exporter when the last success is stale and no poll has ended since', () => {
    const text = textOf(statusAt(bothUp(), STALE_AFTER_SECONDS + 1));
    expect(text).toContain('The last poll succeeded, but none has ended since.\nThe exporter is stalled');
  });

  it('shows the last failure of a recovered endpoint', () => {
    const snapshots = bothUp();
    snapshots.record(BRIDGE, failing('timeout', 'no answer within 20s'), at(10));
    snapshots.record(BRIDGE, failing('dns'), at(20));
    snapshots.record(BRIDGE, bridgeResult(state), at(30));
    const html = statusAt(snapshots, 40);
    expect(textOf(html)).toContain('2 of 4 failed\nLast failure dns what happened\n20 s ago');
  });

  it('names invalid fields', () => {
    const snapshots = polledSnapshots({ last_observed_nonce: ['odd'], batches: 7, unbatched_transfers: [] });
    expect(textOf(statusAt(snapshots, 1))).toContain(
      '0 of 1 failed\ninvalid fields, whose series are withdrawn: state.last_observed_nonce state.batches',
    );
  });

  it('says why a reload failed', () => {
    const configProblems = Array.from({ length: 7 }, (_, index) => `targets[${index}]: <b>unknown</b> key`);
    const rejected = { ...instance, configRejectedAt: '2026-01-01T11:59:30.000Z', configProblems };
    const text = textOf(statusAt(bothUp(), 30, { instance: rejected }));
    expect(text).toContain('The last reload of the configuration failed 60 s ago');
    expect(text).toContain('targets[6]: <b>unknown</b> key\n');
  });

  it('names the problem of the state file', () => {
    const text = 'the state file cannot be written: the directory /var/lib/bridge-exporter does not exist';
    const html = statusAt(bothUp(), 30, { instance: { ...instance, stateFileProblem: text } });
    expect(textOf(html)).toContain(`State file\nfailing: ${text}`);
    expect(textOf(statusAt(bothUp(), 30))).not.toContain('State file');
  });

  it('has less than 2 MB, compressed less than 100 kB, with a thousand targets, like their list', () => {
    const names = Array.from({ length: 1000 }, (_, index) => `target-${index}`);
    const one = recordedStates([BRIDGE, CROSSCHAIN], { maxBodyBytes: 2 ** 20, staleAfterMs: 60_000 });
    one.record(BRIDGE, bridgeResult(idleState, '1000'), at(0));
    one.record(CROSSCHAIN, crosschainResult(cctxs), at(0));
    const states = names.flatMap((target) => one.states().map((own) => ({ ...own, target })));
    const snapshots = { ...one, states: () => states };
    const html = statusAt(snapshots, 1, { problems: names.map((name) => judgeTarget([], [], name)) });
    expect(titleOf(html)).toContain('No problem on any of 1000 targets');
    const many = Array.from({ length: 5 }, () => problem('BridgeOrchestratorMissingVotes', 'warning', 31));
    const wrong = { problems: names.map((name) => judgeTarget(many, ['stale'], name)) };
    for (const page of [html, statusAt(snapshots, 1, wrong), pendingAt(snapshots, 1, {}, wrong)]) {
      expect(page.length).toBeLessThan(2_000_000);
      expect(gzipSync(page, { level: 1 }).length).toBeLessThan(100_000);
      expect(page).toContain('./pending?target=target-999');
    }
  });

  it('shows that a shard has no target', () => {
    const text = textOf(statusAt(recordedStates([], { maxBodyBytes: 1, staleAfterMs: 1 }), 0, { problems: [] }));
    expect(text).toMatch(/^Nothing to poll\nThis shard has no target of the configuration\.\nThis exporter\n/);
  });
});

it('has the batches that have timed out, by the height known to the hub', () => {
  const batches = ['90', '80', '200'].map((batch_timeout, index) => {
    return { batch_nonce: `${index}`, block: '5', batch_timeout, token_contract: '0xusdt', transactions: [] };
  });
  const text = textOf(statusAt(polledSnapshots({ last_observed_external_height: '100', batches }), 1));
  expect(text).toContain('2 timed out');
});

describe('the markup', () => {
  it('escapes text from the node and from the configuration', () => {
    const snapshots = polledSnapshots(state);
    snapshots.record(BRIDGE, failing('status', HOSTILE), at(1));
    const html = statusAt(snapshots, 2, {
      instance: { ...instance, nodeVersion: HOSTILE },
      telemetryPath: '/metrics?"<',
    });
    expect(html).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;amp;');
    expect(html).toContain('main &quot;net&quot; &lt;1&gt;');
    for (const raw of ['alert("1', 'net" <1>', '?"<']) expect(html).not.toContain(raw);
    expect(html.match(/<script/g)).toHaveLength(1);
  });

  it.each([
    ['the status page', statusAt],
    ['the page of a target', pendingAt],
  ])('of %s loads nothing, links to this server only, and has a target for every fragment link', (_page, render) => {
    const snapshots = bothUp();
    snapshots.record(BRIDGE, FAILED, at(1));
    const html = render(snapshots, 2).replace(/<script[^]*<\/script>/, '');
    expect(html).not.toMatch(/https?:|\/\/|<img|<link|@import|url\(|\s(?:on\w+|style)=/i);
    const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href ?? '');
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((href) => !/^(?:[?#]|\.\/|$)/.test(href))).toEqual([]);
    const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id ?? '');
    expect(new Set(ids).size).toBe(ids.length);
    const own = links.filter((href) => href.startsWith('#'));
    expect(own).toContain('#main');
    expect(own.filter((href) => !ids.includes(href.slice(1)))).toEqual([]);
  });

  it('has the style and the script whose hashes the content security policy allows', () => {
    const html = statusAt(initialSnapshots(), 0);
    for (const [element, directive] of [
      ['style', 'style-src'],
      ['script', 'script-src'],
    ]) {
      const text = new RegExp(`<${element}[^>]*>([^]*?)</${element}>`).exec(html)?.[1] ?? '';
      expect(text.length).toBeGreaterThan(1000);
      const hash = createHash('sha256').update(text).digest('base64');
      expect(CONTENT_SECURITY_POLICY).toContain(`${directive} 'sha256-${hash}';`);
    }
    expect(CONTENT_SECURITY_POLICY).not.toContain('unsafe');
  });
});
