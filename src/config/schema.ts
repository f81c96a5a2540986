import { z } from 'zod';
import type { BridgeSettings, Config, CrosschainSettings, PollConfig } from './config.js';
import { httpClientConfigOf, httpClientShape, rejectTwoAuthorizations } from './http-client-schema.js';
import { absent, always, list, mapping } from './kit/mapping.js';
import { formatDuration } from './kit/units.js';
import * as value from './kit/values.js';

/*
 * Every key of the configuration file with its default, unit and meaning. What a kind of value looks like is in
 * values.ts; the reference in docs/configuration.md is generated from here.
 */

const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;
const mebibyte = 2 ** 20;

const poll = mapping({
  // Blocks are half a second apart at the least; the document is heavy for the node, so anything shorter is a slip.
  // The upper bounds keep timers, with jitter, below the 24 days Node.js can wait.
  interval: value
    .duration(100, day)
    .prefault('30s')
    .describe('Pause from the end of one poll to the start of the next, with jitter.'),
  timeout: value
    .duration(100, hour)
    .prefault('20s')
    .describe('Deadline of the whole exchange: connect, headers and body.'),
  stale_after: value
    .duration(100, 7 * day)
    .prefault('5m')
    .describe('Chain series older than this are withdrawn. At least `interval` + `timeout`.'),
  // Texts of a body become strings, and V8 holds none of 512 MiB.
  max_body_size: value
    .size(1024, 511 * mebibyte)
    .prefault('64MiB')
    .describe('Largest body accepted, after decoding.'),
})
  .superRefine(refuseShortStaleAfter, always)
  .transform((keys): PollConfig => ({
    intervalMs: keys.interval,
    timeoutMs: keys.timeout,
    staleAfterMs: keys.stale_after,
    maxBodyBytes: keys.max_body_size,
  }));

function refuseShortStaleAfter(keys: unknown, context: z.RefinementCtx): void {
  const { data } = z.object({ interval: z.number(), timeout: z.number(), stale_after: z.number() }).safeParse(keys);
  if (!data || data.stale_after >= data.interval + data.timeout) return;
  const [stale, interval, timeout, sum] = [
    data.stale_after,
    data.interval,
    data.timeout,
    data.interval + data.timeout,
  ].map(formatDuration);
  const message = `stale_after (${stale}) is below interval (${interval}) + timeout (${timeout}) — expected at least ${sum}`;
  context.addIssue({ code: 'custom', path: ['stale_after'], message });
}

const bridgeSettings = {
  dialect: value
    .oneOf('neutral', 'peggy')
    .prefault('neutral')
    .describe('Path and field names of the document: `peggy` for real nodes.'),
  power_threshold: value
    .fraction()
    .prefault('0.6667')
    .describe('Share of power whose signatures a valset or batch needs.'),
  watch: list(value.bech32Address()).prefault([]).describe('Orchestrators to show; empty for all.'),
};

const bridgeSettingsOf = (keys: z.output<z.ZodObject<typeof bridgeSettings>>): BridgeSettings => ({
  dialect: keys.dialect,
  powerThreshold: keys.power_threshold,
  watch: [...new Set(keys.watch)],
});

// Not shown when it is no mapping: it may be an address with a password in it.
const endpoint = <Shape extends z.core.$ZodLooseShape>(settings: Shape) =>
  mapping(
    {
      url: value.baseUrl().describe('Base address of the node; the path of the document is appended.'),
      ...settings,
      ...httpClientShape,
    },
    value.describeType,
  ).superRefine(rejectTwoAuthorizations, always);

const bridge = endpoint(bridgeSettings).transform((keys) => ({
  url: keys.url,
  ...bridgeSettingsOf(keys),
  ...httpClientConfigOf(keys),
}));

const maxInt64 = 2n ** 63n - 1n;
const maxUint32 = 2n ** 32n - 1n;
const maxUint256 = 2n ** 256n - 1n;

const crosschainSettings = {
  dialect: value
    .oneOf('neutral', 'zeta')
    .prefault('neutral')
    .describe('Path and field names of the document: `zeta` for real nodes.'),
  window: z
    .exactOptional(value.positiveDigits(maxInt64, String(maxInt64)))
    .describe(
      'Blocks of the sliding window. Sent only when set; the zeta dialect requires it. Turns on the window gauges.',
    ),
  limit: z
    .exactOptional(value.positiveDigits(maxUint32, String(maxUint32)))
    .describe('Most pending cctxs to list. Sent only when set.'),
  rate: z
    .exactOptional(value.positiveDigits(maxUint256, '2^256 - 1'))
    .describe('Allowed rate, in smallest units per block. Turns on the rate-limit gauges; needs `window`.'),
  hub_chain_ids: z
    .exactOptional(list(value.chainId()).min(1, { error: 'is empty — expected at least one chain id, or no such key' }))
    .describe('Chain ids of the hub itself: what it sends is outgoing, all else incoming.'),
};

const crosschainSettingsOf = ({
  dialect,
  window,
  limit,
  rate,
  hub_chain_ids: hubChainIds,
}: z.output<z.ZodObject<typeof crosschainSettings>>): CrosschainSettings => ({
  dialect,
  ...(window !== undefined && { window }),
  ...(limit !== undefined && { limit }),
  ...(rate !== undefined && { rate }),
  ...(hubChainIds && { hubChainIds: [...new Set(hubChainIds)] }),
});

const crosschain = endpoint(crosschainSettings)
  .superRefine(refuseZetaWithoutWindow, always)
  .transform((keys) => ({ url: keys.url, ...crosschainSettingsOf(keys), ...httpClientConfigOf(keys) }));

function refuseZetaWithoutWindow(keys: unknown, context: z.RefinementCtx): void {
  const lacking = z.object({ dialect: z.literal('zeta'), window: absent });
  if (!lacking.safeParse(keys).success) return;
  const message = 'is missing — expected the number of blocks, since the zeta dialect requires it';
  context.addIssue({ code: 'custom', path: ['window'], message });
}

const target = mapping({
  name: value.label(128).describe('Label `target` of all its series; unique.'),
  bridge: z
    .exactOptional(bridge)
    .describe('Where its bridge module state is. A target has this, `crosschain`, or both.'),
  crosschain: z.exactOptional(crosschain).describe('Where its cross-chain rate-limiter input is.'),
}).superRefine(refuseNoEndpoint, always);

function refuseNoEndpoint(keys: unknown, context: z.RefinementCtx): void {
  const empty = z.object({ bridge: absent, crosschain: absent });
  if (empty.safeParse(keys).success) context.addIssue('has no endpoint — expected bridge, crosschain, or both');
}

const token = mapping({
  contract: value.address().describe('Address of the token contract; each once.'),
  symbol: z.exactOptional(value.label(32)).describe('Symbol, for people.'),
  // An amount has up to 256 bits, 78 digits: with 78 decimals none would reach 1.
  decimals: z.exactOptional(value.integer(0, 77)).describe('How many of the last digits of an amount are decimals.'),
}).superRefine(refuseTokenWithoutUse, always);

function refuseTokenWithoutUse(keys: unknown, context: z.RefinementCtx): void {
  const empty = z.object({ symbol: absent, decimals: absent });
  if (empty.safeParse(keys).success)
    context.addIssue('says nothing about the token — expected symbol, decimals, or both');
}

/** Refuses two entries of a list with the same text under a key, naming both. */
const refuseRepeated = (key: string, listName: string) => (entries: unknown, context: z.RefinementCtx) => {
  const firstAt = new Map<string, number>();
  for (const [index, entry] of z.array(z.unknown()).catch([]).parse(entries).entries()) {
    const text = z.looseObject({ [key]: z.string() }).safeParse(entry).data?.[key];
    if (typeof text !== 'string') continue;
    const first = firstAt.get(text);
    if (first === undefined) firstAt.set(text, index);
    else {
      const message = `${JSON.stringify(text)} is the ${key} of ${listName}[${first}] too — expected each ${key} once`;
      context.addIssue({ code: 'custom', path: [index, key], message });
    }
  }
};

const chainIdKey = z.string().refine(value.isChainId);

const ONE_TARGET = '[{name: mainnet, bridge: {url: https://node.example.org}}]';
const SOME_TARGETS = `a list of at least one target, such as ${ONE_TARGET}`;

/** Name of the only target where none is configured. */
export const defaultTargetName = 'default';

export const configSchema = mapping(
  {
    poll: poll.prefault({}).describe('How the endpoints are polled.'),
    limits: mapping({
      // A scrape renders every series; beyond this Prometheus would be the first to suffer.
      max_series_per_family: value
        .integer(1, 100_000)
        .prefault('200')
        .describe('Most series of one family a target may have.'),
    })
      .transform((keys) => ({ maxSeriesPerFamily: keys.max_series_per_family }))
      .prefault({})
      .describe('What bounds the size of the exposition.'),
    targets: z
      .array(target, { error: ({ input }) => `${value.describeValue(input)} — expected ${SOME_TARGETS}` })
      .min(1, { error: `is empty — expected ${SOME_TARGETS}` })
      .superRefine(refuseRepeated('name', 'targets'), always)
      .describe('The chains to poll.'),
    tokens: list(token)
      .superRefine(refuseRepeated('contract', 'tokens'), always)
      .prefault([])
      .describe('For people: symbols and decimals of token contracts.'),
    chains: z
      .record(chainIdKey, value.label(128), { error: describeChains })
      .prefault({})
      .describe('For people: names of chain ids.'),
  },
  value.describeValue,
  `, such as targets: ${ONE_TARGET}`,
);

function describeChains(issue: z.core.$ZodRawIssue): string {
  return issue.code === 'invalid_key'
    ? `is not a chain id — expected at most ${value.maxChainIdDigits} decimal digits`
    : `${value.describeValue(issue.input)} — expected a mapping of chain ids to names`;
}

/** What `replay` takes where no configuration says otherwise: nothing is fetched, so there is no endpoint. */
export const defaultConfig: Config = {
  ...configSchema.omit({ targets: true }).parse({}),
  targets: [{ name: defaultTargetName }],
};
export const defaultBridgeSettings: BridgeSettings = bridgeSettingsOf(mapping(bridgeSettings).parse({}));
export const defaultCrosschainSettings: CrosschainSettings = crosschainSettingsOf(
  mapping(crosschainSettings).parse({}),
);
