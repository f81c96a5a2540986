import { consensusAddress, dataPart } from '../chain/addresses.js';
import { type Field, isValid, boolean, list, numeral, object, type SchemaValue, string } from '../chain/fields.js';
import type { StepContext } from '../document-types.js';
import { toLabelValue } from '../facts/plain-values.js';
import { optional, required, WITHDRAWN } from '../facts/required-fields.js';
import { cleanText } from '../text/format.js';
import { HOUR_MS, MEBIBYTE } from '../units.js';
import { recentlyMissed, withCount, type MissedCount } from './missed-blocks.js';
import {
  hasNodeQueries,
  nextPageKey,
  nodeQuery,
  type Operator,
  pagination,
  type QueryContext,
  type QueryInput,
  type QueryRequest,
  type QueryStates,
} from './query.js';
import type { Numeral } from '../chain/numeral.js';
import type { WatchedOrchestrator } from '../facts/bridge/bridge-input.js';
import { families, gauge, labeledGauge } from '../metrics/family.js';

/*
 * The validators by the staking module of the Cosmos SDK (QueryValidatorsResponse): names for labels, contacts, and
 * operator addresses.
 */

/** The published contact of a validator; `null` for unpublished values. */
export interface Contact {
  readonly securityContact: string | null;
  readonly website: string | null;
}

/** Values by the data part of the operator address. */
export interface StakingValidators {
  readonly names: ReadonlyMap<string, string>;
  readonly contacts: ReadonlyMap<string, Contact>;
  readonly operators: ReadonlyMap<string, Operator>;
}

const rows = list(
  object({
    operator_address: string,
    consensus_pubkey: object({ '@type': string, key: string }),
    description: object({ moniker: string, security_contact: string, website: string }),
  }),
);

export function hasStakingNames(options: StepContext): boolean {
  return options.document === 'module_state' && options.settings.validator_names === 'staking';
}

export const validators = nodeQuery({
  name: 'validators',
  // Names change a few times a year, and the response has megabytes.
  intervalMs: HOUR_MS,
  maxBodyBytes: 16 * MEBIBYTE,
  // Also for watched validators: the paths of their queries contain operator addresses.
  isEnabled: (options) => hasStakingNames(options) || hasWatched(options),
  path: '/cosmos/staking/v1beta1/validators?pagination.limit=1000',
  schema: object({ validators: rows, pagination }),
  value: (page): StakingValidators => {
    const read = readValidators(required(page.validators));
    // A list without validators is invalid, because every chain has some.
    if (read.operators.size === 0 && nextPageKey(page) === undefined) throw WITHDRAWN;
    return read;
  },
  nextKey: nextPageKey,
  // Of entries with the same address, the first is kept.
  join: (before, page) => ({
    names: new Map([...page.names, ...before.names]),
    contacts: new Map([...page.contacts, ...before.contacts]),
    operators: new Map([...page.operators, ...before.operators]),
  }),
});

const NO_VALIDATORS: StakingValidators = { names: new Map(), contacts: new Map(), operators: new Map() };

/** The last answer, also a stale one. */
export function knownValidators(queries: QueryStates): StakingValidators {
  return validators.getAnswer(queries) ?? NO_VALIDATORS;
}

/** Goes into the path of a query, so an address of another form is left out. */
const ADDRESS = /^[a-z0-9]{1,90}$/;

const MAX_CONTACT_CHARACTERS = 100;

/** The first name and the first contact of each address. Missing values are left out, because no name is necessary. */
function readValidators(page: SchemaValue<typeof rows>): StakingValidators {
  const names = new Map<string, string>();
  const contacts = new Map<string, Contact>();
  const operators = new Map<string, Operator>();
  for (const validator of page) {
    if (!isValid(validator) || !isValid(validator.operator_address)) continue;
    const { operator_address: address, consensus_pubkey: key, description } = validator;
    const operator = dataPart(address);
    if (ADDRESS.test(address) && !operators.has(operator))
      operators.set(operator, { address, consensusAddress: readConsensusAddress(address, key) });
    if (!isValid(description)) continue;
    const name = isValid(description.moniker) ? toLabelValue(cleanText(description.moniker)) : '';
    if (name !== '' && !names.has(operator)) names.set(operator, name);
    const securityContact = contactText(description.security_contact);
    const website = contactText(description.website);
    if ((securityContact ?? website) !== null && !contacts.has(operator)) {
      contacts.set(operator, { securityContact, website });
    }
  }
  return { names, contacts, operators };
}

type ConsensusKey = Extract<Extract<SchemaValue<typeof rows>[number], object>['consensus_pubkey'], object>;

function readConsensusAddress(operator: string, key: Field<ConsensusKey>): string | undefined {
  if (!isValid(key) || key['@type'] !== '/cosmos.crypto.ed25519.PubKey' || !isValid(key.key)) return undefined;
  return consensusAddress(operator, Buffer.from(key.key, 'base64'));
}

function contactText(field: Field<string>): string | null {
  return isValid(field) ? cleanText(field, MAX_CONTACT_CHARACTERS) || null : null;
}

/*
 * The validators of `watch`: their status in the staking module, their last claim, the funds of their orchestrators,
 * and the blocks that they have not signed, by the slashing module of the Cosmos SDK.
 */

function hasWatched(options: StepContext): boolean {
  return hasNodeQueries(options) && options.document === 'module_state' && options.settings.watch.length > 0;
}

function watchedOrchestrators(context: QueryContext): readonly WatchedOrchestrator[] {
  if (context.document !== 'module_state') return [];
  return context.past.watched.filter(({ orchestrator }) => ADDRESS.test(orchestrator)).slice(0, context.maxSeries);
}

function requestEach(addressFor: (watched: WatchedOrchestrator, context: QueryContext) => string | undefined) {
  return (context: QueryContext, path: string): readonly QueryRequest[] =>
    watchedOrchestrators(context).flatMap((watched) => {
      const address = addressFor(watched, context);
      return address === undefined ? [] : [{ key: watched.orchestrator, path: path.replace('{address}', address) }];
    });
}

/** Bounded by the entries of `watch` and by the limit of series. */
const LABELS = ['orchestrator', 'name'] as const;

function validatorLabels({ request, context }: QueryInput<unknown>) {
  const { name = '' } = watchedOrchestrators(context).find(({ orchestrator }) => orchestrator === request.key) ?? {};
  return { orchestrator: toLabelValue(request.key), name: toLabelValue(name) };
}

/** A gauge with a series for the validator of the request. */
function watchedGauge<Value>(help: string, read: (value: Value) => Numeral | boolean) {
  return labeledGauge({
    help,
    stability: 'experimental',
    labels: LABELS,
    derive: (input: QueryInput<Value>) => [{ labels: validatorLabels(input), value: Number(read(input.value)) }],
  });
}

interface StakingStatus {
  readonly operator: string;
  readonly isJailed: boolean;
  readonly isBonded: boolean;
}

export const stakingStatus = nodeQuery({
  name: 'staking_validator',
  isEnabled: hasWatched,
  path: '/cosmos/staking/v1beta1/validators/{address}',
  requests: requestEach(({ sender }, { operators }) => operators.get(dataPart(sender))?.address),
  schema: object({ validator: object({ operator_address: string, jailed: boolean, status: string }) }),
  value: (page): StakingStatus => {
    const { operator_address: operator, jailed, status } = required(page.validator);
    return {
      operator: required(operator),
      isJailed: required(jailed),
      isBonded: required(status) === 'BOND_STATUS_BONDED',
    };
  },
  isAbout: ({ path }, { operator }) => path.endsWith(`/${operator}`),
  families: families<QueryInput<StakingStatus>>({
    bridge_watched_validator_jailed: watchedGauge(
      'Whether a watched validator is jailed, according to the staking module.',
      ({ isJailed }) => isJailed,
    ),
    bridge_watched_validator_bonded: watchedGauge(
      'Whether a watched validator is bonded, so in the active set of the hub, according to the staking module.',
      ({ isBonded }) => isBonded,
    ),
  }),
});

export const claimPosition = nodeQuery({
  name: 'claim_position',
  isEnabled: hasWatched,
  path: { peggy: '/peggy/v1/oracle/event/{address}', neutral: '/bridge/v1/oracle/event/{address}' },
  requests: requestEach(({ orchestrator }) => orchestrator),
  schema: object({ last_claim_event: object({ external_event_nonce: numeral, ethereum_event_nonce: numeral }) }),
  value: (page): Numeral => {
    const claim = required(page.last_claim_event);
    return required(optional(claim.external_event_nonce) ?? claim.ethereum_event_nonce);
  },
  families: families<QueryInput<Numeral>>({
    bridge_watched_validator_last_event_nonce: watchedGauge(
      'Nonce of the last event that the orchestrator of a watched validator has claimed.',
      (nonce) => nonce,
    ),
  }),
});

function seenHubCoinDenom(context: QueryContext): string | undefined {
  return context.document === 'module_state' ? context.past.hubCoinDenom : undefined;
}

export const orchestratorBalance = nodeQuery({
  name: 'orchestrator_balance',
  isEnabled: hasWatched,
  path: '/cosmos/bank/v1beta1/balances/{address}/by_denom',
  requests: (context, path) => {
    const denom = seenHubCoinDenom(context);
    if (denom === undefined) return [];
    const query = new URLSearchParams({ denom }).toString();
    return requestEach(({ orchestrator }) => orchestrator)(context, `${path}?${query}`);
  },
  schema: object({ balance: object({ amount: numeral }) }),
  value: (page): Numeral => required(required(page.balance).amount),
  families: families<QueryInput<Numeral>>({
    bridge_watched_orchestrator_balance_amount: labeledGauge({
      help: 'Balance of the orchestrator of a watched validator in the hub coin, in smallest units.',
      stability: 'experimental',
      labels: [...LABELS, 'denom'],
      derive: (input) => {
        const denom = toLabelValue(seenHubCoinDenom(input.context) ?? '');
        return [{ labels: { ...validatorLabels(input), denom }, value: input.value }];
      },
    }),
  }),
});

interface SigningInfo {
  /** Empty on some chains. */
  readonly address: string;
  /** Since this height the validator is bonded. */
  readonly startHeight: Numeral;
  /** Missed blocks within the window; jailing begins the number anew. */
  readonly missed: number;
  readonly isTombstoned: boolean;
}

interface KeptSigningInfo extends SigningInfo {
  /** In the order of time; begins anew after a time without answers. */
  readonly counts: readonly MissedCount[];
}

export const signingInfo = nodeQuery({
  name: 'signing_info',
  isEnabled: hasWatched,
  path: '/cosmos/slashing/v1beta1/signing_infos/{address}',
  requests: requestEach(({ sender }, { operators }) => operators.get(dataPart(sender))?.consensusAddress),
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
  keep: (info, { key }, context, height): KeptSigningInfo => {
    if (context.document !== 'module_state') return { ...info, counts: [] };
    const before = signingInfo.getAnswer(context.answers, key)?.counts ?? [];
    return { ...info, counts: withCount(before, { at: context.past.at, missed: info.missed, height }) };
  },
  families: families<QueryInput<SigningInfo>>({
    bridge_watched_validator_missed_blocks: watchedGauge(
      'Number of blocks in the window of bridge_signed_blocks_window_blocks that a watched validator has missed.',
      ({ missed }) => missed,
    ),
    bridge_watched_validator_tombstoned: watchedGauge(
      'Whether a watched validator is jailed for ever, because its key has signed two blocks of one height.',
      ({ isTombstoned }) => isTombstoned,
    ),
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
    const params = required(page.params);
    const window = Number(required(params.signed_blocks_window));
    const minSigned = Number(required(params.min_signed_per_window));
    return required(window > 0 && minSigned >= 0 && minSigned <= 1 ? { window, minSigned } : undefined);
  },
  families: families<QueryInput<SlashingParams>>({
    bridge_signed_blocks_window_blocks: gauge({
      help: 'Number of most recent hub blocks of which a validator must sign a share.',
      stability: 'experimental',
      value: ({ value: { window } }) => window,
    }),
    bridge_min_signed_per_window_ratio: gauge({
      help: 'Share of bridge_signed_blocks_window_blocks that a validator must sign to avoid being jailed.',
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

/** `undefined` without an answer. */
export function missedBlocks(answers: QueryStates, orchestrator: string): MissedBlocks | undefined {
  const info = signingInfo.getAnswer(answers, orchestrator);
  const params = slashingParams.getAnswer(answers);
  if (info === undefined || params === undefined) return info && { ...info, allowed: null, judgedHeight: null };
  const { window, minSigned } = params;
  return { ...info, allowed: window - Math.round(window * minSigned), judgedHeight: Number(info.startHeight) + window };
}

/** Whether it is jailed for more misses than allowed: a whole window after it was bonded. */
export function isJudged(height: Numeral | undefined, { judgedHeight }: MissedBlocks): boolean {
  return Number(required(height)) > required(judgedHeight ?? undefined);
}

/** Seconds until it is jailed at the present rate of missed blocks; `Infinity` at a rate of 0 or an unknown one. */
export function secondsUntilJailed(height: Numeral | undefined, blocks: MissedBlocks): number {
  const { missed, allowed, counts } = blocks;
  const recent = recentlyMissed(counts);
  if (allowed === null || recent === undefined || recent.blocks <= 0 || !isJudged(height, blocks)) return Infinity;
  return (Math.max(0, allowed - missed) * recent.seconds) / recent.blocks;
}
