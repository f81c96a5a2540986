import { defaultCrosschainSettings, type CrosschainSettings } from '../../src/config/endpoint-config.js';
import type { CctxAnswer } from '../../src/facts/crosschain/crosschain-input.js';
import { EMPTY_CROSSCHAIN_FLOW, nextQuestions, type CrosschainFlow } from '../../src/flow/crosschain-flow.js';
import { isDocument } from '../../src/engine/endpoint-state.js';
import { cctx, outbound, rateLimiterInput, status } from '../facts/crosschain/document.js';
import type { JsonObject } from '../support/json.js';
import { seriesOf } from '../support/exposition-text.js';
import { NO_NAMES, TARGET_OPTIONS } from '../support/polls.js';
import { getItems } from '../../src/engine/kept-body.js';
import { flowPolls, START_SECONDS } from './flow-polls.js';

export interface CrosschainPollsOptions extends Partial<CrosschainSettings> {
  readonly maxSeries?: number;
}

interface CctxOptions {
  readonly chain?: string;
  readonly nonce?: number;
  readonly key?: string;
  readonly created?: number;
  /** Of its outbound. */
  readonly fields?: JsonObject;
}

/** A pending transaction that was created 100 seconds before the first poll. */
export const pending = (index: string, options: CctxOptions = {}): JsonObject => {
  const { chain = '1', nonce = 0, key = 'k1', created = START_SECONDS - 70, fields: others } = options;
  const fields = { tss_nonce: String(nonce), tss_pubkey: key, ...others };
  return cctx(index, [outbound(chain, fields)], { cctx_status: status({ created_timestamp: String(created) }) });
};

/** A complete list at this height. */
export const listed = (height: number, cctxs: readonly JsonObject[], fields: JsonObject = {}): JsonObject =>
  rateLimiterInput({
    height: String(height),
    cctxs_pending: cctxs,
    total_pending: String(cctxs.length),
    ...fields,
  });

/** An endpoint whose polls get these documents. */
export function crosschainPolls({ maxSeries = 200, ...settings }: CrosschainPollsOptions = {}) {
  const { poll, fail, snapshot, exposition, values } = flowPolls({
    ...TARGET_OPTIONS,
    names: { ...NO_NAMES, chains: { '1': 'ethereum' } },
    maxSeries,
    document: 'rate_limiter_input',
    settings: { ...defaultCrosschainSettings, ...settings },
  });
  let answers: ReadonlyMap<string, CctxAnswer> = new Map();
  let cctxsAskedAt = 0;
  const flow = (): CrosschainFlow | undefined => {
    const last = snapshot();
    return isDocument('rate_limiter_input', last) ? last.flow : undefined;
  };
  return {
    /** Polls `after` seconds after the last poll. In between, the node is asked, unless it is too slow. */
    poll: (document: unknown, after = 30, { isAsked = true } = {}): void => {
      if (isAsked) cctxsAskedAt += after * 1000;
      poll(document, after, { additionalInput: { cctxAnswers: answers, cctxsAskedAt } });
      answers = new Map();
    },
    fail,
    /** What the node answers before the next poll. */
    answer: (all: Readonly<Record<string, CctxAnswer>>): void => {
      answers = new Map(Object.entries(all));
    },
    /** The indexes of those for which the node is asked next. */
    questions: (): readonly string[] => nextQuestions(flow() ?? EMPTY_CROSSCHAIN_FLOW),
    /** The values of `crosschain_cctxs_unlisted` by chain id. */
    unlisted: (): Record<string, number> =>
      Object.fromEntries(
        seriesOf(exposition())
          .filter(({ name }) => name === 'crosschain_cctxs_unlisted')
          .map(({ labels, value }) => [/chain_id="([^"]*)"/.exec(labels)?.[1], value]),
      ),
    /** The unlisted ones of the page; `undefined` if nothing can be said. */
    unlistedItems: () => {
      const last = snapshot();
      const items = last && getItems(last);
      return items?.document === 'rate_limiter_input' && items.unlisted?.readable === true
        ? items.unlisted.rows
        : undefined;
    },
    /** The indexes of those for which the node is asked. */
    departed: (): readonly string[] => Array.from(flow()?.departed.keys() ?? []),
    values,
    exposition,
    flow,
  };
}
