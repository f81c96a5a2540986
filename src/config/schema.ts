import { z } from 'zod';
import {
  DEFAULT_TARGET_NAME,
  type BridgeSettings,
  type Config,
  type CrosschainSettings,
  type PollConfig,
} from './config.js';
import { httpClientShape, rejectTwoAuthorizations, toHttpClientConfig } from './http-client-config.js';
import { checkPattern } from './kit/glob.js';
import { formatDuration } from './kit/units.js';
import * as types from './kit/value-types.js';
import { evenAfterOtherProblems, list, mapping, presentKeys, scalar, shorthand } from './kit/yaml-schema.js';
import { endpointExample, nodeUrl, siteUrl } from './node-url.js';
import { targetLabels } from './target-labels.js';

/*
 * The schema of the configuration file: every key with its type, default and description. The reference in
 * docs/configuration.md is generated from it.
 */

const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;
const mebibyte = 2 ** 20;

const poll = mapping({
  // The minimums are this low for tests only: the documents are expensive for the node.
  // The upper limits keep every timer below 2^31 ms, the maximum of setTimeout.
  interval: scalar(types.duration(100, day))
    .prefault('30s')
    .describe('Pause from the end of one poll to the start of the next, with jitter.'),
  timeout: scalar(types.duration(100, hour))
    .prefault('20s')
    .describe('Timeout of a whole request: connection, headers and body.'),
  stale_after: scalar(types.duration(100, 7 * day))
    .prefault('5m')
    .describe('Age at which the chain series of an endpoint are withdrawn. At least `interval` + `timeout`.'),
  // A string in a body can be almost as long as the body, and V8 limits strings to just under 512 MiB.
  max_body_size: scalar(types.size(1024, 511 * mebibyte))
    .prefault('64MiB')
    .describe('Maximum size of a response body after decompression.'),
})
  .superRefine(checkStaleAfter, evenAfterOtherProblems)
  .transform((keys): PollConfig => ({
    intervalMs: keys.interval,
    timeoutMs: keys.timeout,
    staleAfterMs: keys.stale_after,
    maxBodyBytes: keys.max_body_size,
  }));

function checkStaleAfter(input: unknown, context: z.RefinementCtx): void {
  const { data } = z.object({ interval: z.number(), timeout: z.number(), stale_after: z.number() }).safeParse(input);
  if (!data || data.stale_after >= data.interval + data.timeout) return;
  const sum = formatDuration(data.interval + data.timeout);
  const [stale, interval, timeout] = [data.stale_after, data.interval, data.timeout].map(formatDuration);
  const message = `stale_after (${stale}) is below interval (${interval}) + timeout (${timeout}) — expected at least ${sum}`;
  context.addIssue({ code: 'custom', path: ['stale_after'], message });
}

/** Matches a key that is not set. A key that is set to an invalid value has a problem of its own. */
const absent = z.undefined().optional();

const bridgeShape = {
  dialect: scalar(types.oneOf('auto', 'neutral', 'peggy'))
    .prefault('auto')
    .describe('Path of the document: `peggy` on Injective, `neutral` on the simulator; `auto` finds it.'),
  power_threshold: scalar(types.fraction)
    .prefault('0.6667')
    .describe('Share of the voting power that must sign a valset or batch.'),
  validator_names: scalar(types.oneOf('staking', 'off'))
    .prefault('staking')
    .describe(
      'Where validators get their names from: `staking` reads the monikers of the staking module of the node once an hour; `off` reads none.',
    ),
  watch: list(scalar(types.anyAddress))
    .prefault([])
    .describe(
      'Your own validators, by orchestrator, operator or external address. They are marked in metrics, alerts and pages.',
    ),
};

const toBridgeSettings = (keys: z.output<z.ZodObject<typeof bridgeShape>>): BridgeSettings => ({
  dialect: keys.dialect,
  powerThreshold: keys.power_threshold,
  validatorNames: keys.validator_names,
  watch: [...new Set(keys.watch)],
});

// If it is not a mapping, its value is not quoted: it may be a URL with a password.
const endpoint = <Shape extends z.core.$ZodLooseShape>(name: string, shape: Shape) =>
  mapping(
    {
      url: scalar(nodeUrl).describe('Base URL of the node; the path of the document is appended.'),
      ...shape,
      ...httpClientShape,
    },
    types.describeType,
    (input) => `a mapping such as ${name}: ${endpointExample(input)}`,
  ).superRefine(rejectTwoAuthorizations, evenAfterOtherProblems);

const bridge = endpoint('bridge', bridgeShape).transform((keys) => ({
  url: keys.url,
  ...toBridgeSettings(keys),
  ...toHttpClientConfig(keys),
}));

const maxInt64 = 2n ** 63n - 1n;
const maxUint32 = 2n ** 32n - 1n;
const maxUint256 = 2n ** 256n - 1n;

const crosschainShape = {
  dialect: scalar(types.oneOf('auto', 'neutral', 'zeta'))
    .prefault('auto')
    .describe('Path of the document: `zeta` on ZetaChain, `neutral` on the simulator; `auto` finds it.'),
  window: scalar(types.positiveDigits(maxInt64, String(maxInt64)))
    .prefault('500')
    .describe('Length of the sliding window of the rate limiter, in blocks.'),
  limit: z
    .exactOptional(scalar(types.positiveDigits(maxUint32, String(maxUint32))))
    .describe('Maximum number of pending cctxs to list. Sent only if set.'),
  rate: z
    .exactOptional(scalar(types.positiveDigits(maxUint256, '2^256 - 1')))
    .describe('Rate limit in smallest units per block. Enables the rate-limit gauges.'),
  hub_chain_ids: z
    .exactOptional(
      list(scalar(types.chainId)).min(1, {
        error: 'is empty — expected at least one chain id, or no such key',
      }),
    )
    .describe('Chain ids of the hub. A cctx sent from one of them is outgoing, any other is incoming.'),
};

const toCrosschainSettings = ({
  dialect,
  window,
  limit,
  rate,
  hub_chain_ids: hubChainIds,
}: z.output<z.ZodObject<typeof crosschainShape>>): CrosschainSettings => ({
  dialect,
  window,
  ...(limit !== undefined && { limit }),
  ...(rate !== undefined && { rate }),
  ...(hubChainIds && { hubChainIds: [...new Set(hubChainIds)] }),
});

const crosschain = endpoint('crosschain', crosschainShape).transform((keys) => ({
  url: keys.url,
  ...toCrosschainSettings(keys),
  ...toHttpClientConfig(keys),
}));

const createTarget = ({ metricLabels = new Set() }: SchemaContext) =>
  mapping(
    {
      name: scalar(types.label(128, 'a name', 'mainnet')).describe('Value of the label `target`; unique.'),
      labels: z
        .exactOptional(targetLabels(metricLabels))
        .describe('Labels of every series of the target. Names of other labels and reserved names are errors.'),
      bridge: z
        .exactOptional(bridge)
        .describe('Endpoint of the bridge module state. A target has this, `crosschain`, or both.'),
      crosschain: z.exactOptional(crosschain).describe('Endpoint of the cross-chain rate-limiter input.'),
    },
    // If it is not a mapping, its value is not quoted: it may be a URL with a password.
    types.describeType,
    (input) => `a mapping such as {name: mainnet, bridge: ${endpointExample(input)}}`,
  ).superRefine(requireEndpoint, evenAfterOtherProblems);

function requireEndpoint(input: unknown, context: z.RefinementCtx): void {
  const empty = z.object({ bridge: absent, crosschain: absent });
  if (empty.safeParse(input).success) context.addIssue('has no endpoint — expected bridge, crosschain, or both');
}

const token = mapping({
  contract: scalar(types.address).describe('Address of the token contract; unique.'),
  symbol: z.exactOptional(scalar(types.label(32))).describe('Symbol of the token.'),
  // Amounts have up to 256 bits, which is 78 digits.
  decimals: z.exactOptional(scalar(types.integer(0, 77))).describe('Number of decimals of the token.'),
  explorer: z
    .exactOptional(scalar(types.urlTemplate('{address}')))
    .describe('URL of a contract in an explorer, with `{address}` in place of the contract. Linked on the pages.'),
}).superRefine(requireTokenSettings, evenAfterOtherProblems);

const validator = mapping({
  address: scalar(types.anyAddress).describe('Orchestrator, operator or external address of the validator; unique.'),
  name: scalar(types.label(128, 'a name')).describe('Name of the validator.'),
});

function requireTokenSettings(input: unknown, context: z.RefinementCtx): void {
  const empty = z.object({ symbol: absent, decimals: absent, explorer: absent });
  if (empty.safeParse(input).success)
    context.addIssue('has neither symbol nor decimals nor explorer — expected at least one of them');
}

/** Rejects entries of a list that have the same value of a key. */
function rejectDuplicates(
  key: string,
  listName: string,
  describeEntry = (index: number): string => `${listName}[${index}]`,
) {
  return (entries: unknown, context: z.RefinementCtx): void => {
    const firstIndexes = new Map<string, number>();
    for (const [index, entry] of z.array(z.unknown()).catch([]).parse(entries).entries()) {
      const value = z.looseObject({ [key]: z.string() }).safeParse(entry).data?.[key];
      if (typeof value !== 'string') continue;
      const first = firstIndexes.get(value);
      if (first === undefined) firstIndexes.set(value, index);
      else {
        const message = `${JSON.stringify(value)} is also the ${key} of ${describeEntry(first)} — expected a unique ${key}`;
        context.addIssue({ code: 'custom', path: [index, key], message });
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
  mapping({
    name: scalar(types.label(128, 'a name', 'ethereum')).describe('Name of the chain.'),
    explorer: z
      .exactOptional(scalar(types.urlTemplate('{hash}')))
      .describe('URL of a transaction in an explorer, with `{hash}` in place of its hash. Linked on the pages.'),
  }),
);

const chainIdKey = z.string().refine(types.isChainId);

const ONE_TARGET = '[{name: mainnet, bridge: {url: https://node.example.org}}]';
const TARGETS = `a list of at least one target, such as ${ONE_TARGET}`;

function describeTargets(input: unknown): string {
  const isDashWithoutSpace = [...(presentKeys(input) ?? [])].some((key) => key.startsWith('-'));
  const advice = isDashWithoutSpace ? 'a list entry needs a space after the dash' : `expected ${TARGETS}`;
  return `${types.describeType(input)} — ${advice}`;
}

/** What the schema depends on besides the file. */
export interface SchemaContext {
  /** The labels that series of targets have anyway. Targets cannot have labels of these names. */
  readonly metricLabels?: ReadonlySet<string> | undefined;
  /** Whether the list of targets may be empty, because target files can add some. */
  readonly allowNoTargets?: boolean;
  /** The position of a target in messages about another one. */
  readonly describeTarget?: (target: number) => string;
}

export function createConfigSchema(context: SchemaContext = {}) {
  const { allowNoTargets = false, describeTarget } = context;
  return mapping(
    {
      poll: poll.prefault({}).describe('Polling of the endpoints.'),
      limits: mapping({
        max_series_per_family: scalar(types.integer(1, 100_000))
          .prefault('200')
          .describe('Maximum number of series of one metric family per target.'),
      })
        .transform((keys) => ({ maxSeriesPerFamily: keys.max_series_per_family }))
        .prefault({})
        .describe('Limits on the size of the exposition.'),
      targets: z
        .array(createTarget(context), { error: ({ input }) => describeTargets(input) })
        .min(allowNoTargets ? 0 : 1, { error: `is empty — expected ${TARGETS}` })
        .superRefine(rejectDuplicates('name', 'targets', describeTarget), evenAfterOtherProblems)
        .describe('Chains to poll. Can be empty with `target_files`.'),
      target_files: list(scalar(targetFile))
        .prefault([])
        .describe(
          'Files with further targets; each is a list like `targets`. Patterns with `*`, `?` and `[]`, relative to this file.',
        ),
      tokens: list(token, types.describeValue, '[{contract: "0x…", symbol: USDT, decimals: 6}]')
        .superRefine(rejectDuplicates('contract', 'tokens'), evenAfterOtherProblems)
        .prefault([])
        .describe('Symbols and decimals of token contracts.'),
      chains: z
        .record(chainIdKey, chain, { error: describeChainsIssue })
        .prefault({})
        .describe('Chains by chain id: a name, or a mapping.'),
      validators: list(validator, types.describeValue, '[{address: inj1…, name: Example}]')
        .superRefine(rejectDuplicates('address', 'validators'), evenAfterOtherProblems)
        .prefault([])
        .describe('Names of validators. They override those of the staking module.'),
      links: mapping({
        runbook: scalar(siteUrl)
          .prefault('https://github.com/bridge-exporter/bridge-exporter/blob/main/docs/runbook.md')
          .describe('URL of the runbook. Its sections have the names of the alerts.'),
        dashboards: z
          .exactOptional(scalar(siteUrl))
          .describe('Base URL of Grafana. Without it, the pages have no links to dashboards.'),
      })
        .prefault({})
        .describe('Links of the pages to other sites.'),
    },
    types.describeType,
    () => `a mapping such as targets: ${ONE_TARGET}`,
  );
}

function describeChainsIssue(issue: z.core.$ZodRawIssue): string {
  return issue.code === 'invalid_key'
    ? `is not a chain id — expected at most ${types.maxChainIdDigits} decimal digits`
    : `${types.describeValue(issue.input)} — expected a mapping of chain ids to names`;
}

/** For the keys and their defaults. */
export const configSchema = createConfigSchema();

/** The configuration of `replay` without a configuration file. Nothing is polled, so its target has no endpoints. */
export const defaultConfig: Config = {
  ...configSchema.omit({ targets: true, target_files: true }).parse({}),
  targets: [{ name: DEFAULT_TARGET_NAME }],
};
export const defaultBridgeSettings: BridgeSettings = toBridgeSettings(mapping(bridgeShape).parse({}));
export const defaultCrosschainSettings: CrosschainSettings = toCrosschainSettings(mapping(crosschainShape).parse({}));
