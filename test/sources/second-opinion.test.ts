import { describe, expect, it } from 'vitest';
import { listVerdicts } from '../../src/engine/verdicts.js';
import { problems } from '../../src/problems/problems.js';
import { isDoubted } from '../../src/problems/second-opinion.js';
import type { Fault } from '../../src/simulator/simulator.js';
import { edited, hang, replaced, reset, withStatus } from '../support/faults.js';
import { INTERVAL_SECONDS, pollTimes, startPolledNodes, type NodesOptions, type PolledNodes } from './polled-nodes.js';

/* The document of another node, which is asked before a problem is shown that a single node can cause. */

interface Served {
  readonly state: { readonly params: object; readonly last_observed_valset: { readonly members: readonly object[] } };
}

const forged = ({ state, ...rest }: Served): object => ({ ...rest, state: { ...state, ...forgedSet(state) } });

const theft = edited(forged);

function forgedSet({ last_observed_valset: valset }: Served['state']) {
  return { last_observed_valset: { ...valset, members: valset.members.slice(1) } };
}

const withParams = (params: object, edit: (state: Served['state']) => object = () => ({})): Fault =>
  edited(({ state, ...rest }: Served) => ({
    ...rest,
    state: { ...state, ...edit(state), params: { ...state.params, ...params } },
  }));

const OTHER_CONTRACT = { bridge_external_address: '0x00000000000000000000000000000000000000aa' };

/** A fault whose documents have another height. */
const atHeight = (change: (height: number) => number, edit = (served: Served): object => served): Fault =>
  replaced(({ headers, body }) => ({
    body: Buffer.from(JSON.stringify(edit(JSON.parse(body.toString())))),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) =>
        /height/i.test(name) ? [name, String(change(Number(value)))] : [name, value],
      ),
    ),
  }));

/** So many validators claim the execution of a batch that the hub does not have. */
const withClaim = (votes: number): Fault =>
  edited(({ state, ...rest }: { readonly state: Attesting }) => {
    const claim = {
      '@type': '/injective.peggy.v1.MsgWithdrawClaim',
      event_nonce: String(Number(state.last_observed_nonce) + 1),
      block_height: '1',
      batch_nonce: '999999',
      token_contract: OTHER_CONTRACT.bridge_external_address,
    };
    const senders = state.orchestrator_addresses.map(({ sender }) => sender).slice(0, votes);
    const attestation = { observed: false, height: '1', votes: senders, claim };
    return { ...rest, state: { ...state, attestations: [...state.attestations, attestation] } };
  });

interface Attesting {
  readonly last_observed_nonce: string;
  readonly attestations: readonly object[];
  readonly orchestrator_addresses: readonly { readonly sender: string }[];
}

/** What a node serves in turn, poll by poll. */
const inTurn = (polled: PolledNodes, index: number, faults: readonly (Fault | undefined)[]) => (poll: number) =>
  polled.nodes[index]?.fault('module_state', faults[poll % faults.length]);

function verdicts(polled: PolledNodes) {
  return listVerdicts([polled.state()], polled.now()).flatMap((target) => target.verdicts);
}

const firing = (polled: PolledNodes, alert: string, severity = 'critical') =>
  verdicts(polled).find((each) => each.alert === alert && each.severity === severity && each.state === 'firing');

const MISMATCH = 'BridgeContractValsetMismatch';
const NOT_CONFIRMED = /^Another node does not show it\. Save the document/;

/** Polls until an alert fires. Returns the seconds since the first of these polls. */
async function secondsUntil(
  polled: PolledNodes,
  alert: string,
  { severity = 'critical', before = (_poll: number): void => undefined, polls = 40 } = {},
): Promise<number> {
  for (let poll = 0; poll < polls; poll += 1) {
    before(poll);
    // oxlint-disable-next-line no-await-in-loop -- one poll after the other
    await polled.poll();
    if (firing(polled, alert, severity) !== undefined) return poll * INTERVAL_SECONDS;
  }
  return Infinity;
}

async function startHealthy(options: NodesOptions = {}): Promise<PolledNodes> {
  const polled = await startPolledNodes(options);
  await pollTimes(polled, 2);
  return polled;
}

/** With one node, two polls that agree. */
const AS_WITH_ONE_NODE = INTERVAL_SECONDS;

describe('the forged validator set of one node of two', () => {
  it('is BridgeNodesDisagree within two polls, and critical after three minutes with its first start', async () => {
    const polled = await startHealthy();
    polled.nodes[0]?.fault('module_state', theft);
    const startSeconds = polled.now().at + INTERVAL_SECONDS;
    expect(await secondsUntil(polled, 'BridgeNodesDisagree', { severity: 'warning' })).toBe(INTERVAL_SECONDS);
    const [a, b] = [polled.source(0), polled.source(1)];
    expect(firing(polled, 'BridgeNodesDisagree', 'warning')).toMatchObject({
      summary: `nodes of module_state disagree, ${a} shows and ${b} does not: the validator set in the contract differs from the one of the hub with its nonce`,
    });
    for (let seconds = 2 * INTERVAL_SECONDS; seconds < 180; seconds += INTERVAL_SECONDS) {
      // oxlint-disable-next-line no-await-in-loop -- one poll after the other
      await polled.poll();
      expect(verdicts(polled).filter(({ severity }) => severity === 'critical')).toEqual([]);
      expect(firing(polled, 'BridgeNodesDisagree', 'warning')).toBeDefined();
    }
    await polled.poll();
    const texts = { details: `not confirmed: ${b} does not show it`, action: expect.stringMatching(NOT_CONFIRMED) };
    expect(firing(polled, MISMATCH)).toMatchObject({ startSeconds, ...texts });
    // Another node is asked for ten minutes.
    const requests = () => polled.nodes[1]?.requests.module_state;
    await pollTimes(polled, 13);
    const asked = requests();
    await pollTimes(polled, 5, 60);
    expect(requests()).toBe(asked);
    expect(firing(polled, MISMATCH)).toMatchObject(texts);
  });

  it('is nothing when it is gone after a minute', async () => {
    const polled = await startHealthy();
    polled.nodes[0]?.fault('module_state', theft);
    await pollTimes(polled, 3);
    polled.nodes[0]?.fault('module_state', undefined);
    for (let poll = 0; poll < 5; poll += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one poll after the other
      await polled.poll(60);
      expect(verdicts(polled).filter(({ severity }) => severity === 'critical')).toEqual([]);
    }
    expect(firing(polled, 'BridgeNodesDisagree', 'warning')).toBeUndefined();
  });
});

describe('the huge height of a node in use', () => {
  const hugeHeight = (height: number): number => height + 1e6;

  it('does not make its forged validator set critical before three minutes', async () => {
    const polled = await startHealthy();
    polled.nodes[0]?.fault('module_state', atHeight(hugeHeight, forged));
    const startSeconds = polled.now().at + INTERVAL_SECONDS;
    expect(await secondsUntil(polled, MISMATCH)).toBe(180);
    const details = `not confirmed: ${polled.source(1)} does not show it`;
    expect(firing(polled, MISMATCH)).toMatchObject({ startSeconds, details });
    expect(firing(polled, 'BridgeNodesDisagree', 'warning')).toBeDefined();
  });

  it('does not hide what the other one shows', async () => {
    const polled = await startHealthy();
    polled.nodes[0]?.fault('module_state', atHeight(hugeHeight));
    polled.nodes[1]?.fault('module_state', theft);
    polled.advance(3600);
    expect(await secondsUntil(polled, 'BridgeNodesDisagree', { severity: 'warning' })).toBe(120);
  });
});

describe('the forged validator set of both nodes', () => {
  it('is critical as with one node, and confirmed', async () => {
    const polled = await startHealthy();
    for (const node of polled.nodes) node.fault('module_state', theft);
    expect(await secondsUntil(polled, MISMATCH)).toBe(AS_WITH_ONE_NODE);
    expect(firing(polled, MISMATCH)).toMatchObject({
      details: 'confirmed by 2 nodes',
      action: expect.stringMatching(/^Two nodes show it\. Save the document, and compare it with the validator set/),
    });
    // It is confirmed by the first answer.
    expect(polled.nodes[1]?.requests.module_state).toBe(2);
  });

  it('is critical as with one node when the other one is 100 blocks behind, and confirmed when it has caught up', async () => {
    const polled = await startHealthy({ lagSeconds: [0, 200] });
    for (const node of polled.nodes) node.fault('module_state', theft);
    expect(await secondsUntil(polled, MISMATCH)).toBe(AS_WITH_ONE_NODE);
    expect(firing(polled, MISMATCH)?.details).toBe('');
    await pollTimes(polled, 6);
    expect(firing(polled, MISMATCH)?.details).toBe('confirmed by 2 nodes');
  });

  it.each<readonly [string, Fault]>([
    ['hangs', hang],
    ['is down', reset],
    ['refuses', withStatus(429)],
    ['is of another network', withParams({ bridge_id: 'other' }, forgedSet)],
    ['serves another document', edited(() => ({ accounts: [] }))],
  ])('is critical as with one node when the other one %s', async (_title, fault) => {
    const polled = await startHealthy({ timeout: '2s' });
    polled.nodes[0]?.fault('module_state', theft);
    polled.nodes[1]?.fault('module_state', fault);
    expect(await secondsUntil(polled, MISMATCH)).toBe(AS_WITH_ONE_NODE);
    expect(firing(polled, MISMATCH)?.details).toBe('');
  });
});

it('asks the next node when one does not answer', async () => {
  const polled = await startHealthy({ count: 3 });
  polled.nodes[0]?.fault('module_state', theft);
  polled.nodes[1]?.fault('module_state', reset);
  polled.nodes[2]?.fault('module_state', theft);
  expect(await secondsUntil(polled, MISMATCH)).toBe(AS_WITH_ONE_NODE);
  expect(firing(polled, MISMATCH)?.details).toBe('confirmed by 2 nodes');
});

it('does not count what the node in use has said before it was in use', async () => {
  const polled = await startHealthy();
  polled.nodes[0]?.fault('module_state', theft);
  await pollTimes(polled, 3);
  polled.nodes[0]?.fault('module_state', reset);
  polled.nodes[1]?.fault('module_state', theft);
  expect(await pollTimes(polled, 1)).toBe('B');
  expect(firing(polled, MISMATCH)?.details).toBe('');
  await pollTimes(polled, 5);
  expect(firing(polled, 'BridgeNodesDisagree', 'warning')).toBeUndefined();
});

it('asks nobody at the address of the node in use', async () => {
  const polled = await startHealthy();
  const { url = '' } = polled.nodes[0] ?? {};
  polled.reload([url, `${url}/bridge/..`]);
  await pollTimes(polled, 1);
  polled.nodes[0]?.fault('module_state', theft);
  const before = polled.nodes[0]?.requests.module_state ?? 0;
  expect(await secondsUntil(polled, MISMATCH)).toBe(AS_WITH_ONE_NODE);
  expect(polled.nodes[0]?.requests.module_state).toBe(before + 2);
});

it('asks nobody on a healthy chain', async () => {
  const polled = await startHealthy();
  await pollTimes(polled, 30, 60);
  // At the start, and not again within an hour.
  expect(polled.nodes[1]?.requests.module_state).toBe(1);
});

it('compares a change with the values from before it, not with those of the accusing document', async () => {
  const polled = await startHealthy();
  polled.nodes[0]?.fault('module_state', withParams(OTHER_CONTRACT));
  expect(await secondsUntil(polled, 'BridgeNodesDisagree', { severity: 'warning' })).toBe(INTERVAL_SECONDS);
  await pollTimes(polled, 3);
  expect(firing(polled, 'BridgeParamsChanged')).toBeUndefined();
  const both = await startHealthy();
  for (const node of both.nodes) node.fault('module_state', withParams(OTHER_CONTRACT));
  expect(await secondsUntil(both, 'BridgeParamsChanged')).toBe(AS_WITH_ONE_NODE);
  expect(firing(both, 'BridgeParamsChanged')?.details).toMatch(/; confirmed by 2 nodes$/);
});

/**
 * The theft is on the chain, so that the honest node shows it. The other node is the attacker's. The longest delay of the page beside that of one honest
 * node, in seconds.
 */
describe('an attacker with one node of two delays a true page', () => {
  type Attack = (polled: PolledNodes) => ((poll: number) => void) | undefined;

  it.each<readonly [title: string, attack: Attack, delay: number]>([
    ['by hanging', (polled) => inTurn(polled, 1, [hang]), 0],
    ['by failing', (polled) => inTurn(polled, 1, [reset]), 0],
    ['by showing the theft too', (polled) => inTurn(polled, 1, [theft]), 0],
    ['by a lower height', (polled) => inTurn(polled, 1, [atHeight(() => 1)]), 0],
    ['by showing health', () => undefined, 150],
    ['by showing health at a huge height', (polled) => inTurn(polled, 1, [atHeight((height) => height + 1e6)]), 150],
    [
      'by a lower height first',
      (polled) => inTurn(polled, 1, [atHeight(() => 1), undefined, undefined, undefined, undefined, undefined]),
      150,
    ],
    ['by health first, then failures', (polled) => inTurn(polled, 1, [undefined, undefined, reset]), 30],
    ['by health and a lower height in turn', (polled) => inTurn(polled, 1, [undefined, atHeight(() => 1)]), 0],
    [
      'by health without a height',
      (polled) =>
        inTurn(polled, 1, [
          replaced(({ headers }) => ({
            headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !/height/i.test(name))),
          })),
        ]),
      150,
    ],
  ])('%s', async (_title, attack, delay) => {
    const polled = await startHealthy({ timeout: '2s' });
    polled.nodes[0]?.fault('module_state', theft);
    const before = attack(polled);
    expect(await secondsUntil(polled, MISMATCH, { ...(before && { before }) })).toBe(AS_WITH_ONE_NODE + delay);
  });

  it('by a node that is preferred and fails, so that the honest node accuses: not at all', async () => {
    const polled = await startHealthy();
    polled.nodes[1]?.fault('module_state', theft);
    polled.nodes[0]?.fault('module_state', reset);
    expect(await secondsUntil(polled, MISMATCH)).toBe(AS_WITH_ONE_NODE);
  });

  it('by restarts of the exporter, within the same three minutes', async () => {
    const polled = await startHealthy();
    polled.nodes[0]?.fault('module_state', theft);
    const before = (poll: number): void => {
      if (poll > 0) polled.restart();
    };
    expect(await secondsUntil(polled, MISMATCH, { before })).toBe(AS_WITH_ONE_NODE + 150);
  });

  it('of another problem that follows within the same three minutes', async () => {
    const polled = await startHealthy();
    polled.nodes[0]?.fault('module_state', theft);
    await pollTimes(polled, 4);
    polled.nodes[0]?.fault('module_state', withParams(OTHER_CONTRACT, forgedSet));
    // The first one was found 120 seconds before.
    expect(await secondsUntil(polled, 'BridgeParamsChanged')).toBe(60);
    expect(firing(polled, MISMATCH)).toBeDefined();
  });

  it('not again when the problem is gone for a while, within an hour', async () => {
    const polled = await startHealthy();
    polled.nodes[0]?.fault('module_state', theft);
    expect(await secondsUntil(polled, MISMATCH)).toBe(AS_WITH_ONE_NODE + 150);
    polled.nodes[0]?.fault('module_state', undefined);
    await pollTimes(polled, 5, 120);
    expect(firing(polled, MISMATCH)).toBeUndefined();
    polled.nodes[0]?.fault('module_state', theft);
    expect(await secondsUntil(polled, MISMATCH)).toBe(AS_WITH_ONE_NODE);
  });
});

describe('the hourly document of a node that is not in use', () => {
  it('is BridgeNodesDisagree when it shows a theft that the node in use does not, until it does not any more', async () => {
    const polled = await startHealthy();
    polled.nodes[1]?.fault('module_state', theft);
    polled.advance(3600);
    const seconds = await secondsUntil(polled, 'BridgeNodesDisagree', { severity: 'warning' });
    // Two documents of the other node, then two polls.
    expect(seconds).toBe(120);
    const [a, b] = [polled.source(0), polled.source(1)];
    expect(firing(polled, 'BridgeNodesDisagree', 'warning')).toMatchObject({
      summary: expect.stringContaining(`${b} shows and ${a} does not`),
    });
    await pollTimes(polled, 10, 60);
    expect(verdicts(polled).filter(({ severity }) => severity === 'critical')).toEqual([]);
    expect(firing(polled, 'BridgeNodesDisagree', 'warning')).toBeDefined();
    polled.nodes[1]?.fault('module_state', undefined);
    await pollTimes(polled, 4, 60);
    expect(firing(polled, 'BridgeNodesDisagree', 'warning')).toBeUndefined();
    const { module_state: asked } = polled.nodes[1]?.requests ?? {};
    await pollTimes(polled, 10, 60);
    expect(polled.nodes[1]?.requests.module_state).toBe(asked);
  });

  it.each<readonly [string, (polled: PolledNodes) => void]>([
    ['fails', (polled) => polled.nodes[1]?.fault('module_state', reset)],
    ['is removed', (polled) => polled.reload([polled.nodes[0]?.url ?? ''])],
  ])('is BridgeNodesDisagree for ten minutes more when the node %s', async (_title, change) => {
    const polled = await startHealthy();
    polled.nodes[1]?.fault('module_state', theft);
    polled.advance(3600);
    await secondsUntil(polled, 'BridgeNodesDisagree', { severity: 'warning' });
    change(polled);
    await pollTimes(polled, 9, 60);
    expect(firing(polled, 'BridgeNodesDisagree', 'warning')).toBeDefined();
    await pollTimes(polled, 5, 60);
    expect(firing(polled, 'BridgeNodesDisagree', 'warning')).toBeUndefined();
  });

  it('counts for a problem with a limit, too', async () => {
    const polled = await startHealthy({ problems: `{${MISMATCH}: {after: 1h}}` });
    polled.nodes[1]?.fault('module_state', theft);
    polled.advance(3600);
    expect(await secondsUntil(polled, 'BridgeNodesDisagree', { severity: 'warning' })).toBe(120);
  });

  it.each(['one of two other nodes', 'both other nodes'])('counts for each node: %s', async (nodes) => {
    const polled = await startHealthy({ count: 3 });
    for (const node of nodes.startsWith('both') ? polled.nodes.slice(1) : polled.nodes.slice(1, 2)) {
      node.fault('module_state', theft);
    }
    polled.advance(3600);
    expect(await secondsUntil(polled, 'BridgeNodesDisagree', { severity: 'warning' })).toBe(120);
  });

  it('counts for a critical problem of which the node in use shows the warning', async () => {
    const polled = await startHealthy();
    polled.nodes[0]?.fault('module_state', withClaim(1));
    polled.nodes[1]?.fault('module_state', withClaim(Infinity));
    polled.advance(3600);
    expect(await secondsUntil(polled, 'BridgeNodesDisagree', { severity: 'warning' })).toBe(120);
    expect(firing(polled, 'BridgeNodesDisagree', 'warning')?.summary).toMatch(/: a third of the power or more claims /);
  });

  it('confirms a problem about which the node was asked for ten minutes, and was older', async () => {
    const polled = await startHealthy();
    polled.nodes[0]?.fault('module_state', theft);
    polled.nodes[1]?.fault(
      'module_state',
      atHeight(() => 1, forged),
    );
    await pollTimes(polled, 15, 60);
    expect(firing(polled, MISMATCH)?.details).toBe('');
    polled.nodes[1]?.fault('module_state', theft);
    await pollTimes(polled, 20, 180);
    expect(firing(polled, MISMATCH)?.details).toBe('confirmed by 2 nodes');
  });

  it('is nothing when the next one a minute later does not show it', async () => {
    const polled = await startPolledNodes();
    polled.nodes[1]?.fault('module_state', theft);
    await pollTimes(polled, 3);
    expect(isDoubted(problems, polled.state().problems)).toBe(true);
    polled.nodes[1]?.fault('module_state', undefined);
    await pollTimes(polled, 6, 60);
    expect(firing(polled, 'BridgeNodesDisagree', 'warning')).toBeUndefined();
  });

  it('is nothing when it has a lower height, or shows what the node in use shows', async () => {
    const polled = await startPolledNodes();
    for (const node of polled.nodes) node.fault('module_state', theft);
    await pollTimes(polled, 2);
    polled.advance(3600);
    await pollTimes(polled, 4);
    expect(isDoubted(problems, polled.state().problems)).toBe(false);
    const behind = await startPolledNodes({ lagSeconds: [0, 200] });
    behind.nodes[1]?.fault('module_state', theft);
    await pollTimes(behind, 5, 60);
    expect(isDoubted(problems, behind.state().problems)).toBe(false);
  });
});

describe('another process', () => {
  it('knows which node had failed, and since when it is down', async () => {
    const polled = await startHealthy();
    const failedAt = polled.now().at + INTERVAL_SECONDS;
    for (const endpoint of ['module_state', 'status', 'latest_block', 'syncing'] as const)
      polled.nodes[0]?.fault(endpoint, withStatus(503));
    await pollTimes(polled, 1);
    await pollTimes(polled, 24, 60);
    await pollTimes(polled, 1);
    polled.restart(120);
    const requests = polled.nodes[0]?.requests.module_state;
    expect(await pollTimes(polled, 1)).toBe('B');
    expect(polled.nodes[0]?.requests.module_state).toBe(requests);
    await pollTimes(polled, 6);
    expect(firing(polled, 'BridgeNodeDown', 'warning')).toMatchObject({ startSeconds: failedAt });
    expect(polled.state().nodeSwitches).toBe(0);
  });

  it('uses the preferred node again when it was usable', async () => {
    const polled = await startHealthy();
    polled.restart(3600);
    expect(await pollTimes(polled, 1)).toBe('A');
  });
});
