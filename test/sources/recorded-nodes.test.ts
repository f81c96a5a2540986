import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Moment } from '../../src/clock.js';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { EndpointState } from '../../src/engine/endpoint-state.js';
import { decodeRecording } from '../../src/recorder/recording-file.js';
import { createRecorder } from '../../src/recorder/recorder.js';
import { readRecording } from '../../src/recorder/read-recording.js';
import { replay } from '../../src/sources/recording.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import { parseValidConfig } from '../support/config.js';
import { listVerdicts } from '../../src/engine/verdicts.js';
import { edited, errorPage, replaced, reset } from '../support/faults.js';
import { HEIGHT_HEADER } from '../../src/simulator/query-service.js';
import { createTempFolder, filesBelow } from '../support/temp-folder.js';
import { pollTimes, startPolledNodes, type PolledNodes } from './polled-nodes.js';

it('has the node of each document, and the body of a poll in which all nodes failed', async () => {
  const { path: directory } = createTempFolder();
  const recorder = createRecorder(pino({ level: 'silent' }), () => polled.now());
  recorder.configure({ directory, interval: 0, max_size: 2 ** 30 });
  const polled = await startPolledNodes({ sinks: [recorder] });
  const [first, second] = polled.nodes;
  await pollTimes(polled, 2);
  first?.fault('module_state', reset);
  await pollTimes(polled, 1);
  second?.fault('module_state', errorPage);
  await pollTimes(polled, 1);
  await recorder.close();
  const recordings = filesBelow(join(directory, 'a/module_state'))
    .map((file) => decodeRecording(gunzipSync(readFileSync(file))))
    .filter(({ header }) => header.spare !== true);
  const [a, b] = [polled.source(0), polled.source(1)];
  // The first document is judged again.
  const headers = recordings.map(({ header }) => [header.source, header.outcome]);
  expect(headers.slice(-4)).toEqual([
    [a, 'ok'],
    [a, 'ok'],
    [b, 'ok'],
    [b, 'not_json'],
  ]);
  const last = recordings.at(-1);
  expect(last?.header.message).toMatch(/^all nodes failed: /);
  expect(last?.body.toString()).toContain('502 Bad Gateway');

  const config = parseValidConfig(
    'recorder: {interval: 0s}\ntargets: [{name: a, bridge: {url: "http://n", node_queries: "off"}}]',
  );
  let state: EndpointState | undefined;
  const problems: string[] = [];
  const times = { fromMs: 0, toMs: 8e15 };
  const options = {
    ...times,
    target: undefined,
    maxBodyBytes: 2 ** 25,
    onProblem: (text: string) => problems.push(text),
  };
  for await (const moment of replay(readRecording(directory, options), config, { ...times, stepMs: 3_600_000 }))
    state = moment.endpoints[0]?.state ?? state;
  expect(problems).toEqual([]);
  expect(state?.nodeSwitches).toBe(1);
  expect(state && renderEndpoints([state], 'text', polled.now())).not.toContain('bridge_exporter_node_active');
});

/** What fires at each poll, by the daemon. Alerts that other nodes have no part in are left out. */
async function recordedPolls(
  interval: number,
  run: (polled: PolledNodes, poll: (times: number) => Promise<void>) => Promise<void>,
) {
  const { path: directory } = createTempFolder();
  const recorder = createRecorder(pino({ level: 'silent' }), () => polled.now());
  recorder.configure({ directory, interval, max_size: 2 ** 30 });
  const polled = await startPolledNodes({ sinks: [recorder] });
  const live = new Map<number, string>();
  await run(polled, async (times) => {
    for (let index = 0; index < times; index += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one poll after the other
      const { lastPoll } = await polled.poll();
      const text = firing(polled.state(), polled.now());
      // As the poll loop does when a problem begins or ends.
      if (text !== Array.from(live.values()).at(-1)) recorder.recordNext('a');
      live.set(lastPoll?.at ?? 0, text);
    }
  });
  await recorder.close();
  const headers = filesBelow(join(directory, 'a/module_state')).map(
    (file) => decodeRecording(gunzipSync(readFileSync(file))).header,
  );
  const config = parseValidConfig(
    `recorder: {interval: ${interval}ms}\ntargets: [{name: a, bridge: {url: "http://n", node_queries: "off"}}]`,
  );
  const problems: string[] = [];
  const times = { fromMs: 0, toMs: 8e15 };
  const options = {
    ...times,
    target: undefined,
    maxBodyBytes: 2 ** 25,
    onProblem: (text: string) => problems.push(text),
  };
  const replayed: (readonly [number, string])[] = [];
  for await (const { endpoints, now } of replay(readRecording(directory, options), config, { ...times, stepMs: 3e8 })) {
    const [endpoint] = endpoints;
    if (endpoint?.state.lastPoll) replayed.push([endpoint.state.lastPoll.at, firing(endpoint.state, now)]);
  }
  expect(problems).toEqual([]);
  return { polled, live, replayed, headers };
}

const ALERTS = new Set(['BridgeNodesDisagree', 'BridgeContractValsetMismatch']);

function firing(state: EndpointState, now: Moment): string {
  return listVerdicts([state], now)
    .flatMap(({ verdicts }) => verdicts)
    .filter((verdict) => verdict.state === 'firing' && ALERTS.has(verdict.alert))
    .map(({ alert, startSeconds, summary, details }) => `${alert} since ${startSeconds}: ${summary}; ${details}`)
    .join(', ');
}

it('has the documents of second opinions, with which a replay decides as the daemon', async () => {
  const { polled, live, replayed, headers } = await recordedPolls(300_000, async ({ nodes: [first, second] }, poll) => {
    await poll(4);
    first?.fault('module_state', theft);
    await poll(9);
    first?.fault('module_state', undefined);
    await poll(6);
    for (const node of [first, second]) node?.fault('module_state', theft);
    await poll(3);
  });
  // One of them is read at the start.
  expect(headers.filter(({ spare }) => spare === true).map(({ source, outcome }) => [source, outcome])).toEqual(
    Array.from({ length: 11 }, () => [polled.source(1), 'ok']),
  );
  expect(replayed.filter(([, text]) => text.includes('BridgeNodesDisagree')).length).toBeGreaterThan(5);
  expect(replayed.filter(([, text]) => text.endsWith('confirmed by 2 nodes'))).toHaveLength(1);
  expect(replayed).toEqual(replayed.map(([at]) => [at, live.get(at)]));
});

it('has the hourly documents of a node that is not in use, with which a replay decides as the daemon', async () => {
  const { polled, live, replayed, headers } = await recordedPolls(0, async ({ nodes: [, second], advance }, poll) => {
    await poll(2);
    advance(3600);
    second?.fault('module_state', theft);
    await poll(10);
    second?.fault('module_state', undefined);
    await poll(10);
  });
  expect(headers.filter(({ spare }) => spare === true).length).toBeGreaterThan(3);
  const disagreement = `${polled.source(1)} shows and ${polled.source(0)} does not`;
  expect(replayed.filter(([, text]) => text.includes(disagreement)).length).toBeGreaterThan(5);
  // The first document is recorded when it is judged again.
  expect(replayed).toEqual(Array.from(live).slice(1));
});

it('has how far the other node is behind, with which a replay decides as the daemon about a huge height', async () => {
  const { live, replayed } = await recordedPolls(0, async ({ nodes: [first] }, poll) => {
    await poll(4);
    first?.fault('module_state', theftAtHugeHeight);
    await poll(9);
  });
  const texts = Array.from(live.values());
  expect(texts.findIndex((text) => text.includes('not confirmed'))).toBe(10);
  // The first document is recorded when it is judged again.
  expect(replayed).toEqual(Array.from(live).slice(1));
});

interface Served {
  readonly state: { readonly last_observed_valset: { readonly members: readonly object[] } };
}

function forged({ state, ...rest }: Served): object {
  const { last_observed_valset: valset } = state;
  return { ...rest, state: { ...state, last_observed_valset: { ...valset, members: valset.members.slice(1) } } };
}

const theft = edited(forged);

const theftAtHugeHeight = replaced(({ headers, body }) => ({
  headers: { ...headers, [HEIGHT_HEADER]: '9000000000' },
  body: Buffer.from(JSON.stringify(forged(JSON.parse(body.toString())))),
}));
