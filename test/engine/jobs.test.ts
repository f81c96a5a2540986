import { expect, test } from 'vitest';
import { defaultConfig } from '../../src/config/config.js';
import { clock } from '../support/clock.js';
import { initialState, type EndpointState } from '../../src/engine/endpoint-state.js';
import { createJobs, targetOptions } from '../../src/engine/jobs.js';
import { pollInput } from '../support/polls.js';
import { enabledQueries } from '../../src/queries/node-queries.js';
import { answeredQueries } from '../support/answered-queries.js';
import { parseValidConfig } from '../support/config.js';

test('chains have built-in names, which configured ones override', () => {
  const config = { ...defaultConfig, chains: { '56': { name: 'bnb' }, '101': { name: 'localnet' } } };
  const { chains } = targetOptions(config, { name: 'a' }).names;
  expect(chains).toMatchObject({ '1': 'ethereum', '56': 'bnb', '101': 'localnet', '8332': 'bitcoin' });
});

test.each([
  ['staking', new Map([['ab', 'Alice']])],
  ['off', undefined],
])('validators have the names of the staking module unless validator_names is off: %s', (setting, expected) => {
  const config = parseValidConfig(
    `targets: [{name: a, bridge: {url: "http://node.example", validator_names: "${setting}", watch: ["0x1111111111111111111111111111111111111111"]}}]`,
  );
  const [job] = createJobs(config);
  if (job === undefined) throw new Error('the target has a bridge');
  // The list is also read for the operator addresses of watched validators.
  expect(enabledQueries(job.context).has('validators')).toBe(true);
  const validators = { names: new Map([['ab', 'Alice']]), contacts: new Map(), operators: new Map() };
  const state = { ...initialState(job.context, clock().at), queries: answeredQueries(clock(), { validators }) };
  expect(pollInput(job.context, state, () => undefined, clock()).additionalInput).toEqual({
    isNodeBehind: false,
    ...(expected !== undefined && { names: expected }),
  });
});

test('the external height is that of the contract, unless its node has only old blocks', () => {
  const config = parseValidConfig(
    'targets: [{name: a, bridge: {url: "http://node.example", external: {url: "http://rpc.example"}}}]',
  );
  const [bridge, contract] = createJobs(config);
  if (bridge === undefined || contract === undefined) throw new Error('the target has a bridge and a contract');
  const now = clock();
  const heightWith = (blockAgeSeconds: number): unknown => {
    const past = { height: 1000n, blockSeconds: now.at - blockAgeSeconds, paused: false };
    const lastSuccess = { at: now.at, snapshot: { document: 'external_contract', past } };
    const sibling = { ...initialState(contract.context, now.at), lastSuccess } as unknown as EndpointState;
    const { additionalInput } = pollInput(bridge.context, initialState(bridge.context, now.at), () => sibling, now);
    return (additionalInput as { readonly externalHeight?: unknown }).externalHeight;
  };
  expect(heightWith(60)).toEqual(1000n);
  expect(heightWith(3600)).toBeUndefined();
});
