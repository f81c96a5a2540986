import { describe, expect, it } from 'vitest';
import { judgeTargets } from '../../src/engine/target-problems.js';
import { latestBlock } from '../../src/queries/node-status.js';
import { edited, reset, withStatus } from '../support/faults.js';
import { waitUntil } from '../support/wait-for.js';
import { pollTimes, startPolledNodes, type PolledNodes } from './polled-nodes.js';

const settings = 'validator_names: "off"';

const answers = (polled: PolledNodes) => polled.state().queries.get(latestBlock.name)?.answers.size;

describe('the queries of a node', () => {
  it('go to the node in use, and what a node said of itself is dropped at a switch', async () => {
    const polled = await startPolledNodes({ settings });
    await pollTimes(polled, 2);
    await waitUntil(() => answers(polled) === 1);
    const [first, second] = polled.nodes;
    const before = second?.requests.latest_block ?? 0;
    first?.fault('module_state', reset);
    // Whoever is asked next answers later.
    second?.fault('latest_block', withStatus(500));
    await pollTimes(polled, 1);
    expect(polled.inUse()).toBe('B');
    expect(answers(polled)).toBe(0);
    await waitUntil(() => (second?.requests.latest_block ?? 0) > before);
  });

  it('that a node refuses are sent to another one at once', async () => {
    const polled = await startPolledNodes({ settings });
    const [first, second] = polled.nodes;
    first?.fault('syncing', withStatus(501));
    const failures = () => polled.state().queries.get('syncing');
    for (let poll = 1; poll <= 12 && (failures()?.refusedRounds ?? 0) < 3; poll += 1) {
      await pollTimes(polled, 1);
      await waitUntil(() => failures()?.roundStartedAt !== undefined);
    }
    await waitUntil(() => failures()?.refusedRounds === 3);
    first?.fault('module_state', reset);
    const before = second?.requests.syncing ?? 0;
    await pollTimes(polled, 1);
    await waitUntil(() => failures()?.answers.size === 1);
    expect(second?.requests.syncing).toBeGreaterThan(before);
  });
});

describe('BridgeNodeDown', () => {
  const nodeDown = (polled: PolledNodes) =>
    judgeTargets([polled.state()], polled.now())
      .flatMap(({ problems }) => problems)
      .find(({ alert }) => alert === 'BridgeNodeDown');

  it('fires when one node has failed for 30 minutes while another one answers, and names it with its reason', async () => {
    const polled = await startPolledNodes();
    await pollTimes(polled, 4);
    const failedAt = polled.now().at + 30;
    for (const endpoint of ['module_state', 'status', 'latest_block', 'syncing'] as const)
      polled.nodes[0]?.fault(endpoint, withStatus(503));
    // At the same times as every 30 seconds.
    await pollTimes(polled, 1);
    await pollTimes(polled, 29, 60);
    await pollTimes(polled, 1);
    expect(nodeDown(polled)).toMatchObject({ severity: 'warning', state: 'pending', startSeconds: failedAt });
    await pollTimes(polled, 1);
    const found = nodeDown(polled);
    expect(found?.state).toBe('firing');
    expect(found?.summary).toBe(`node ${polled.source(0)} is down, and another one serves module_state`);
    expect(found?.details).toMatch(new RegExp(`^${polled.source(0)}/.*: responded with status 503`));
  });

  it('begins anew when another node is down', async () => {
    const polled = await startPolledNodes();
    const endpoints = ['module_state', 'status', 'latest_block', 'syncing'] as const;
    const failing = withStatus(503);
    await pollTimes(polled, 4);
    for (const endpoint of endpoints) polled.nodes[0]?.fault(endpoint, failing);
    await pollTimes(polled, 20, 60);
    expect(nodeDown(polled)?.summary).toContain(`node ${polled.source(0)} is down`);
    const secondAt = polled.now().at;
    for (const endpoint of endpoints) {
      polled.nodes[0]?.fault(endpoint, undefined);
      polled.nodes[1]?.fault(endpoint, failing);
    }
    await pollTimes(polled, 20, 60);
    expect(nodeDown(polled)?.summary).toContain(`node ${polled.source(1)} is down`);
    expect(nodeDown(polled)?.startSeconds).toBeGreaterThan(secondAt);
  });

  it('is not found while all nodes answer, although one of them is behind', async () => {
    const polled = await startPolledNodes({ lagSeconds: [0, 600] });
    await pollTimes(polled, 6);
    expect(nodeDown(polled)).toBeUndefined();
    expect(polled.state().nodes?.[1]?.trouble).toMatchObject({ isDown: false });
  });
});

describe('another contract that a node shows', () => {
  const migrated = edited(({ state, ...rest }: { state: { params: object } }) => ({
    ...rest,
    state: { ...state, params: { ...state.params, bridge_external_address: `0x${'0d'.repeat(20)}` } },
  }));
  const changes = (polled: PolledNodes) =>
    judgeTargets([polled.state()], polled.now())
      .flatMap(({ problems }) => problems)
      .filter(({ alert }) => alert === 'BridgeParamsChanged');

  it('after it has taken the place of a dead one is critical after an hour only', async () => {
    const polled = await startPolledNodes();
    await pollTimes(polled, 4);
    polled.nodes[0]?.fault('module_state', reset);
    polled.nodes[0]?.fault('status', reset);
    polled.nodes[1]?.fault('module_state', migrated);
    for (let minute = 1; minute < 60; minute += 1) {
      await polled.poll(60);
      expect(changes(polled), `minute ${minute}`).toEqual([]);
    }
    await pollTimes(polled, 20, 60);
    expect(changes(polled)).toMatchObject([{ severity: 'critical' }]);
  });

  it('is critical at once when the one before has shown it too, and nothing when that one comes back with the old one', async () => {
    const polled = await startPolledNodes();
    await pollTimes(polled, 4);
    const [first, second] = polled.nodes;
    second?.fault('module_state', migrated);
    first?.fault('module_state', reset);
    await pollTimes(polled, 4);
    first?.fault('module_state', undefined);
    await pollTimes(polled, 70, 60);
    expect(polled.inUse()).toBe('A');
    expect(changes(polled)).toEqual([]);
    first?.fault('module_state', migrated);
    await pollTimes(polled, 4);
    first?.fault('module_state', reset);
    await pollTimes(polled, 2);
    expect(polled.inUse()).toBe('B');
    expect(changes(polled)).toMatchObject([{ severity: 'critical' }]);
  });
});
