import { describe, expect, it } from 'vitest';
import type { DocumentName } from '../../src/document-types.js';
import { createMemory, type EndpointMemory } from '../../src/engine/state-file.js';
import {
  createChain,
  instantAt,
  read,
  restoredFrom,
  startSimulatedProcess,
  written,
  type Chain,
  type SimulatedProcess,
} from './simulated-process.js';
import { type EndpointState } from '../../src/engine/endpoint-state.js';

/* What goes on after a restart, as after a gap in the polls, and what begins anew. */

const STEP_MINUTES = 4;

function pollFrom(process: SimulatedProcess, from: number, to: number, step = STEP_MINUTES): void {
  for (let minute = from; minute <= to; minute += step) process.poll(minute);
}

const INCIDENT_MINUTE = 12;

/** Slow blocks make a fast test. */
const SLOW_BLOCKS = { blockTimeMs: 20_000 };

function incident(scenario: 'stuck' | 'no-relayer'): Chain {
  const chain = createChain(SLOW_BLOCKS);
  return {
    ...chain,
    advanceTo: (minute) => {
      chain.advanceTo(minute);
      if (minute === INCIDENT_MINUTE) chain.model.setScenario(scenario);
    },
  };
}

describe('the first poll after a restart', () => {
  it('has the measured block time', () => {
    const chain = createChain();
    const parameter = (body: string): string => body.replace(/(?<="average_block_time":")\d+/, '2000');
    const first = startSimulatedProcess(chain, 0, undefined, parameter);
    expect((first.poll(0), first.values('bridge_block_time_seconds', 0))).toEqual({ '': 2 });
    pollFrom(first, 4, 20);
    const texts = first.end(21);
    const second = startSimulatedProcess(chain, 22, texts, parameter);
    expect(second.values('bridge_block_time_seconds', 22)).toEqual({});
    second.poll(23);
    expect(second.values('bridge_block_time_seconds', 23)).toEqual({ '': 6 });
  });

  it.each([
    ['with a state file', 8, 12],
    ['with a state file of one document, which is the odd one', 0, 4],
    ['without a state file', undefined, 0],
  ])('is no change and no rollback when its document is odd, %s', (_, last, start) => {
    const chain = createChain();
    const odd = (body: string): string =>
      body.replace(/(?<="last_observed_nonce":")\d+/, '99999').replace(/(?<="signed_batches_window":")\d+/, '77');
    const first = startSimulatedProcess(chain, 0, undefined, last === 0 ? odd : undefined);
    if (last !== undefined) pollFrom(first, 0, last);
    let isOdd = last !== 0;
    const second = startSimulatedProcess(chain, start, last === undefined ? undefined : first.end(last), (body) =>
      isOdd ? odd(body) : body,
    );
    for (let minute = start; minute <= start + 24; minute += STEP_MINUTES) {
      second.poll(minute);
      isOdd = false;
      const found = second.problems(minute).map(({ alert }) => alert);
      expect(found, `minute ${minute}`).not.toContain('BridgeStateRolledBack');
      expect(found, `minute ${minute}`).not.toContain('BridgeParamsChanged');
    }
  });

  it('has the title of the alert for a problem that its document does not show, because the file has no names', () => {
    const chain = incident('stuck');
    const first = startSimulatedProcess(chain, 0);
    pollFrom(first, 0, 52);
    const truncated = (body: string): string => body.replace(/(?<="total_pending":")\d+/, '99999');
    const second = startSimulatedProcess(chain, 55, first.end(54), truncated);
    second.poll(56);
    const stuck = second.problems(56).filter(({ alert }) => alert === 'CrosschainBacklogStuck');
    expect(new Set(stuck.map((problem) => problem.summary))).toEqual(
      new Set(['the transactions to a chain are stuck (found before the restart)']),
    );
  });

  it('fails with a height below that of the last one', () => {
    const first = startSimulatedProcess(createChain(), 0);
    pollFrom(first, 0, 20);
    const behind = startSimulatedProcess(createChain(), 22, first.end(21));
    behind.poll(8);
    expect(behind.all().map(({ lastFailure }) => lastFailure?.error.reason)).toEqual(['regression', 'regression']);
  });
});

type StartsByProblem = ReadonlyMap<
  string,
  {
    readonly histories: ReadonlyMap<
      string,
      {
        readonly subject: object;
        readonly startAt: number;
        readonly progressKey: string;
        readonly presentAt?: number | undefined;
      }
    >;
  }
>;

/** Which problems are there since when, and what would make them begin anew. */
function startsOf(state: Pick<EndpointMemory | EndpointState, 'problems'> | undefined): readonly string[] {
  const remembered: StartsByProblem = state?.problems.remembered ?? new Map();
  return Array.from(remembered).flatMap(([key, { histories }]) =>
    Array.from(histories.values())
      .filter(({ presentAt }) => presentAt !== undefined)
      .map(
        ({ subject, startAt, progressKey }) => `${key} ${JSON.stringify(subject)} ${startAt.toFixed(3)} ${progressKey}`,
      ),
  );
}

const SEARCHED: readonly DocumentName[] = ['module_state', 'rate_limiter_input'];

describe('another bridge', () => {
  const chain = incident('stuck');
  const first = startSimulatedProcess(chain, 0);
  pollFrom(first, 0, 48);

  it.each([
    [
      'with another contract',
      /"bridge_external_address":"0x[^"]{6}/g,
      (text: string) => text.replace(/0x[^"]{6}/, '0xabcdef'),
      'module_state',
    ],
    ['with another id', /"bridge_id":"[^"]+/g, (text: string) => `${text}-2`, 'module_state'],
    [
      'with another key of the signers of another hub',
      /"(?:tss_pubkey":"|sender_chain_id":"7000)[^"]*/g,
      (text: string) => (text.endsWith('"7000') ? text.replace('7000', '7001') : `${text}x`),
      'rate_limiter_input',
    ],
  ] as const)('%s begins empty, after failed polls, too', (_what, pattern, replace, document) => {
    let isFailing = true;
    const changed = (body: string): string => (isFailing ? '<html>' : body.replaceAll(pattern, replace));
    const second = startSimulatedProcess(chain, 50, first.end(49), changed);
    second.poll(52);
    isFailing = false;
    second.poll(52);
    const fresh = startSimulatedProcess(chain, 50, undefined, changed);
    fresh.poll(52);
    const index = SEARCHED.indexOf(document);
    const [own, other] = [second.all()[index], fresh.all()[index]];
    expect(own?.problems).toEqual(other?.problems);
    expect(own?.lastSuccess?.snapshot.past).toEqual(other?.lastSuccess?.snapshot.past);
    // The other document is of the same bridge.
    const before = first.all()[1 - index];
    expect(startsOf(before).length).toBeGreaterThan(0);
    expect(startsOf(second.all()[1 - index])).toEqual(expect.arrayContaining([...startsOf(before)]));
  });

  it('is not one whose signers have another key since the last poll', () => {
    const second = startSimulatedProcess(chain, 50, first.end(49), (body) =>
      body.replaceAll(/(?<="tss_pubkey":")[^"]+/g, 'another'),
    );
    second.poll(52);
    const [, before] = first.all();
    expect(startsOf(before).length).toBeGreaterThan(0);
    expect(startsOf(second.all()[1])).toEqual(expect.arrayContaining([...startsOf(before)]));
  });

  it('is not one whose document says nothing about it', () => {
    const second = startSimulatedProcess(chain, 50, first.end(49), (body) =>
      body.replaceAll('"bridge_id":', '"other":'),
    );
    second.poll(52);
    const starts = startsOf(first.all()[0]);
    expect(starts.length).toBeGreaterThan(0);
    expect(startsOf(second.all()[0])).toEqual(starts);
    // And it is still known after that.
    expect(second.end(52).get('module_state')).toMatch(/"identity":\["0x\w+ \w/);
  });
});

describe('transactions that are pending and no longer listed', () => {
  const UNLISTED = 'crosschain_cctxs_unlisted';
  const sum = (values: Readonly<Record<string, number>>): number => Object.values(values).reduce((a, b) => a + b, 0);

  it('are found when they have left meanwhile, and are there with the first poll after the next restart', () => {
    const chain = createChain();
    const first = startSimulatedProcess(chain, 0);
    pollFrom(first, 0, INCIDENT_MINUTE);
    chain.model.setScenario('unlisted-cctxs');
    pollFrom(first, INCIDENT_MINUTE + 4, 64);
    expect(sum(first.values(UNLISTED, 64))).toBe(0);
    expect(sum(first.values('crosschain_cctxs_missed', 64))).toBe(3);

    const unaware = startSimulatedProcess(chain, 66);
    const second = startSimulatedProcess(chain, 66, first.end(65));
    for (let minute = 68; minute <= 84; minute += STEP_MINUTES) {
      second.poll(minute);
      unaware.poll(minute);
    }
    expect(sum(second.values('crosschain_cctxs_missed', 84))).toBe(0);
    // One had left before.
    expect(sum(second.values(UNLISTED, 84))).toBe(4);
    expect(sum(unaware.values(UNLISTED, 84))).toBe(0);

    const third = startSimulatedProcess(chain, 87, second.end(86));
    third.poll(88);
    expect(third.values(UNLISTED, 88)).toEqual(second.values(UNLISTED, 84));
    const asked = third.all()[1]?.queries.get('cctx')?.answers.size;
    expect(asked).toBe(10);
  });
});

describe('what is written of an endpoint', () => {
  const chain = createChain(SLOW_BLOCKS);
  const process = startSimulatedProcess(chain, 0);
  pollFrom(process, 0, 20);
  chain.model.setScenario('unlisted-cctxs');
  pollFrom(process, 24, 100);
  chain.model.setScenario('stuck');
  pollFrom(process, 104, 172);

  function rememberedIn(document: DocumentName): EndpointMemory {
    const endpoint = process.all().find((state) => state.document === document);
    const remembered = endpoint && createMemory(endpoint);
    if (remembered === undefined) throw new Error('nothing is remembered');
    return remembered;
  }

  it.each(SEARCHED)('is what was remembered, for %s', (document) => {
    const remembered = rememberedIn(document);
    const { problems } = remembered;
    expect(startsOf(remembered).length).toBeGreaterThan(0);
    expect(Array.from(problems.remembered.values(), ({ mark }) => mark ?? null).some((mark) => mark !== null)).toBe(
      true,
    );
    const subjects = Array.from(problems.remembered.values()).flatMap(({ histories }) =>
      Array.from(histories.values()),
    );
    // Without them, what is one problem of several validators would end with the restart.
    expect(subjects.some(({ validators }) => validators.length > 0)).toBe(document === 'module_state');
    const text = written(remembered, instantAt(173));
    expect(read(text)).toEqual(remembered);
    // Some kilobytes per target.
    expect(text.length).toBeLessThan(100_000);
  });

  it('drops a problem that this version does not have', () => {
    const memory = rememberedIn('module_state');
    const [known] = memory.problems.remembered.values();
    if (known === undefined) throw new Error('nothing is remembered');
    const remembered = new Map(memory.problems.remembered).set('Gone critical module_state', known);
    const text = written({ ...memory, problems: { ...memory.problems, remembered } }, instantAt(173));
    const restored = restoredFrom(text, instantAt(182)).problems.remembered;
    expect([restored.size, restored.has('Gone critical module_state')]).toEqual([remembered.size - 1, false]);
  });
});
