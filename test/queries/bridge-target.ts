import { readerOf, START } from '../support/polls.js';
import { clock } from '../support/clock.js';
import type { Config } from '../../src/config/config.js';
import { wallSeconds } from '../../src/clock.js';
import { freshAnswers, initialState, readPast, type EndpointState } from '../../src/engine/endpoint-state.js';
import { queryContext } from '../../src/engine/additional-input.js';
import { contractAnswers } from '../../src/queries/contract-queries.js';
import { enabledQueries } from '../../src/queries/node-queries.js';
import { afterRound, isDue, type QueryState, type QueryStates } from '../../src/queries/query.js';
import { isContract, createJobs, type PollJob } from '../../src/engine/jobs.js';
import { createNetwork } from '../../src/sources/network.js';
import type { PollResult } from '../../src/engine/step.js';
import { bridgeSnapshot } from '../support/snapshots.js';
import { parseValidConfig } from '../support/config.js';
import { seriesOf } from '../support/exposition-text.js';
import { readPoll, step } from '../support/steps.js';

/* Polls of the contract of a target, whose module state is given. */

export const BRIDGE = '0xf955c57f9ea9dc8781965feae0b6a2ace2bad6f3';
export const TOKEN = '0xdac17f958d2ee523a2206206994597c13d831ec7';
/** With the checksum of EIP-55. */
export const DENOM = 'peggy0xdAC17F958D2ee523a2206206994597C13D831ec7';
export const SECRET = 'k3y-0123456789abcdef';
export const HUB_HEIGHT = '8214100';

const network = createNetwork('test/1', clock);

/** A transfer of the token: amount and fee. */
const transfer = (id: number, amount: string, fee: string) => ({
  id: String(id),
  erc20_token: { contract: TOKEN, amount },
  erc20_fee: { contract: TOKEN, amount: fee },
});

/** 1000 + 10 wait, 500 + 5 are in batch 7, and 200 + 2 in batch 8. */
export const state = {
  params: { bridge_external_address: BRIDGE, bridge_chain_id: '1' },
  last_observed_nonce: '100',
  attestations: [{ observed: false, height: '1', votes: [], claim: { event_nonce: '101' } }],
  valsets: [{ nonce: '50', members: [] }],
  last_observed_valset: { nonce: '49', members: [] },
  erc20_to_denoms: [],
  unbatched_transfers: [transfer(3, '1000', '10')],
  batches: [
    { batch_nonce: '7', token_contract: TOKEN, transactions: [transfer(1, '500', '5')] },
    { batch_nonce: '8', token_contract: TOKEN, transactions: [transfer(2, '200', '2')] },
  ],
};

export function configOf(
  url: string,
  path = `/v3/${SECRET}`,
  timeout = '15s',
  judged: readonly string[] = [TOKEN],
): Config {
  return parseValidConfig(`
poll: {timeout: ${timeout}}
targets:
  - name: t
    bridge: {url: '${url}', external: {url: '${url}${path}'}}
tokens: [${judged.map((contract) => `{contract: '${contract}', backing: true}`).join(', ')}]
`);
}

export interface ContractPoll {
  readonly result: PollResult;
  /** After the poll and its queries. */
  readonly state: EndpointState;
  /** The series of the contract by name and labels. */
  readonly values: Readonly<Record<string, number>>;
}

interface PollOptions {
  readonly moduleState?: object;
  readonly before?: EndpointState;
  readonly timeout?: string;
  readonly path?: string;
  /** In milliseconds. */
  readonly externalBlockTime?: number;
  readonly moduleStateMinutesAgo?: number;
  readonly hubHeight?: string;
  /** Unix seconds of the block of the module state; `undefined` if the node does not say it. */
  readonly hubSeconds?: number | undefined;
  /** The tokens with `backing`. */
  readonly judged?: readonly string[];
}

/** The queries that are due, with their answers. */
async function answersTo(job: PollJob, endpoint: EndpointState): Promise<QueryStates> {
  const context = queryContext(job.context, endpoint, clock().at);
  if (context === undefined) throw new Error('the contract is read');
  const states = Array.from(endpoint.queries, async ([name, query]): Promise<[string, QueryState]> => {
    const requests = isDue(query, clock().at) ? query.query.requests(context) : [];
    if (requests.length === 0) return [name, query];
    const exchanges = await Promise.all(requests.map(async (request) => network.query(job, query.query, request)));
    return [name, afterRound(query, context, exchanges, clock().at, clock().at)];
  });
  return new Map(await Promise.all(states));
}

/** Polls the contract after a module state, sends the queries that are due, and derives the reading with their answers, like `once`. */
export async function pollContract(url: string, options: PollOptions = {}): Promise<ContractPoll> {
  const { moduleState = state, before, timeout, path, externalBlockTime = 12_000, moduleStateMinutesAgo = 0 } = options;
  const { hubHeight = HUB_HEIGHT } = options;
  const config = configOf(url, path, timeout, options.judged);
  const job = createJobs(config).find(isContract);
  if (job === undefined) throw new Error('the configuration has a contract');
  const now = clock();
  const bridge = bridgeSnapshot(moduleState, {
    height: hubHeight,
    tokens: config.tokens,
    block_time: 2000,
    external_block_time: externalBlockTime,
    atMs: (now.at - START.at - moduleStateMinutesAgo * 60) * 1000,
  });
  const found = readPast('module_state', bridge)?.hubSide;
  const hubSide = found && { ...found, at: now.at - moduleStateMinutesAgo * 60 };
  const epochSeconds = 'hubSeconds' in options ? options.hubSeconds : wallSeconds(now.at, now);
  // The node has named the block after that of the module state.
  const hubBlock =
    epochSeconds === undefined ? undefined : { height: Number(hubHeight) + 1, epochSeconds: epochSeconds + 2 };
  const initial = before ?? { ...initialState(job.context, now.at), queries: enabledQueries(job.context) };
  const received = await network.document(job, { hubSide }, readerOf(job));
  const readWith = (endpoint: EndpointState): PollResult => {
    const answers = contractAnswers(freshAnswers(endpoint, clock().at), BRIDGE);
    const additionalInput = { hubSide, hubBlock, ...answers };
    const known = received.ok
      ? { ...received, additionalInput: { ...additionalInput, ...received.additionalInput } }
      : received;
    return readPoll(known, job.context, clock());
  };
  const result = readWith(initial);
  let polled = step(initial, result, job.context, clock());
  if (result.outcome.ok) {
    const queries = await answersTo(job, polled);
    polled = step({ ...initial, queries }, readWith({ ...polled, queries }), job.context, clock());
  }
  const lines = (polled.lastSuccess?.snapshot.renderedFamilies ?? []).map((family) => family.text).join('');
  const values = Object.fromEntries(
    Array.from(seriesOf(lines), ({ name, labels, value }) => [
      name + (labels === 'target="t"' ? '' : `{${labels.replace('target="t",', '')}}`),
      value,
    ]),
  );
  return { result, state: polled, values };
}
