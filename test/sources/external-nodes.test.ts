import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { Moment } from '../../src/clock.js';
import { createEngine, createEndpoint } from '../../src/engine/engine.js';
import { createJobs, type PollJob } from '../../src/engine/jobs.js';
import { listVerdicts } from '../../src/engine/verdicts.js';
import type { QueryExchange } from '../../src/queries/send-query.js';
import { readRecording } from '../../src/recorder/read-recording.js';
import { createRecorder } from '../../src/recorder/recorder.js';
import { createModel } from '../../src/simulator/model.js';
import type { Fault } from '../../src/simulator/simulator.js';
import { createNetwork } from '../../src/sources/network.js';
import { replay } from '../../src/sources/recording.js';
import { atEnd } from '../support/at-end.js';
import { parseValidConfig } from '../support/config.js';
import { edited, replaced, withStatus } from '../support/faults.js';
import { createTempFolder, filesBelow } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';

const START_SECONDS = 1_790_000_000;
/** Five blocks of the external chain. */
const LAG_SECONDS = 60;

const ALERTS = new Set(['BridgeContractOwnerChanged', 'BridgeNodesDisagree', 'BridgeTokenUnbacked']);

const DISAGREE = /[^ ]+ shows and [^ ]+ does not/;

/** What fires, of the alerts above. */
const firing = (states: Parameters<typeof listVerdicts>[0], now: Moment): readonly string[] =>
  listVerdicts(states, now)
    .flatMap(({ verdicts }) => verdicts)
    .filter(({ alert, state }) => state === 'firing' && ALERTS.has(alert))
    .map(({ alert, summary, details }) => `${alert}: ${DISAGREE.exec(summary)?.[0] ?? details}`);

/** Two nodes of the external chain, of which the second one is behind, and one or two of the hub. */
async function startExternalNodes(lagSeconds: number, { hubNodes = 1, records = false } = {}) {
  let now: Moment = { at: START_SECONDS, clockOffset: 0 };
  const options = { seed: 1, scenario: 'quiet', startTime: START_SECONDS - LAG_SECONDS, blockTimeMs: 2000 } as const;
  const models = Array.from(new Set([0, lagSeconds]), (lag) => {
    const model = createModel(options);
    model.advanceTime((LAG_SECONDS - lag) * 1000);
    return model;
  });
  const [model = createModel(options), other = model] = models;
  const [first, second] = [
    await startTestSimulator({ model, compresses: false }),
    await startTestSimulator({ model: other, compresses: false }),
  ];
  const network = createNetwork('test', () => now);
  atEnd(() => network.close());
  const hubUrls = [first, second].slice(0, hubNodes).map(({ url }) => `{url: "${url}"}`);
  const judged = model.bridge.tokens.find(({ origin }) => origin === 'external');
  const tokens = `tokens: [{contract: '${judged?.contract}', backing: true}]\n`;
  const config = parseValidConfig(`${tokens}targets:
  - name: a
    bridge:
      nodes: [${hubUrls.join(', ')}]
      validator_names: "off"
      external: {nodes: [{url: "${first.url}/external"}, {url: "${second.url}/external"}]}`);
  const { path: directory } = createTempFolder();
  const recorder = createRecorder(pino({ level: 'silent' }), () => now);
  recorder.configure({ directory, interval: 0, max_size: 2 ** 30 });
  const queries: Promise<QueryExchange>[] = [];
  const engine = createEngine<PollJob>({
    source: {
      ...network,
      query: async (...request) => {
        const exchange = network.query(...request);
        queries.push(exchange);
        // An answer comes after the document.
        now = { ...now, at: now.at + 0.01 };
        return exchange;
      },
    },
    now: () => now,
    sinks: records ? [recorder] : [],
  });
  const jobs = createJobs(config);
  engine.replace(jobs.map((job) => createEndpoint(job, now.at)));

  return {
    first,
    second,
    sources: [first, second].map(({ url }) => new URL(url).host),
    contract: model.bridge.contract.stateAt(model.external.height),
    token: judged?.contract,
    state: () => engine.states()[1],
    now: () => now,
    firing: () => firing(engine.states(), now),
    /** Polls both documents after some time. Returns the block of the contract, and the reason of a failed poll. */
    poll: async (seconds = 30): Promise<readonly [block: number, reason: string | undefined]> => {
      now = { ...now, at: now.at + seconds };
      for (const each of models) each.advanceTime(seconds * 1000);
      for (const job of jobs) {
        // oxlint-disable-next-line no-await-in-loop -- the module state says where the contract is
        const { settled } = await engine.poll(job);
        // oxlint-disable-next-line no-await-in-loop -- as above
        await settled;
      }
      await Promise.all(queries);
      await nextTurn();
      for (const job of jobs) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        if (job.nodes.length > 1) await engine.probe(job);
      }
      const state = engine.states()[1];
      const past = state?.lastSuccess?.snapshot.past;
      const block = past !== undefined && 'blockSeconds' in past ? Number(past.height) : 0;
      return [block, state?.lastPoll?.ok === true ? undefined : state?.lastFailure?.error.reason];
    },
    /** What fires at the end of a replay of the recording. */
    replayed: async (): Promise<readonly string[]> => {
      await recorder.close();
      expect(filesBelow(join(directory, 'a/external_contract')).length).toBeGreaterThan(0);
      const recorded = parseValidConfig(`recorder: {interval: 0s}
${tokens}targets: [{name: a, bridge: {url: "http://n", validator_names: "off", external: {url: "http://n"}}}]`);
      const times = { fromMs: 0, toMs: 8e15 };
      const problems: string[] = [];
      const read = readRecording(directory, {
        ...times,
        target: undefined,
        maxBodyBytes: 2 ** 25,
        onProblem: (text) => problems.push(text),
      });
      let last: readonly string[] = [];
      for await (const { endpoints, now: at } of replay(read, recorded, { ...times, stepMs: 3e8 })) {
        const states = endpoints.map(({ state }) => state).filter(({ document }) => document === 'external_contract');
        if (states.length > 0) last = firing(states, at);
      }
      expect(problems).toEqual([]);
      return last;
    },
  };
}

it('shows no older block of the contract after a switch, until the other node has reached the last one', async () => {
  const { poll, first, state } = await startExternalNodes(LAG_SECONDS);
  const before = [await poll(), await poll()];
  expect(before.map(([, reason]) => reason)).toEqual([undefined, undefined]);
  first.fault('external_contract', withStatus(503));
  const after = [];
  // oxlint-disable-next-line no-await-in-loop -- one poll after the other
  for (let index = 0; index < 5; index += 1) after.push(await poll());
  const blocks = [...before, ...after].map(([block]) => block);
  expect(blocks).toEqual(blocks.toSorted((a, b) => a - b));
  expect(after.map(([, reason]) => reason)).toEqual(['regression', undefined, undefined, undefined, undefined]);
  expect(blocks.at(-1)).toBeGreaterThan(blocks[1] ?? 0);
  expect(state()?.nodes?.map(({ isInUse }) => isInUse)).toEqual([false, true]);
});

/** A fault with another address in the place of this one, whether a call or a slot has it. */
function withOther(address = ''): Fault {
  return replaced(({ body }) => ({
    body: Buffer.from(body.toString().replaceAll(address.slice(2).toLowerCase(), '0d'.repeat(20))),
  }));
}

/** The call of the contract has a longer result, other requests have shorter ones. */
const withoutSlot = edited((answer: { readonly result?: string }) =>
  answer.result?.length === 66 ? { jsonrpc: '2.0', id: 1, error: { code: -32_601, message: 'not served' } } : answer,
);

describe.each(['owner', 'implementation'] as const)('another %s of the contract', (kind) => {
  async function startHealthy(options?: Parameters<typeof startExternalNodes>[1]) {
    const nodes = await startExternalNodes(0, options);
    for (let poll = 0; poll < 2; poll += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one poll after the other
      await nodes.poll();
    }
    expect(nodes.contract?.[kind]).toMatch(/^0x/);
    return { ...nodes, fault: withOther(nodes.contract?.[kind]) };
  }

  /** What fires until the problem is critical, in the order in which it begins. The slot is read every five minutes. */
  async function firstFiring({ poll, firing: alerts }: Awaited<ReturnType<typeof startHealthy>>) {
    const seen: string[] = [];
    for (let index = 0; index < 24 && !seen.some((text) => text.includes('OwnerChanged')); index += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one poll after the other
      await poll();
      for (const text of alerts()) if (!seen.includes(text)) seen.push(text);
    }
    return seen;
  }

  it('by one node of two is BridgeNodesDisagree, and critical after three minutes', async () => {
    const nodes = await startHealthy();
    nodes.first.fault('external_contract', nodes.fault);
    const [a, b] = nodes.sources;
    expect(await firstFiring(nodes)).toEqual([
      `BridgeNodesDisagree: ${a} shows and ${b} does not`,
      expect.stringMatching(
        new RegExp(`^BridgeContractOwnerChanged: ${kind} .*; not confirmed: ${b} does not show it$`),
      ),
    ]);
  });

  it('is not confirmed, and not delayed, when the other node does not serve the slot', async () => {
    const nodes = await startHealthy();
    nodes.first.fault('external_contract', nodes.fault);
    nodes.second.fault('external_contract', withoutSlot);
    expect(await firstFiring(nodes)).toEqual([
      expect.stringMatching(new RegExp(`^BridgeContractOwnerChanged: ${kind} \\([^;]*\\)$`)),
    ]);
  });

  it('by both nodes is critical as with one node, and confirmed, also in a replay', async () => {
    const nodes = await startHealthy({ records: true });
    for (const node of [nodes.first, nodes.second]) node.fault('external_contract', nodes.fault);
    const confirmed = [
      expect.stringMatching(new RegExp(`^BridgeContractOwnerChanged: ${kind} .*; confirmed by 2 nodes$`)),
    ];
    expect(await firstFiring(nodes)).toEqual(confirmed);
    expect(await nodes.replayed()).toEqual(confirmed);
  });
});

it.each([
  ['is BridgeNodesDisagree when its block is not older', 0, true],
  ['is nothing when its block is older', LAG_SECONDS, false],
])('the hourly document with another owner of a node that is not in use %s', async (_title, lagSeconds, isShown) => {
  const nodes = await startExternalNodes(lagSeconds);
  nodes.second.fault('external_contract', withOther(nodes.contract?.owner));
  for (let poll = 0; poll < 8; poll += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one poll after the other
    await nodes.poll();
  }
  const [a, b] = nodes.sources;
  expect(nodes.firing()).toEqual(isShown ? [`BridgeNodesDisagree: ${b} shows and ${a} does not`] : []);
});

describe('a supply on the hub above the balance of the contract', () => {
  const UNBACKED = 'BridgeTokenUnbacked: ';
  const doubled = edited(({ amount, ...rest }: { readonly amount: { readonly amount: string } }) => ({
    ...rest,
    amount: { ...amount, amount: `${amount.amount}0` },
  }));

  /** Until the token is unbacked: what fires with when it begins, and the polls until then. */
  async function firstFiring(nodes: Awaited<ReturnType<typeof startExternalNodes>>) {
    const seen: string[] = [];
    let polls = 0;
    for (; polls < 30 && !seen.some((text) => text.startsWith(UNBACKED)); polls += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one poll after the other
      await nodes.poll(60);
      for (const text of nodes.firing()) if (!seen.includes(text)) seen.push(text);
    }
    return { seen, polls };
  }

  /** The hub owes another transfer. */
  const withDebt = (contract = ''): Fault =>
    edited(({ state, ...rest }: { readonly state: { readonly unbatched_transfers: readonly object[] } }) => {
      const coin = { contract, amount: '9'.repeat(40) };
      const transfer = { id: '1', erc20_token: coin, erc20_fee: { contract, amount: '1' } };
      return { ...rest, state: { ...state, unbatched_transfers: [...state.unbatched_transfers, transfer] } };
    });

  async function start(hubNodes: number, records = false) {
    const nodes = await startExternalNodes(0, { hubNodes, records });
    for (let poll = 0; poll < 2; poll += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one poll after the other
      await nodes.poll();
    }
    return nodes;
  }

  it.each(['supply', 'debt'])(
    'by the %s of one node of two is BridgeNodesDisagree, and critical after its limit',
    async (kind) => {
      const nodes = await start(2);
      if (kind === 'supply') nodes.first.fault('supply', doubled);
      else nodes.first.fault('module_state', withDebt(nodes.token));
      const [a, b] = nodes.sources;
      expect((await firstFiring(nodes)).seen).toEqual([
        `BridgeNodesDisagree: ${a} shows and ${b} does not`,
        expect.stringMatching(new RegExp(`^${UNBACKED}\\d+ smallest units are missing; not confirmed: ${b} does not`)),
      ]);
    },
  );

  it('by both nodes is critical as with one node, and confirmed by the second ones of both sides, also in a replay', async () => {
    const nodes = await start(2, true);
    for (const node of [nodes.first, nodes.second]) node.fault('supply', doubled);
    const { seen, polls } = await firstFiring(nodes);
    expect(seen).toEqual([expect.stringMatching(/^BridgeTokenUnbacked: .*; confirmed by 2 nodes$/)]);
    expect(await nodes.replayed()).toEqual(seen);
    const alone = await start(1);
    alone.first.fault('supply', doubled);
    expect((await firstFiring(alone)).polls).toBe(polls);
  });

  it('is critical and neither confirmed nor denied without a second node of the hub', async () => {
    const nodes = await start(1);
    nodes.first.fault('supply', doubled);
    expect((await firstFiring(nodes)).seen).toEqual([
      expect.stringMatching(/^BridgeTokenUnbacked: \d+ smallest units are missing$/),
    ]);
  });
});
