import { z } from 'zod';
import type { Result } from '../result.js';
import { ZETACHAIN_IDS } from '../chain/known-chains.js';
import { checkPattern } from '../settings/glob.js';
import {
  type Check,
  evenAfterOtherProblems,
  key,
  type Keys,
  list,
  listSettings,
  optionalKey,
  presentKeys,
  rejectBoth,
  requireOneOf,
  scalar,
  type Settings,
  settings,
  shorthand,
} from '../settings/schema.js';
import { formatDuration } from '../settings/units.js';
import * as types from '../settings/value-types.js';
import { type HttpClientConfig, httpClientKeys } from './http-client-config.js';
import { endpointExample, nodeUrl, siteUrl } from './node-url.js';
import { rpcUrl, type RpcUrl } from './rpc-url.js';
import { targetLabels } from './target-labels.js';
import { validatorAddress } from './validator-address.js';

/*
 * The configuration file: every key with its type, default, environment variable and description. The types of the
 * configuration, the printed configuration and the reference in docs/configuration.md follow from these declarations.
 * The parts of a configuration are structured-cloneable, because they are sent to the worker thread in jobs.
 */

const second = 1_000;
const minute = 60 * second;
const hour = 3_600 * second;
const day = 24 * hour;
const mebibyte = 2 ** 20;

const poll = settings(
  {
    // The minimums are this low for tests only: the documents are expensive for the node.
    // The upper limits keep every timer below 2^31 ms, the maximum of setTimeout.
    intervalMs: key('interval', types.duration(100, day), {
      default: '30s',
      variable: 'POLL_INTERVAL',
      description: 'Pause from the end of one poll to the start of the next, with jitter.',
    }),
    timeoutMs: key('timeout', types.duration(100, hour), {
      default: '20s',
      description: 'Timeout of all requests of a poll together: connections, headers and bodies.',
    }),
    staleAfterMs: key('stale_after', types.duration(100, 7 * day), {
      default: '5m',
      description: 'Age at which the chain series of an endpoint are withdrawn. At least `interval` + `timeout`.',
    }),
    // A string in a body can be almost as long as the body, and V8 limits strings to just under 512 MiB.
    maxBodyBytes: key('max_body_size', types.size(1024, 511 * mebibyte), {
      default: '64MiB',
      description: 'Maximum size of a response body after decompression.',
    }),
  },
  { checks: [checkStaleAfter] },
);

function checkStaleAfter(input: unknown, context: z.RefinementCtx): void {
  const { data } = z.object({ interval: z.number(), timeout: z.number(), stale_after: z.number() }).safeParse(input);
  if (!data || data.stale_after >= data.interval + data.timeout) return;
  const sum = formatDuration(data.interval + data.timeout);
  const [stale, interval, timeout] = [data.stale_after, data.interval, data.timeout].map(formatDuration);
  const message = `stale_after (${stale}) is below interval (${interval}) + timeout (${timeout}) — expected at least ${sum}`;
  context.addIssue({ code: 'custom', path: ['stale_after'], message });
}

const objectiveKeys = {
  // In milliseconds.
  withdrawalMs: key('withdrawal', types.duration(minute, 30 * day), {
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

const withoutRepetitions = <T>(entries: z.ZodArray<z.ZodType<T>>) => entries.overwrite((all) => [...new Set(all)]);

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
  blockTime: key('block_time', types.durationOrAuto(1, hour), {
    default: 'auto',
    description:
      'Block time of the hub; `auto` measures it over the polls of the last hour, and uses the parameter of the chain until then.',
  }),
  externalBlockTime: key('external_block_time', types.durationOrAuto(1, hour), {
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

export type BridgeSettings = Settings<typeof bridgeKeys> & {
  /** Whether the contract on the external chain is polled, too. */
  readonly hasContract?: true;
};

const maxInt64 = 2n ** 63n - 1n;
const maxUint32 = 2n ** 32n - 1n;
const maxUint256 = 2n ** 256n - 1n;

const ignoreKeys = {
  indexes: key('indexes', withoutRepetitions(list(types.label(128, 'the index of a cctx'))), {
    default: [],
    description: 'Indexes of cctxs.',
  }),
  olderThanMs: key('older_than', types.optionalDuration(minute, 3650 * day), {
    default: '0s',
    description: 'Age from which a cctx is ignored; `0s` for none.',
  }),
};

export const DEFAULT_AGE_LIMIT = 'default';

const ageLimitKey = z.string().refine((name) => name === DEFAULT_AGE_LIMIT || types.isChainId(name));

function describeAgeLimitsIssue(issue: z.core.$ZodRawIssue): string {
  return issue.code === 'invalid_key'
    ? `is not a chain id — expected ${DEFAULT_AGE_LIMIT}, or at most ${types.maxChainIdDigits} decimal digits`
    : `${types.describeValue(issue.input)} — expected a mapping of chain ids to durations, such as {"8332": 2h}`;
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
    z.record(ageLimitKey, scalar(types.duration(minute, 365 * day)), { error: describeAgeLimitsIssue }),
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
      'Whether the same node is asked for the outcome of cctxs that have left the lists, at most ten after a poll. With `off`, and on a node without this query, the outcome is `unknown`.',
  }),
};

export type CrosschainSettings = Settings<typeof crosschainKeys>;

export interface EndpointConnection {
  readonly url: string;
  /** Absent if no key of the HTTP client is set. `directory` is empty until the file is known. */
  readonly httpClient?: HttpClientConfig;
}

/** The JSON-RPC endpoint of the external chain. */
export interface ExternalEndpoint {
  readonly url: RpcUrl;
  readonly intervalMs: number;
  readonly httpClient?: HttpClientConfig;
}

export type BridgeEndpoint = BridgeSettings & EndpointConnection & { readonly external?: ExternalEndpoint | undefined };
export type CrosschainEndpoint = CrosschainSettings & EndpointConnection;

/** The keys of an endpoint are in one mapping. In the configuration, those of the HTTP client are in `httpClient`. */
function endpoint<K extends Keys>(
  name: string,
  keys: K,
): z.ZodType<Settings<K> & Pick<EndpointConnection, 'httpClient'>>;
function endpoint(name: string, keys: Keys): z.ZodType {
  const flat = settings(
    { ...keys, ...httpClientKeys },
    {
      // Not quoted: it may be a URL with a password.
      describe: types.describeType,
      expected: (input) => `a mapping such as ${name}: ${endpointExample(input)}`,
      checks: [rejectBoth('basic_auth', 'authorization')],
    },
  );
  return z.codec(flat, z.custom<Pick<EndpointConnection, 'httpClient'>>(), {
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
    description: `Base URL of the node with the ${document}; the path of the document is appended.`,
  });

const external: z.ZodType<ExternalEndpoint> = endpoint('external', {
  url: key('url', rpcUrl, {
    description: 'URL of the JSON-RPC endpoint. Its path and query may be an API key, and are redacted in all output.',
  }),
  // At most half of the age at which data is outdated.
  intervalMs: key('interval', types.duration(100, 5 * minute), {
    default: '1m',
    description: 'Pause from the end of one poll to the start of the next, with jitter.',
  }),
});

const bridge = endpoint('bridge', {
  url: urlKey('BRIDGE_URL', 'bridge module state'),
  ...bridgeKeys,
  external: optionalKey('external', external, {
    description:
      'JSON-RPC endpoint of the external chain. The contract of the bridge is compared with the module state; see External contract in the documentation.',
  }),
});
const crosschain = endpoint('crosschain', {
  url: urlKey('CROSSCHAIN_URL', 'cross-chain rate limiter input'),
  ...crosschainKeys,
});

/** Two calls for each of them, so that a poll of the contract has at most 50. */
export const MAX_BACKING_TOKENS = 20;

function limitBacking(tokens: unknown, context: z.RefinementCtx): void {
  const judged = Array.isArray(tokens)
    ? tokens.filter((entry: unknown) => types.isMapping(entry) && entry['backing'] === true)
    : [];
  if (judged.length <= MAX_BACKING_TOKENS) return;
  const message = `${judged.length} tokens have backing: true — expected at most ${MAX_BACKING_TOKENS}`;
  context.addIssue({ code: 'custom', path: [], message });
}

/** What the schema depends on besides the file. */
export interface SchemaContext {
  /** The labels that series of targets have anyway. Targets cannot have labels of these names. */
  readonly metricLabels?: ReadonlySet<string> | undefined;
  /** Whether the list of targets may be empty, because target files can add some. */
  readonly allowNoTargets?: boolean;
  /** Whether targets may have no endpoint, because nothing is polled. */
  readonly allowNoEndpoint?: boolean;
  /** The position of a target in messages about another one. */
  readonly describeTarget?: (target: number) => string;
}

const createTarget = ({ metricLabels = new Set(), allowNoEndpoint = false }: SchemaContext) =>
  settings(
    {
      name: key('name', types.label(128, 'a name', 'mainnet'), {
        variable: 'TARGET_NAME',
        description: 'Value of the label `target`; unique.',
      }),
      labels: optionalKey('labels', targetLabels(metricLabels), {
        description: 'Labels of every series of the target. Names of other labels and reserved names are errors.',
      }),
      bridge: optionalKey('bridge', bridge, {
        description: 'Endpoint of the bridge module state. A target has this, `crosschain`, or both.',
      }),
      crosschain: optionalKey('crosschain', crosschain, {
        description: 'Endpoint of the cross-chain rate limiter input.',
      }),
    },
    {
      // Not quoted: it may be a URL with a password.
      describe: types.describeType,
      expected: (input) => `a mapping such as {name: mainnet, bridge: ${endpointExample(input)}}`,
      checks: allowNoEndpoint
        ? []
        : [requireOneOf(['bridge', 'crosschain'], 'has no endpoint — expected bridge, crosschain, or both')],
    },
  );

const token = settings(
  {
    contract: key('contract', types.address, { description: 'Address of the token contract; unique.' }),
    symbol: optionalKey('symbol', types.label(32), { description: 'Symbol of the token.' }),
    // Amounts have up to 256 bits, which is 78 digits.
    decimals: optionalKey('decimals', types.integer(0, 77), {
      description: 'Number of decimals of the token.',
    }),
    minBatchFee: optionalKey('min_batch_fee', types.amount, {
      description: 'Sum of fees, in smallest units, below which no batch of the token is built or relayed.',
    }),
    backing: optionalKey('backing', types.boolean, {
      description:
        'Whether the balance of the contract is compared with the supply on the hub, with `external`; off by default. At most 20 tokens.',
    }),
    explorer: optionalKey('explorer', types.urlTemplate('{address}'), {
      description: 'URL of a contract in an explorer, with `{address}` in place of the contract. Linked on the pages.',
    }),
  },
  {
    checks: [
      requireOneOf(
        ['symbol', 'decimals', 'min_batch_fee', 'backing', 'explorer'],
        'has none of symbol, decimals, min_batch_fee, backing and explorer — expected at least one of them',
      ),
    ],
  },
);

const validator = settings({
  address: key('address', validatorAddress, {
    description: 'Orchestrator, operator or external address of the validator; unique.',
  }),
  name: key('name', types.label(128, 'a name'), { description: 'Name of the validator.' }),
});

/** Rejects entries of a list that have the same value of a key. */
function rejectDuplicates(
  name: string,
  listName: string,
  describeEntry = (index: number): string => `${listName}[${index}]`,
): Check {
  return (entries, context) => {
    const firstIndexes = new Map<string, number>();
    if (!Array.isArray(entries)) return;
    for (const [index, entry] of entries.entries()) {
      const value: unknown = types.isMapping(entry) ? entry[name] : undefined;
      if (typeof value !== 'string') continue;
      const first = firstIndexes.get(value);
      if (first === undefined) firstIndexes.set(value, index);
      else {
        const message = `${JSON.stringify(value)} is also the ${name} of ${describeEntry(first)} — expected a unique ${name}`;
        context.addIssue({ code: 'custom', path: [index, name], message });
      }
    }
  };
}

const targetFile = types.valueType('pattern', 'a file name or a pattern such as targets/*.yml', (text) => {
  const problem = text === '' ? 'is empty' : checkPattern(text);
  return problem === undefined ? types.accept(text) : types.reject(problem);
});

/** A chain can be written as its name alone. */
const chain = shorthand(
  'name',
  settings({
    name: key('name', types.label(128, 'a name', 'ethereum'), { description: 'Name of the chain.' }),
    explorer: optionalKey('explorer', types.urlTemplate('{hash}'), {
      description: 'URL of a transaction in an explorer, with `{hash}` in place of its hash. Linked on the pages.',
    }),
  }),
);

const chainIdKey = z.string().refine(types.isChainId);

const ONE_TARGET = '[{name: mainnet, bridge: {url: https://node.example.org}}]';
const TARGETS = `a list of at least one target, such as ${ONE_TARGET}`;

function describeTargets(input: unknown): string {
  const isDashWithoutSpace = [...(presentKeys(input) ?? [])].some((name) => name.startsWith('-'));
  const advice = isDashWithoutSpace ? 'a list entry needs a space after the dash' : `expected ${TARGETS}`;
  return `${types.describeType(input)} — ${advice}`;
}

const recorder = settings({
  directory: optionalKey('directory', types.fileName, {
    description: 'Directory of the recordings, relative to this file. Of one exporter only.',
  }),
  intervalMs: key('interval', types.optionalDuration(second, day), {
    default: '5m',
    description: 'Minimum interval between two recorded responses of an endpoint; `0s` records every poll.',
  }),
  maxBytes: key('max_size', types.size(mebibyte, 2 ** 50), {
    default: '1GiB',
    description: 'Maximum size of all recordings. The oldest are deleted first.',
  }),
});

export type RecorderSettings = z.output<typeof recorder>;

const createKeys = (context: SchemaContext) => ({
  poll: key('poll', poll, { default: {}, description: 'Polling of the endpoints.' }),
  limits: key(
    'limits',
    settings({
      maxSeriesPerFamily: key('max_series_per_family', types.integer(1, 100_000), {
        default: '200',
        description: 'Maximum number of series of one metric family per target.',
      }),
    }),
    { default: {}, description: 'Limits on the size of the exposition.' },
  ),
  targets: key(
    'targets',
    z
      .array(createTarget(context), { error: ({ input }) => describeTargets(input) })
      .min(context.allowNoTargets ? 0 : 1, { error: `is empty — expected ${TARGETS}` })
      .superRefine(rejectDuplicates('name', 'targets', context.describeTarget), evenAfterOtherProblems),
    { description: 'Chains to poll. Can be empty with `target_files`.' },
  ),
  targetFiles: key('target_files', list(targetFile), {
    default: [],
    description:
      'Files with further targets; each is a list like `targets`. Patterns with `*`, `?` and `[]`, relative to this file.',
  }),
  tokens: key(
    'tokens',
    list(token, types.describeValue, '[{contract: "0x…", symbol: USDT, decimals: 6}]')
      .superRefine(rejectDuplicates('contract', 'tokens'), evenAfterOtherProblems)
      .superRefine(limitBacking, evenAfterOtherProblems),
    { default: [], description: 'Symbols, decimals and minimum fees of token contracts.' },
  ),
  // The ids looked up are untrusted: use `Object.hasOwn`, or `constructor` is found.
  chains: key('chains', z.record(chainIdKey, chain, { error: describeChainsIssue }), {
    default: {},
    description:
      'Chains by chain id: a name, or a mapping. The names of the chains that ZetaChain connects are built in.',
  }),
  validators: key(
    'validators',
    list(validator, types.describeValue, '[{address: inj1…, name: Example}]').superRefine(
      rejectDuplicates('address', 'validators'),
      evenAfterOtherProblems,
    ),
    { default: [], description: 'Names of validators. They override those of the staking module.' },
  ),
  links: key(
    'links',
    settings({
      runbook: key('runbook', siteUrl, {
        default: 'https://github.com/bridge-exporter/bridge-exporter/blob/main/docs/runbook.md',
        description: 'URL of the runbook. Its sections have the names of the alerts.',
      }),
      dashboards: optionalKey('dashboards', siteUrl, {
        description: 'Base URL of Grafana. Without it, the pages have no links to dashboards.',
      }),
    }),
    { default: {}, description: 'Links of the pages to other sites.' },
  ),
  recorder: key('recorder', recorder, {
    default: {},
    description: 'Recording of responses, to replay them later. Off without `directory`.',
  }),
});

function describeChainsIssue(issue: z.core.$ZodRawIssue): string {
  return issue.code === 'invalid_key'
    ? `is not a chain id — expected at most ${types.maxChainIdDigits} decimal digits`
    : `${types.describeValue(issue.input)} — expected a mapping of chain ids to names`;
}

const rootMessages = { describe: types.describeType, expected: () => `a mapping such as targets: ${ONE_TARGET}` };

/** The schema of the configuration file. */
export const createFileSchema = (context: SchemaContext = {}) => settings(createKeys(context), rootMessages);

/** Every key of the configuration file. */
export const configSettings = listSettings(createFileSchema());

const { targetFiles: _targetFiles, ...mergedKeys } = createKeys({ allowNoTargets: true, allowNoEndpoint: true });

/** The schema of a configuration that includes the targets of its target files. Prints it, with `z.encode`. */
export const configSchema = settings(mergedKeys);

export type Config = z.output<typeof configSchema>;
export type PollConfig = Config['poll'];
export type TargetConfig = Config['targets'][number];
/** Constant labels of every series of a target, sorted by name. */
export type TargetLabels = NonNullable<TargetConfig['labels']>;
export type TokenConfig = Config['tokens'][number];
export type ChainConfig = Config['chains'][string];
export type ValidatorConfig = Config['validators'][number];

export type ConfigResult = Result<{ readonly config: Config; readonly warnings: readonly string[] }>;

/** Name of the target if there is no configuration file. */
export const DEFAULT_TARGET_NAME = 'default';

/** The configuration of `replay` without a configuration file. Nothing is polled, so its target has no endpoints. */
export const defaultConfig: Config = configSchema.parse({ targets: [{ name: DEFAULT_TARGET_NAME }] });
export const defaultBridgeSettings: BridgeSettings = settings(bridgeKeys).parse({});
export const defaultCrosschainSettings: CrosschainSettings = settings(crosschainKeys).parse({});
