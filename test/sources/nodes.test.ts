import { describe, expect, it, vi } from 'vitest';
import { documents } from '../../src/documents.js';
import { executeQuery, HEIGHT_HEADER } from '../../src/simulator/query-service.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import type { Fault } from '../../src/simulator/simulator.js';
import { edited, errorPage, hang, replaced, reset, withStatus } from '../support/faults.js';
import { pollTimes, startPolledNodes, type PolledNodes } from './polled-nodes.js';

/** What a node answers to everything that a poll and a probe ask. */
function fail(polled: PolledNodes, index: number, fault: Fault | undefined): void {
  const node = polled.nodes[index];
  for (const endpoint of ['module_state', 'rate_limiter_input', 'latest_block', 'status', 'syncing'] as const) {
    node?.fault(endpoint, fault);
  }
}

const failDocument = (polled: PolledNodes, index: number, fault: Fault | undefined): void =>
  polled.nodes[index]?.fault('module_state', fault);

const requestsOf = (polled: PolledNodes, index: number): number => polled.nodes[index]?.requests.module_state ?? 0;

const message = (polled: PolledNodes): string | undefined => polled.state().lastFailure?.error.message;

describe('the poll of several nodes', () => {
  it('requests the document only of the first node while it serves it', async () => {
    const polled = await startPolledNodes({ count: 3 });
    expect(await pollTimes(polled, 1)).toBe('A');
    expect([0, 1, 2].map((index) => requestsOf(polled, index))).toEqual([1, 0, 0]);
    expect(polled.metrics()).toEqual([
      ...[0, 1, 2].map((index) =>
        expect.stringContaining(`node_up{target="a",document="module_state",source="${polled.source(index)}"} 1`),
      ),
      ...[1, 0, 0].map((value, index) => expect.stringContaining(`source="${polled.source(index)}"} ${value}`)),
      'bridge_exporter_node_switches_total{target="a",document="module_state"} 0',
    ]);
  });

  it.each<readonly [string, Fault]>([
    ['is killed', reset],
    ['answers 429', withStatus(429)],
    ['serves HTML', errorPage],
    ['hangs', hang],
    ['serves another document', edited(() => ({ accounts: [] }))],
  ])('switches within the same poll when the node in use %s, and stays with the other one', async (_title, fault) => {
    const polled = await startPolledNodes({ timeout: '2s' });
    await pollTimes(polled, 2);
    const height = Number(polled.state().lastSuccess?.snapshot.height);
    failDocument(polled, 0, fault);
    const requests = requestsOf(polled, 0);
    expect(await pollTimes(polled, 4)).toBe('BBBB');
    // The next poll starts at the other node.
    expect(requestsOf(polled, 0)).toBe(requests + 1);
    expect(Number(polled.state().lastSuccess?.snapshot.height)).toBe(height + 60);
    expect(polled.metrics()).toContain('bridge_exporter_node_switches_total{target="a",document="module_state"} 1');
    expect(polled.metrics()).toContain(
      `bridge_exporter_node_up{target="a",document="module_state",source="${polled.source(0)}"} 0`,
    );
    const switches = polled.lines.filter((text) => text.startsWith('switched'));
    const [from, to] = [0, 1].map((index) => polled.source(index));
    expect(switches).toEqual([
      expect.stringContaining(`switched from node ${from} to ${to}: ${from}/bridge/v1/module_state: `),
    ]);
  });

  it('gives each node an equal share of the time that is left', async () => {
    const polled = await startPolledNodes({ count: 3, timeout: '1500ms' });
    await pollTimes(polled, 2);
    for (const index of [0, 1, 2]) failDocument(polled, index, hang);
    await pollTimes(polled, 1);
    const hosts = [0, 1, 2].map((index) => `${polled.source(index)}/peggy/v1/module_state`);
    const [a, b, c] = hosts.map((host) => host.replace('peggy', 'bridge'));
    const milliseconds = message(polled)?.match(/(?<=after )\d+/g);
    expect(message(polled)?.replaceAll(/\d+ ms/g, 'T')).toBe(
      `all nodes failed: ${a}: timed out after T (poll.timeout); ${b}: timed out after T (poll.timeout); ${c}: timed out after T (poll.timeout)`,
    );
    expect(milliseconds?.map((text) => Math.round(Number(text) / 100))).toEqual([5, 10, 15]);
    expect(polled.state().lastPoll?.phaseSeconds.fetch).toBeLessThan(1.7);
  });

  it('reads the body of a node once', async () => {
    const polled = await startPolledNodes();
    await pollTimes(polled, 1);
    const read = vi.spyOn(documents.module_state, 'read');
    await pollTimes(polled, 2);
    expect(read).toHaveBeenCalledTimes(2);
    failDocument(polled, 0, errorPage);
    expect(await pollTimes(polled, 1)).toBe('B');
    expect(read).toHaveBeenCalledTimes(4);
    read.mockRestore();
  });

  it('fails when all nodes fail, and names each with its reason', async () => {
    const polled = await startPolledNodes();
    await pollTimes(polled, 1);
    failDocument(polled, 0, withStatus(429));
    failDocument(polled, 1, errorPage);
    expect(await pollTimes(polled, 2)).toBe('A*A*');
    const [a, b] = [0, 1].map((index) => `${polled.source(index)}/bridge/v1/module_state`);
    expect(message(polled)).toMatch(/^all nodes failed: /);
    expect(message(polled)).toContain(`${a}: responded with status 429`);
    expect(message(polled)).toContain(`; ${b}: not valid JSON`);
    expect(polled.state().lastFailure?.error.reason).toBe('rate_limited');
    failDocument(polled, 0, undefined);
    // The only node with a document is used, whatever it has answered before.
    expect(await pollTimes(polled, 1)).toBe('A');
  });
});

describe('a preferred node', () => {
  it('that comes back is used again when it has been good for ten minutes', async () => {
    const polled = await startPolledNodes();
    await pollTimes(polled, 4);
    fail(polled, 0, reset);
    expect(await pollTimes(polled, 4)).toBe('BBBB');
    fail(polled, 0, undefined);
    expect(await pollTimes(polled, 4)).toBe('BBBB');
    expect(await pollTimes(polled, 20)).toMatch(/^B{17,19}A+$/);
    expect(polled.state().nodeSwitches).toBe(2);
    expect(polled.lines.at(-1)).toBe(
      `switched from node ${polled.source(1)} to ${polled.source(0)}: ${polled.source(0)} is preferred and usable again`,
    );
  });

  it('whose document fails while its probes are good is asked every ten minutes, and stays down', async () => {
    const polled = await startPolledNodes();
    await pollTimes(polled, 2);
    failDocument(polled, 0, withStatus(429));
    await pollTimes(polled, 1);
    const [since, before] = [polled.now().at, requestsOf(polled, 0)];
    expect(await pollTimes(polled, 44, 60)).toBe('B'.repeat(44));
    expect(requestsOf(polled, 0) - before).toBe(4);
    expect(polled.state().nodes?.[0]?.trouble).toMatchObject({ isDown: true, since });
    expect(polled.state().nodeSwitches).toBe(1);
  });

  it('that flaps every 40 seconds causes one switch in an hour', async () => {
    const polled = await startPolledNodes();
    await pollTimes(polled, 10);
    for (let poll = 0; poll < 120; poll += 1) {
      fail(polled, 0, (poll * 30) % 80 < 40 ? reset : undefined);
      expect((await polled.poll()).lastPoll?.ok).toBe(true);
    }
    expect(polled.state().nodeSwitches).toBe(1);
  });

  it('whose probes fail now and then between its documents causes two switches in an hour at most', async () => {
    const polled = await startPolledNodes();
    await pollTimes(polled, 10);
    let switches = 0;
    for (let poll = 0; poll < 60; poll += 1) {
      fail(polled, 0, (poll * 60) % 80 < 40 ? reset : undefined);
      await polled.poll(60);
      switches = polled.state().nodeSwitches;
    }
    expect(switches).toBeLessThanOrEqual(2);
  });

  it('that falls behind another one by more than a minute is not used until it has been good for ten minutes', async () => {
    const polled = await startPolledNodes();
    await pollTimes(polled, 4);
    const old = replaced(({ body }) => {
      const { timestamp, ...rest } = JSON.parse(body.toString()) as { timestamp: string };
      const earlier = new Date(Date.parse(`${timestamp.slice(0, 19)}Z`) - 100_000).toISOString();
      return { body: Buffer.from(JSON.stringify({ ...rest, timestamp: earlier })) };
    });
    polled.nodes[0]?.fault('status', old);
    expect(await pollTimes(polled, 4)).toMatch(/^A?B{3,4}$/);
    const [a, b] = [polled.source(0), polled.source(1)];
    expect(polled.lines.at(-1)).toMatch(new RegExp(`^switched from node ${a} to ${b}: ${a} is \\d+ s behind ${b}$`));
    expect(polled.state().nodes?.[0]?.trouble).toMatchObject({ isDown: false });
    polled.nodes[0]?.fault('status', undefined);
    expect(await pollTimes(polled, 24)).toMatch(/^B{20,22}A+$/);
  });

  it('behind a cache that keeps its document and not its probes is as new as its document', async () => {
    const polled = await startPolledNodes();
    await pollTimes(polled, 4);
    const cached = polled.nodes[0]?.model.moduleState();
    const { height } = polled.state().lastSuccess?.snapshot ?? {};
    polled.nodes[0]?.fault(
      'module_state',
      replaced(({ headers }) => ({
        headers: { ...headers, [HEIGHT_HEADER]: String(height) },
        body: Buffer.from(JSON.stringify(cached)),
      })),
    );
    // The other node is used for the rest of the hour, without a poll that is lost.
    expect(await pollTimes(polled, 120)).toMatch(/^A{1,6}B{114,}$/);
    expect(polled.lines.at(-1)).toContain(`${polled.source(0)} is 90 s behind ${polled.source(1)}`);
    expect(Number(polled.state().lastSuccess?.snapshot.height)).toBe(Number(height) + (120 * 30) / 2);
  });
});

describe('heights', () => {
  it('fail the polls of a node that is 50 blocks behind the one before it, and name both, until the third', async () => {
    const polled = await startPolledNodes({ lagSeconds: [0, 100] });
    await pollTimes(polled, 4);
    fail(polled, 0, reset);
    expect(await pollTimes(polled, 1)).toBe('B*');
    const { error } = polled.state().lastFailure ?? {};
    expect(error).toMatchObject({ reason: 'regression', remedy: expect.stringMatching(/^Wait until the node /) });
    const [a, b] = [polled.source(0), polled.source(1)];
    expect(error?.message).toMatch(
      new RegExp(`^${b}/bridge/.* is below \\d+ of the previous document, which ${a} served$`),
    );
    // To be behind is no failure.
    expect(polled.state().nodes?.[1]?.trouble?.isDown).not.toBe(true);
    expect(await pollTimes(polled, 7)).toBe('B*BBBBBB');
    expect(polled.state().nodeSwitches).toBe(1);
  });

  it('that are lower are a failure of the node, and the next node is used in the same poll', async () => {
    const polled = await startPolledNodes({ count: 3, lagSeconds: [0, 0, 200] });
    const [first, , behind] = polled.nodes;
    polled.reload(polled.nodes.slice(0, 2).map(({ url }) => url));
    await pollTimes(polled, 4);
    for (const endpoint of ['module_state', 'status'] as const)
      first?.fault(
        endpoint,
        replaced(() => (behind ? executeQuery(behind.model, { endpoint, parameters: new URLSearchParams() }) : {})),
      );
    expect(await pollTimes(polled, 40)).toBe('B'.repeat(40));
    expect(polled.state().nodeSwitches).toBe(1);
    expect(polled.lines.at(-1)).toMatch(/: hub height \d+ is below \d+ of the last document$/);
  });

  it('that are lower on all nodes are accepted as those of one node', async () => {
    const polled = await startPolledNodes();
    await pollTimes(polled, 4);
    const low = (height: number): Fault =>
      replaced(({ headers, body }) => ({
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, /height/i.test(name) ? String(height) : value]),
        ),
        body: Buffer.from(body.toString().replace(/"height":"\d+"/, `"height":"${height}"`)),
      }));
    for (const node of polled.nodes)
      for (const endpoint of ['module_state', 'status', 'latest_block'] as const) node.fault(endpoint, low(1000));
    expect(await pollTimes(polled, 5)).toMatch(/^[AB]\*[AB]\*[AB]{3}$/);
  });
});

describe('the bridge id of a document', () => {
  const other = edited(({ state, ...rest }: { state: { params: object } }) => ({
    ...rest,
    state: { ...state, params: { ...state.params, bridge_id: 'other' } },
  }));

  it('that only one of two nodes shows is of another network', async () => {
    const polled = await startPolledNodes();
    await pollTimes(polled, 1);
    failDocument(polled, 0, other);
    expect(await pollTimes(polled, 2)).toBe('BB');
    expect(polled.state().nodes?.[0]?.trouble?.message).toMatch(
      /: the node is of bridge other and not of \S+ \(bridge_id\)$/,
    );
    // The node before shows it too: the bridge has changed, which is judged.
    failDocument(polled, 1, other);
    expect(await pollTimes(polled, 2)).toBe('BB');
    expect(polled.state().nodes?.map(({ trouble }) => trouble)).toEqual([undefined, undefined]);
  });

  it('of a node that takes the place of a dead one is of another network', async () => {
    const polled = await startPolledNodes();
    await pollTimes(polled, 1);
    fail(polled, 0, reset);
    failDocument(polled, 1, other);
    expect(await pollTimes(polled, 4)).toBe('A*A*A*A*');
    expect(message(polled)).toContain(
      `${polled.source(1)}/bridge/v1/module_state: the node is of bridge other and not`,
    );
  });

  it('changes with the node in use while the other one is dead', async () => {
    const polled = await startPolledNodes();
    fail(polled, 1, reset);
    await pollTimes(polled, 4);
    const renamed = replaced(({ body }) => ({ body: Buffer.from(body.toString().replaceAll('"hub-1"', '"hub-2"')) }));
    for (const endpoint of ['status', 'latest_block'] as const) polled.nodes[0]?.fault(endpoint, renamed);
    failDocument(polled, 0, other);
    expect(await pollTimes(polled, 4)).toBe('AAAA');
  });

  it('changes with a node that has served the target before while the node in use is dead', async () => {
    const polled = await startPolledNodes();
    await pollTimes(polled, 1);
    fail(polled, 0, reset);
    expect(await pollTimes(polled, 2)).toBe('BB');
    fail(polled, 0, undefined);
    expect(await pollTimes(polled, 24)).toMatch(/^B+A+$/);
    fail(polled, 0, reset);
    failDocument(polled, 1, other);
    expect(await pollTimes(polled, 4)).toBe('BBBB');
  });

  it('changes with two nodes that agree while the node in use is dead', async () => {
    const polled = await startPolledNodes({ count: 3 });
    await pollTimes(polled, 2);
    fail(polled, 0, reset);
    for (const index of [1, 2]) failDocument(polled, index, other);
    expect(await pollTimes(polled, 3)).toBe('BBB');
  });
});

describe('a node that is not in use', () => {
  it('is probed once a minute with one small response, and not asked for its document', async () => {
    const polled = await startPolledNodes();
    await pollTimes(polled, 2);
    await pollTimes(polled, 59, 60);
    expect(polled.nodes[1]?.requests).toMatchObject({ module_state: 0, latest_block: 0, status: 60, syncing: 0 });
  });

  it('is probed with a whole block where it has no status, and good where it has neither', async () => {
    const polled = await startPolledNodes();
    for (const node of polled.nodes) node.fault('status', withStatus(501));
    await pollTimes(polled, 8);
    expect(polled.nodes[1]?.requests).toMatchObject({ status: 4, latest_block: 4 });
    for (const node of polled.nodes) node.fault('latest_block', withStatus(404));
    await pollTimes(polled, 8);
    expect(polled.state().nodes?.[1]?.trouble).toBeUndefined();
  });

  it('that hangs between good documents of the one in use costs no poll, and is down', async () => {
    const polled = await startPolledNodes({ timeout: '1s' });
    await pollTimes(polled, 2);
    fail(polled, 1, hang);
    expect(await pollTimes(polled, 2)).toBe('AA');
    expect(polled.state().nodes?.[1]?.trouble).toMatchObject({ isDown: true });
  });
});

describe('a reload', () => {
  it('stays with the node in use, also when it is moved in the list', async () => {
    const polled = await startPolledNodes({ count: 3 });
    const [a = '', b = '', c = ''] = polled.nodes.map(({ url }) => url);
    polled.reload([a, b]);
    await pollTimes(polled, 2);
    failDocument(polled, 0, reset);
    expect(await pollTimes(polled, 1)).toBe('B');
    const before = requestsOf(polled, 0);
    polled.reload([c, a, b]);
    expect(await pollTimes(polled, 2)).toBe('CC');
    expect(polled.state().nodes?.map(({ source }) => source)).toEqual([2, 0, 1].map((index) => polled.source(index)));
    expect(requestsOf(polled, 0)).toBe(before);
  });
});

it('one node has the same metrics and starts of problems in `nodes` as in `url`', async () => {
  const [ofNodes, ofUrl] = await Promise.all(
    [false, true].map(async (isUrl) => {
      const polled = await startPolledNodes({ scenario: 'conflicting-claims', count: 1, isUrl });
      let page = '';
      for (let poll = 0; poll < 10; poll += 1) page = renderEndpoints([await polled.poll(60)], 'text', polled.now());
      // How long a poll takes is real time.
      return page.replaceAll(/^bridge_exporter_poll_duration_seconds\{.*\n/gm, '');
    }),
  );
  expect(ofNodes).toBe(ofUrl);
  expect(ofNodes).toContain('problem="BridgeConflictingClaims"');
  expect(ofNodes).not.toContain('bridge_exporter_node_');
});
