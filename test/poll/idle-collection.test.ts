import { createHook } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRest, type Rest } from '../../src/poll/idle-collection.js';

const ofNobody = (): WeakRef<object> => new WeakRef({});

/** Whether the memory of something nobody refers to was given back when a thread had nothing to do for a while. */
async function isGivenBack(): Promise<boolean> {
  const garbage = ofNobody();
  // What was just made is held until the turn is over.
  await sleep(0);
  await vi.advanceTimersByTimeAsync(10_000);
  await sleep(0);
  return garbage.deref() === undefined;
}

const tensOfMegabytes = (): unknown => Array.from({ length: 2_000_000 }, (_, index) => ({ index }));

let rest: Rest;
let held: unknown;

beforeEach(() => {
  held = tensOfMegabytes();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  rest = createRest();
});

afterEach(() => {
  rest.close();
  vi.useRealTimers();
});

it('memory is given back at rest, and not while something is under way', async () => {
  rest.workBegins();
  rest.workBegins();
  rest.workEnds();
  expect(await isGivenBack()).toBe(false);
  rest.workEnds();
  rest.workBegins();
  expect(await isGivenBack()).toBe(false);
  rest.workEnds();
  expect(await isGivenBack()).toBe(true);
});

it('but not again before there is enough of it', async () => {
  const work = (): void => {
    rest.workBegins();
    rest.workEnds();
  };
  work();
  expect(await isGivenBack()).toBe(true);
  work();
  expect(await isGivenBack()).toBe(false);
  held = [held, tensOfMegabytes()];
  work();
  expect(await isGivenBack()).toBe(true);
});

it('and not once all is over', async () => {
  rest.workBegins();
  rest.workEnds();
  rest.close();
  expect(await isGivenBack()).toBe(false);
});

it('a tick stays, so that V8 knows the shape of those to come', async () => {
  const ticks: WeakRef<object>[] = [];
  const hook = createHook({
    init: (_id, type, _trigger, resource: object) => {
      if (type === 'TickObject') ticks.push(new WeakRef(resource));
    },
  }).enable();
  const another = createRest();
  hook.disable();
  expect(ticks).toHaveLength(1);
  rest.workBegins();
  rest.workEnds();
  expect(await isGivenBack()).toBe(true);
  expect(ticks[0]?.deref()).toBeDefined();
  another.close();
});
