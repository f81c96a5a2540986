import { z } from 'zod';
import { ZETACHAIN_IDS } from '../chain/known-chains.js';
import {
  expectation,
  key,
  type Keys,
  list,
  optionalKey,
  rejectBoth,
  scalar,
  type Settings,
  settings,
} from '../settings/schema.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../settings/units.js';
import * as types from '../settings/value-types.js';
import { type HttpClientConfig, httpClientKeys } from './http-client-config.js';
import { nodeUrl, rpcUrl, type EndpointUrl } from './urls.js';
import { validatorAddress } from './validator-address.js';

/* The endpoints of a target in the configuration file, and the settings for requesting and decoding their documents. */

const withoutRepetitions = <T>(entries: z.ZodArray<z.ZodType<T>>) => entries.overwrite((all) => [...new Set(all)]);

const objectiveKeys = {
  // In milliseconds.
  withdrawalMs: key('withdrawal', types.duration(MINUTE_MS, 30 * DAY_MS), {
    description:
      'Maximum time from the first document with a withdrawal to its execution. It becomes a bucket of `bridge_transfer_duration_seconds`.',
  }),
  // A decimal string as in the file.
  ratio: key('ratio', types.fraction, {
    default: '0.99',
    description: 'Share of the withdrawals, and of the time, that has to meet it.',
  }),
};

export type Objective = Settings<typeof objectiveKeys>;

const nodeQueries = (what: string) =>
  key('node_queries', types.oneOf('auto', 'off'), {
    default: 'auto',
    description: `Whether the same node is also asked for ${what}. A failure, or a path that the node does not know, affects nothing else.`,
  });

/** The settings for decoding a bridge document, polled or recorded. */
const bridgeKeys = {
  dialect: key('dialect', types.oneOf('auto', 'neutral', 'peggy'), {
    default: 'auto',
    variable: 'BRIDGE_DIALECT',
    description: 'Path of the module state: `peggy` on Injective, `neutral` on the simulator; `auto` finds it.',
  }),
  // A decimal string as in the file.
  powerThreshold: key('power_threshold', types.fraction, {
    default: '0.66',
    description: 'Share of the power that must sign a validator set or batch before it is relayed.',
  }),
  // In milliseconds.
  blockTime: key('block_time', types.durationOrAuto(1, HOUR_MS), {
    default: 'auto',
    description:
      'Block time of the hub; `auto` measures it over the polls of the last hour, and uses the parameter of the chain until then.',
  }),
  externalBlockTime: key('external_block_time', types.durationOrAuto(1, HOUR_MS), {
    default: 'auto',
    description:
      'Block time of the external chain; `auto` is 12s on Ethereum and Sepolia, and the parameter of the chain elsewhere.',
  }),
  backlogLimit: key('backlog_limit', types.integer(1, 1_000_000_000), {
    default: '500',
    description: 'Number of pending transfers above which an alert fires.',
  }),
  objective: optionalKey('objective', settings(objectiveKeys), {
    description: 'How long withdrawals may take. `BridgeObjectiveMissed` fires when too many take longer.',
  }),
  validatorNames: key('validator_names', types.oneOf('staking', 'off'), {
    default: 'staking',
    description:
      'Where validators get their names from: `staking` reads the monikers of the staking module of the node once an hour; `off` reads none.',
  }),
  watch: key('watch', withoutRepetitions(list(validatorAddress)), {
    default: [],
    variable: 'BRIDGE_WATCH',
    description:
      'Your own validators, by orchestrator, operator or external address. They are marked in metrics, alerts and pages.',
  }),
  watchMinBalance: key('watch_min_balance', types.amount, {
    default: '0',
    description:
      'Balance of the orchestrators of `watch`, in smallest units of the hub coin, below which `BridgeWatchedOrchestratorFundsLow` fires.',
  }),
  nodeQueries: nodeQueries('its newest block, and for status, claims and funds of the validators of `watch`'),
};

export type BridgeSettings = Settings<typeof bridgeKeys>;

const maxInt64 = 2n ** 63n - 1n;
const maxUint32 = 2n ** 32n - 1n;
const maxUint256 = 2n ** 256n - 1n;

const ignoreKeys = {
  indexes: key('indexes', withoutRepetitions(list(types.label(128, 'the index of a cctx'))), {
    default: [],
    description: 'Indexes of cctxs.',
  }),
  olderThanMs: key('older_than', types.optionalDuration(MINUTE_MS, 3650 * DAY_MS), {
    default: '0s',
    description: 'Age from which a cctx is ignored; `0s` for none.',
  }),
};

export const DEFAULT_AGE_LIMIT = 'default';

const ageLimitKey = z.string().refine((name) => name === DEFAULT_AGE_LIMIT || types.isChainId(name));

function describeAgeLimitsIssue(issue: z.core.$ZodRawIssue): string {
  return issue.code === 'invalid_key'
    ? `is not a chain id — expected ${DEFAULT_AGE_LIMIT}, or at most ${types.maxChainIdDigits} decimal digits`
    : expectation('a mapping of chain ids to durations, such as {"8332": 2h}')(issue);
}

/** The settings for requesting and decoding a cross-chain document. Integers are strings of decimal digits. */
const crosschainKeys = {
  dialect: key('dialect', types.oneOf('auto', 'neutral', 'zeta'), {
    default: 'auto',
    variable: 'CROSSCHAIN_DIALECT',
    description: 'Path of the rate limiter input: `zeta` on ZetaChain, `neutral` on the simulator; `auto` finds it.',
  }),
  window: key('window', types.positiveDigits(maxInt64, String(maxInt64)), {
    default: '500',
    variable: 'CROSSCHAIN_WINDOW',
    description: 'Length of the sliding window of the rate limiter, in blocks.',
  }),
  limit: optionalKey('limit', types.positiveDigits(maxUint32, String(maxUint32)), {
    variable: 'CROSSCHAIN_LIMIT',
    description: 'Maximum number of pending cctxs to list. Sent only if set.',
  }),
  rate: optionalKey('rate', types.positiveDigits(maxUint256, '2^256 - 1'), {
    description: 'Rate limit in smallest units per block. Enables the rate-limit gauges.',
  }),
  hubChainIds: key('hub_chain_ids', withoutRepetitions(list(types.chainId)), {
    default: [...ZETACHAIN_IDS],
    variable: 'CROSSCHAIN_HUB_CHAIN_IDS',
    description:
      'Chain ids of the hub, by default those of ZetaChain. A cctx sent from one of them is outgoing, any other is incoming; with an empty list, the direction is `unknown`.',
  }),
  ignore: key('ignore', settings(ignoreKeys), {
    default: {},
    description:
      'Cctxs that nobody can clear. They are counted in `crosschain_cctxs_ignored`, and left out of counts and ages by chain.',
  }),
  backlogLimit: key('backlog_limit', types.integer(1, 1_000_000_000), {
    default: '1000',
    description: 'Number of missed and pending cctxs above which `CrosschainBacklogHigh` fires.',
  }),
  ageLimitsMs: key(
    'age_limits',
    z.record(ageLimitKey, scalar(types.duration(MINUTE_MS, 365 * DAY_MS)), { error: describeAgeLimitsIssue }),
    {
      default: {},
      description:
        'How long a cctx may be pending, by the id of its chain; `default` for chains without a limit. Built in: 2h for 8332 (Bitcoin), 30m for all others.',
    },
  ),
  nodeQueries: nodeQueries('its newest block, and for switches, nonces and parameters of the chains'),
  cctxQueries: key('cctx_queries', types.oneOf('auto', 'off'), {
    default: 'auto',
    description:
      'Whether the same node is asked for the outcome of cctxs that have left the lists, at most ten after a poll. With `off`, and on a node without this query, the outcome is `unknown`, and cctxs that are pending and no longer listed are not found.',
  }),
};

export type CrosschainSettings = Settings<typeof crosschainKeys>;

/** How a node is requested. */
export interface NodeConnection {
  readonly url: EndpointUrl;
  /** Absent if no key of the HTTP client is set. `directory` is empty until the file is known. */
  readonly httpClient?: HttpClientConfig;
}

/** How the contract is requested from a node of the external chain. */
export interface RpcSettings extends NodeConnection {
  readonly intervalMs: number;
}

/** The keys of an endpoint are in one mapping. In the configuration, those of the HTTP client are in `httpClient`. */
function endpoint<K extends Keys>(name: string, keys: K): z.ZodType<Settings<K> & Pick<NodeConnection, 'httpClient'>>;
function endpoint(name: string, keys: Keys): z.ZodType {
  const flat = settings(
    { ...keys, ...httpClientKeys },
    {
      expected: `a mapping such as ${name}: {url: https://node.example.org}`,
      checks: [rejectBoth('basic_auth', 'authorization')],
    },
  );
  return z.codec(flat, z.custom<Pick<NodeConnection, 'httpClient'>>(), {
    decode: (all) => {
      const isOfClient = ([property]: [string, unknown]): boolean => Object.hasOwn(httpClientKeys, property);
      const entries = Object.entries(all);
      const client = entries.filter(isOfClient);
      const own = Object.fromEntries(entries.filter((entry) => !isOfClient(entry)));
      return client.length === 0 ? own : { ...own, httpClient: { directory: '', ...Object.fromEntries(client) } };
    },
    encode: ({ httpClient, ...own }) => {
      const { directory: _directory, ...client } = httpClient ?? { directory: '' };
      return { ...own, ...client };
    },
  });
}

const urlKey = (variable: string, document: string) =>
  key('url', nodeUrl, {
    variable,
    description: `Base URL of the node with the ${document}; the path of the document is appended. Its own path, which may be an API key, is redacted in all output.`,
  });

const external: z.ZodType<RpcSettings> = endpoint('external', {
  url: key('url', rpcUrl, {
    description: 'URL of the JSON-RPC endpoint. Its path and query may be an API key, and are redacted in all output.',
  }),
  // At most half of the age at which data is outdated.
  intervalMs: key('interval', types.duration(100, 5 * MINUTE_MS), {
    default: '1m',
    description: 'Pause from the end of one poll to the start of the next, with jitter.',
  }),
});

export const bridge = endpoint('bridge', {
  url: urlKey('BRIDGE_URL', 'bridge module state'),
  ...bridgeKeys,
  external: optionalKey('external', external, {
    description:
      'JSON-RPC endpoint of the external chain. The contract of the bridge is compared with the module state; see External contract in the documentation.',
  }),
});
export const crosschain = endpoint('crosschain', {
  url: urlKey('CROSSCHAIN_URL', 'cross-chain rate limiter input'),
  ...crosschainKeys,
});

export const defaultBridgeSettings: BridgeSettings = settings(bridgeKeys).parse({});
export const defaultCrosschainSettings: CrosschainSettings = settings(crosschainKeys).parse({});
