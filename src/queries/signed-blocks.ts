import { dataPart } from '../chain/addresses.js';
import type { Numeral } from '../chain/numeral.js';
import { boolean, numeral, object, string } from '../chain/fields.js';
import type { Instant } from '../clock.js';
import { optional, required } from '../facts/required-fields.js';
import { families, gauge, labeledGauge } from '../metrics/family.js';
import { HOUR_MS, MINUTE_SECONDS } from '../units.js';
import { nodeQuery, type QueryContext, type QueryInput } from './query.js';
import type { QueryStates } from './query-state.js';
import { hasWatched, LABELS, ofWatched, perWatched } from './watched-validators.js';

/* The blocks that the validators of `watch` have not signed, by the slashing module of the Cosmos SDK. */

interface SigningInfo {
  /** Empty on some chains. */
  readonly address: string;
  /** Since this height the validator is bonded. */
  readonly startHeight: Numeral;
  /** Within the window; jailing begins it anew. */
  readonly missed: number;
  readonly isTombstoned: boolean;
}

/** The missed blocks at the time of a document. */
interface MissedCount {
  readonly at: Instant;
  readonly missed: number;
}

interface KeptSigningInfo extends SigningInfo {
  /** Ascending; without those before a time without answers. */
  readonly counts: readonly MissedCount[];
}

/** One more than there are squares on the page. */
const MAX_COUNTS = 21;

function withCounts(info: SigningInfo, key: string, context: QueryContext): KeptSigningInfo {
  if (context.document !== 'module_state') return { ...info, counts: [] };
  const before = signingInfo.valuesOf(context.answers).get(key)?.counts ?? [];
  return { ...info, counts: [...before, { at: context.past.at, missed: info.missed }].slice(-MAX_COUNTS) };
}

export const signingInfo = nodeQuery({
  name: 'signing_info',
  isEnabled: hasWatched,
  path: '/cosmos/slashing/v1beta1/signing_infos/{address}',
  requests: perWatched(({ sender }, { operators }) => operators.get(dataPart(sender))?.consensusAddress),
  schema: object({
    val_signing_info: object({
      address: string,
      start_height: numeral,
      missed_blocks_counter: numeral,
      tombstoned: boolean,
    }),
  }),
  value: (page): SigningInfo => {
    const info = required(page.val_signing_info);
    return {
      address: optional(info.address) ?? '',
      startHeight: required(info.start_height),
      missed: Number(required(info.missed_blocks_counter)),
      isTombstoned: required(info.tombstoned),
    };
  },
  isAbout: ({ path }, { address }) => address === '' || path.endsWith(`/${address}`),
  keep: (info, { key }, context): KeptSigningInfo => withCounts(info, key, context),
  families: families<QueryInput<SigningInfo>>({
    bridge_watched_validator_missed_blocks: labeledGauge({
      help: 'Number of blocks in the window of bridge_signed_blocks_window_blocks that a validator of watch has not signed.',
      stability: 'experimental',
      labels: LABELS,
      derive: ofWatched(({ missed }) => missed),
    }),
    bridge_watched_validator_tombstoned: labeledGauge({
      help: 'Whether a validator of watch is jailed for ever, because its key has signed two blocks of one height (1), or not (0).',
      stability: 'experimental',
      labels: LABELS,
      derive: ofWatched(({ isTombstoned }) => (isTombstoned ? 1 : 0)),
    }),
  }),
});

interface SlashingParams {
  /** In blocks. */
  readonly window: number;
  /** Share of the window. */
  readonly minSigned: number;
}

export const slashingParams = nodeQuery({
  name: 'slashing_params',
  intervalMs: HOUR_MS,
  isEnabled: hasWatched,
  path: '/cosmos/slashing/v1beta1/params',
  schema: object({ params: object({ signed_blocks_window: numeral, min_signed_per_window: numeral }) }),
  value: (page): SlashingParams => {
    const { signed_blocks_window: window, min_signed_per_window: minSigned } = required(page.params);
    const [blocks, share] = [Number(required(window)), Number(required(minSigned))];
    return required(blocks > 0 && share >= 0 && share <= 1 ? { window: blocks, minSigned: share } : undefined);
  },
  families: families<QueryInput<SlashingParams>>({
    bridge_signed_blocks_window_blocks: gauge({
      help: 'Number of the last blocks of which a validator of the hub has to sign a share.',
      stability: 'experimental',
      value: ({ value: { window } }) => window,
    }),
    bridge_min_signed_per_window_ratio: gauge({
      help: 'Share of bridge_signed_blocks_window_blocks that a validator of the hub has to sign, or it is jailed.',
      stability: 'experimental',
      value: ({ value: { minSigned } }) => minSigned,
    }),
  }),
});

/** The missed blocks of a validator of `watch`. */
export interface MissedBlocks extends KeptSigningInfo {
  /** How many it may miss within the window; can be 0. `null` without the parameters. */
  readonly allowed: number | null;
  /** The height from which on it is jailed for more; `null` without the parameters. */
  readonly judgedHeight: number | null;
}

/** By orchestrator. */
export function missedBlocks(answers: QueryStates): ReadonlyMap<string, MissedBlocks> {
  const params = slashingParams.valuesOf(answers).get('');
  return new Map(
    Array.from(signingInfo.valuesOf(answers), ([orchestrator, info]) => [
      orchestrator,
      {
        ...info,
        allowed: params === undefined ? null : params.window - roundedToEven(params.window * params.minSigned),
        judgedHeight: params === undefined ? null : Number(info.startHeight) + params.window,
      },
    ]),
  );
}

/** As the Cosmos SDK rounds the number of blocks to sign. */
function roundedToEven(blocks: number): number {
  const rounded = Math.round(blocks);
  return rounded - blocks === 0.5 && rounded % 2 === 1 ? rounded - 1 : rounded;
}

const RISE_SECONDS = 10 * MINUTE_SECONDS;

/** How many more blocks were missed within the last minutes; `undefined` without earlier answers. */
export function recentlyMissed({
  counts,
}: KeptSigningInfo): { readonly blocks: number; readonly seconds: number } | undefined {
  const last = counts.at(-1);
  const recent = counts.filter(({ at }) => last !== undefined && last.at - at <= RISE_SECONDS);
  if (last === undefined || recent.length < 2) return undefined;
  // Jailing, and misses that leave the window, lower the number.
  const lowest = recent.reduce((a, b) => (b.missed <= a.missed ? b : a));
  return { blocks: last.missed - lowest.missed, seconds: last.at - lowest.at };
}
