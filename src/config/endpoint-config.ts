import * as z from 'zod';
import { ZETACHAIN_IDS } from '../chain/known-chains.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../units.js';
import { httpClient, httpClientChecks, type HttpClientConfig, type NodeConnection } from './http-client-config.js';
import { type EndpointUrl, nodeUrl, rpcUrl } from './urls.js';
import {
  amountSetting,
  bigIntegerSetting,
  chainIdSetting,
  durationSetting,
  durationOrAutoSetting,
  fractionSetting,
  integerSetting,
  notBoth,
  textSetting,
  validatorAddressSetting,
  whenMapping,
} from './values.js';

/* The endpoints of a target, and the settings of their documents. Durations are in milliseconds. */

const withoutRepetitions = (entries: string[]): string[] => [...new Set(entries)];

const nodeQueries = (what: string) =>
  z
    .enum(['auto', 'off'])
    .prefault('auto')
    .describe(`Whether the exporter also queries ${what} from the node. Failed queries do not affect polls.`);

/** The settings for decoding a bridge document, polled or recorded. */
const bridgeSettings = z.strictObject({
  dialect: z
    .enum(['auto', 'neutral', 'peggy'])
    .prefault('auto')
    .describe('Path of the module state: `peggy` on Injective, `neutral` on the simulator; `auto` finds it.'),
  power_threshold: fractionSetting
    .prefault('0.66')
    .describe('Share of the power that must sign a validator set or batch before it is relayed.'),
  block_time: durationOrAutoSetting(1, HOUR_MS)
    .prefault('auto')
    .describe(
      'Block time of the hub. `auto` measures it over the polls of the last hour; until then, the parameter of the chain is used.',
    ),
  external_block_time: durationOrAutoSetting(1, HOUR_MS)
    .prefault('auto')
    .describe(
      'Block time of the external chain. `auto` is 12s for Ethereum and Sepolia, otherwise the parameter of the hub.',
    ),
  backlog_limit: integerSetting(1, 1_000_000_000)
    .prefault('500')
    .describe('Number of pending transfers above which `BridgeBacklogHigh` fires.'),
  validator_names: z
    .enum(['staking', 'off'])
    .prefault('staking')
    .describe('Names of validators: `staking` reads them from the staking module of the node once an hour.'),
  watch: z
    .array(validatorAddressSetting)
    .overwrite(withoutRepetitions)
    .prefault([])
    .describe('Your own validators, by orchestrator, operator or external address. Each has its own alerts.'),
  watch_min_balance: amountSetting
    .prefault('0')
    .describe(
      'Balance of the orchestrators of `watch`, in smallest units of the hub coin, below which `BridgeWatchedOrchestratorFundsLow` fires.',
    ),
  node_queries: nodeQueries('the newest block, and status, claims and funds of the validators of `watch`'),
});

export type BridgeSettings = z.output<typeof bridgeSettings>;

export const DEFAULT_AGE_LIMIT = 'default';

const ageLimitKey = z
  .string()
  .regex(/^(?:default|0|[1-9]\d{0,19})$/, `expected a chain id of at most 20 decimal digits, or ${DEFAULT_AGE_LIMIT}`);

/** The settings for requesting and decoding a cross-chain document. */
const crosschainSettings = z.strictObject({
  dialect: z
    .enum(['auto', 'neutral', 'zeta'])
    .prefault('auto')
    .describe('Path of the rate limiter input: `zeta` on ZetaChain, `neutral` on the simulator; `auto` finds it.'),
  window: bigIntegerSetting(1n, 2n ** 63n - 1n)
    .prefault('500')
    .describe('Length of the sliding window of the rate limiter, in blocks.'),
  limit: bigIntegerSetting(1n, 2n ** 32n - 1n)
    .optional()
    .describe('Maximum number of pending cctxs to list. Sent only if set.'),
  rate: bigIntegerSetting(1n, 2n ** 256n - 1n, '2^256 - 1')
    .optional()
    .describe('Rate limit in smallest units per block. Enables the rate-limit gauges.'),
  hub_chain_ids: z
    .array(chainIdSetting)
    .overwrite(withoutRepetitions)
    .prefault([...ZETACHAIN_IDS])
    .describe(
      'Chain ids of the hub. A cctx from one of them is outgoing, any other cctx is incoming. With an empty list, the direction is `unknown`.',
    ),
  ignore: z
    .strictObject({
      indexes: z.array(textSetting(128)).overwrite(withoutRepetitions).prefault([]).describe('Indexes of cctxs.'),
      older_than: durationSetting(0, 3650 * DAY_MS)
        .prefault('0s')
        .describe('Age from which a cctx is ignored; `0s` ignores none by age.'),
    })
    .prefault({})
    .describe(
      'Cctxs that nobody can clear. They are counted in `crosschain_cctxs_ignored`, but not in counts and ages by chain.',
    ),
  backlog_limit: integerSetting(1, 1_000_000_000)
    .prefault('1000')
    .describe('Number of missed and pending cctxs above which `CrosschainBacklogHigh` fires.'),
  age_limits: z
    .record(ageLimitKey, durationSetting(MINUTE_MS, 365 * DAY_MS))
    .prefault({})
    .describe(
      'How long a cctx may be pending, by chain id; `default` applies to all other chains. Built in: 2h for 8332 (Bitcoin), 30m for other chains.',
    ),
  node_queries: nodeQueries('the newest block, and switches, nonces and parameters of the chains'),
  cctx_queries: z
    .enum(['auto', 'off'])
    .prefault('auto')
    .describe(
      'Whether the exporter queries cctxs that have left the lists, at most ten after a poll. With `off`, unlisted cctxs are not found.',
    ),
});

export type CrosschainSettings = z.output<typeof crosschainSettings>;

/** Each of them can take a share of `poll.timeout`. */
const MAX_NODES = 10;

/** One node by `url`, whose keys of the HTTP client are beside it, or several by `nodes`, each with its own. */
function connection(url: typeof nodeUrl) {
  const node = z.strictObject({ url, ...httpClient.shape }).check(...httpClientChecks);
  return {
    url: url.optional(),
    nodes: z
      .array(node)
      .min(1)
      .max(MAX_NODES)
      .optional()
      .describe('Several nodes instead of `url`, in order of preference.'),
  };
}

const connectionChecks = [
  ...httpClientChecks,
  notBoth('url', 'nodes'),
  z.refine<{ readonly url?: unknown; readonly nodes?: unknown }>(
    ({ url, nodes }) => url !== undefined || nodes !== undefined,
    { error: 'is missing', path: ['url'], ...whenMapping },
  ),
  z.superRefine<Readonly<Record<string, unknown>>>((endpoint, context) => {
    if (endpoint['nodes'] === undefined) return;
    for (const key of Object.keys(httpClient.shape)) {
      if (endpoint[key] === undefined) continue;
      context.addIssue({ code: 'custom', path: [key], message: 'belongs to each node of nodes' });
    }
  }, whenMapping),
] as const;

const documentNode = (document: string) =>
  nodeUrl.describe(`Base URL of the node with the ${document}. The path of the document is appended.`);

const external = z
  .strictObject({
    ...connection(rpcUrl.describe('URL of the JSON-RPC endpoint.')),
    // The interval is at most half of the age at which data is outdated.
    interval: durationSetting(100, 5 * MINUTE_MS)
      .prefault('1m')
      .describe('Pause from the end of one poll to the start of the next, with jitter.'),
    ...httpClient.shape,
  })
  .check(...connectionChecks);

export const bridge = z
  .strictObject({
    ...connection(documentNode('bridge module state')),
    ...bridgeSettings.shape,
    external: external
      .optional()
      .describe(
        'JSON-RPC endpoint of the external chain, to compare the contract of the bridge with the module state.',
      ),
    ...httpClient.shape,
  })
  .check(...connectionChecks);

export const crosschain = z
  .strictObject({
    ...connection(documentNode('cross-chain rate limiter input')),
    ...crosschainSettings.shape,
    ...httpClient.shape,
  })
  .check(...connectionChecks);

export const defaultBridgeSettings: BridgeSettings = bridgeSettings.parse({});
export const defaultCrosschainSettings: CrosschainSettings = crosschainSettings.parse({});

/** A configured endpoint: its nodes in order of preference, and its other settings. */
export function splitConnection<
  T extends HttpClientConfig & {
    readonly url?: EndpointUrl | undefined;
    readonly nodes?: NodeConnection[] | undefined;
  },
>(endpoint: T) {
  const { url, nodes, basic_auth, authorization, http_headers, tls_config, ...others } = endpoint;
  const { proxy_url, proxy_from_environment, no_proxy, ...settings } = others;
  const proxy = { proxy_url, proxy_from_environment, no_proxy };
  const client = { basic_auth, authorization, http_headers, tls_config, ...proxy };
  // A valid endpoint has either.
  const all: readonly NodeConnection[] = nodes ?? (url === undefined ? [] : [{ url, ...client }]);
  return { nodes: all, settings };
}
