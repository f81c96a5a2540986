import * as z from 'zod';
import { createHash } from 'node:crypto';
import type { Path, Result } from './text-files.js';
import { DAY_MS, HOUR_MS, MEBIBYTE, MINUTE_MS } from '../units.js';
import { bridge, crosschain, splitConnection } from './endpoint-config.js';
import type { NodeConnection } from './http-client-config.js';
import { siteUrl, urlTemplate } from './urls.js';
import {
  amountSetting,
  atLeastOne,
  chainIdSetting,
  contractAddressSetting,
  durationSetting,
  fileNameSetting,
  integerSetting,
  isMapping,
  sizeSetting,
  textSetting,
  unique,
  validatorAddressSetting,
  whenMapping,
} from './values.js';

/*
 * The configuration file: one schema for each section. The reference in docs/configuration.md, the JSON schema for
 * editors and the printed configuration follow from them. Durations are in milliseconds, sizes in bytes.
 */

/** Data is outdated (BridgeSnapshotStale) this long after the last successful poll, withdrawn after `stale_after`. */
export const OUTDATED_MS = 10 * MINUTE_MS;

export const poll = z
  .strictObject({
    // The minimums are this low for tests only: the documents are expensive for the node.
    // The upper limits keep every timer below 2^31 ms, the maximum of setTimeout.
    interval: durationSetting(100, DAY_MS)
      .prefault('30s')
      .describe('Pause from the end of one poll to the start of the next, with jitter.'),
    timeout: durationSetting(100, HOUR_MS)
      .prefault('20s')
      .describe('Timeout of a poll: all its requests together, with their bodies.'),
    stale_after: durationSetting(100, 7 * DAY_MS)
      .prefault('5m')
      .describe('Age at which the chain series of an endpoint are withdrawn. At least `interval` + `timeout`.'),
    // A string in a body can be almost as long as the body, and V8 limits strings to just under 512 MiB.
    max_body_size: sizeSetting(1024, 511 * MEBIBYTE)
      .prefault('32MiB')
      .describe(
        'Maximum size of a response body after decompression. A body above 2 MiB may have at most one JSON value per 24 bytes.',
      ),
  })
  .refine(({ interval, timeout, stale_after }) => stale_after >= interval + timeout, {
    error: 'stale_after is below interval + timeout',
    path: ['stale_after'],
  });

/** Labels that Prometheus, its operator or a store of several Prometheus servers assigns to every series. */
const reservedLabels: ReadonlySet<string> = new Set([
  'cluster',
  'container',
  'endpoint',
  'instance',
  'job',
  'namespace',
  'node',
  'pod',
  'prometheus',
  'replica',
  'service',
]);

const labelName = z
  .string()
  .regex(
    /^(?!__)[A-Za-z_]\w{0,127}$/,
    'expected a label name of letters, digits and underscores that does not start with a digit or with __',
  )
  .refine((name) => !reservedLabels.has(name), 'is reserved: Prometheus or its operator assigns this label');

/** Every label is repeated in each series. */
const MAX_LABELS = 20;

const labels = z
  .record(labelName, textSetting(128).meta({ type: ['string', 'number'] }))
  .refine((all) => Object.keys(all).length <= MAX_LABELS, `expected at most ${MAX_LABELS} labels`)
  .overwrite((all) => Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1))));

export const target = z.strictObject({
  name: textSetting(128).describe('Value of the label `target`; unique.'),
  labels: labels.optional().describe('Labels of every series of the target.'),
  bridge: bridge.optional().describe('Endpoint of the bridge module state. A target has this, `crosschain`, or both.'),
  crosschain: crosschain.optional().describe('Endpoint of the cross-chain rate limiter input.'),
});

/** Each needs the nonce and the balance of a token: a poll of the contract has at most 48 calls (reading.ts). */
const MAX_BACKING_TOKENS = 20;

const token = z
  .strictObject({
    contract: contractAddressSetting.describe('Address of the token contract; unique.'),
    symbol: textSetting(32).optional().describe('Symbol of the token.'),
    // Amounts have up to 256 bits, which is 78 digits.
    decimals: integerSetting(0, 77).optional().describe('Number of decimals of the token.'),
    min_batch_fee: amountSetting
      .optional()
      .describe('Sum of fees, in smallest units, below which no batch of the token is built or relayed.'),
    backing: z
      .boolean()
      .optional()
      .describe(
        'Whether the balance of the contract is compared with the supply on the hub; needs `external`. At most 20 tokens.',
      ),
    explorer: urlTemplate('{address}')
      .optional()
      .describe('URL of a contract in an explorer, with `{address}`, for links on the pages.'),
  })
  .check(
    atLeastOne('symbol', 'decimals', 'min_batch_fee', 'backing', 'explorer'),
    z.superRefine<Readonly<Record<string, unknown>>>(({ min_batch_fee: fee, decimals }, { issues }) => {
      const [, whole = '', part = ''] = /^(\d+)\.(\d+)$/.exec(String(fee)) ?? [];
      if (part === '' || typeof decimals !== 'number' || !(part.length <= decimals)) return;
      const smallest = BigInt(whole + part.padEnd(decimals, '0'));
      const message = `expected an integer, in smallest units: ${smallest}`;
      for (const issue of issues) if (issue.path?.[0] === 'min_batch_fee') Object.assign(issue, { message });
    }, whenMapping),
  );

const validator = z.strictObject({
  address: validatorAddressSetting.describe('Orchestrator, operator or external address of the validator; unique.'),
  name: textSetting(128).describe('Name of the validator.'),
});

const chainName = textSetting(128);

/** A chain can be written as its name alone. */
const chain = z.union(
  [
    z.codec(chainName, z.strictObject({ name: chainName, explorer: z.undefined().optional() }), {
      decode: (name) => ({ name }),
      encode: ({ name }) => name,
    }),
    z.strictObject({
      name: chainName.describe('Name of the chain.'),
      explorer: urlTemplate('{hash}')
        .optional()
        .describe('URL of a transaction in an explorer, with `{hash}`, for links on the pages.'),
    }),
  ],
  { error: 'expected the name of the chain, or a mapping with name and explorer' },
);

const recorder = z.strictObject({
  directory: fileNameSetting
    .optional()
    .describe('Directory of the recordings of this exporter, relative to the configuration file.'),
  interval: durationSetting(0, DAY_MS)
    .prefault('5m')
    .describe('Minimum interval between two recorded responses of an endpoint; `0s` records every poll.'),
  max_size: sizeSetting(MEBIBYTE, 2 ** 50)
    .prefault('1GiB')
    .describe('Maximum size of all recordings. The oldest hours are deleted first.'),
});

const problemParts = [
  'critical',
  'warning',
  'info',
  'module_state',
  'rate_limiter_input',
  'external_contract',
] as const;

const problemKeys = {
  after: durationSetting(0, 30 * DAY_MS)
    .optional()
    .describe('How long the problem must last before its alert fires.'),
  enabled: z.boolean().optional().describe('`false` disables the problem and its alert.'),
};

const partOfProblem = z.strictObject(problemKeys).check(atLeastOne('after', 'enabled')).optional();

const problem = z
  .strictObject({
    ...problemKeys,
    critical: partOfProblem.describe('The same keys for the critical problem only.'),
    warning: partOfProblem.describe('The same keys for the warning only.'),
    info: partOfProblem.describe('The same keys for the info problem only.'),
    module_state: partOfProblem.describe('The same keys for this document only.'),
    rate_limiter_input: partOfProblem.describe('The same keys for this document only.'),
    external_contract: partOfProblem.describe('The same keys for this document only.'),
  })
  .check(atLeastOne('after', 'enabled', ...problemParts));

/** The schema of a configuration, also for printing it with `z.encode`. A shard can have no targets. */
export const configSchema = z.strictObject({
  poll: poll.prefault({}).describe('Polling of the endpoints.'),
  limits: z
    .strictObject({
      max_series_per_family: integerSetting(1, 100_000)
        .prefault('200')
        .describe(
          'Maximum number of series of one metric family per target. When it changes, all counters begin at 0.',
        ),
    })
    .prefault({})
    .describe('Limits on the size of the exposition.'),
  targets: z.array(target).check(unique('name')).prefault([]).describe('Chains to poll.'),
  tokens: z
    .array(token)
    .check(unique('contract'))
    .refine(
      (all) => all.filter(({ backing }) => backing).length <= MAX_BACKING_TOKENS,
      `expected at most ${MAX_BACKING_TOKENS} tokens with backing: true`,
    )
    .prefault([])
    .describe('Symbols, decimals and minimum fees of token contracts.'),
  // The ids looked up are untrusted: use `Object.hasOwn`, or `constructor` is found.
  chains: z
    .record(chainIdSetting, chain)
    .prefault({})
    .describe('Chains by chain id: a name, or a mapping. Names of the chains that ZetaChain connects are built in.'),
  validators: z
    .array(validator)
    .check(unique('address'))
    .prefault([])
    .describe('Names of validators. They override those of the staking module.'),
  problems: z
    .record(z.string(), problem)
    .prefault({})
    .describe('Limits of alerts for every target, by the name of the alert.'),
  links: z
    .strictObject({
      runbook: siteUrl
        .prefault('https://github.com/bridge-exporter/bridge-exporter/blob/main/docs/runbook.md')
        .describe('URL of the runbook. Its sections have the names of the alerts.'),
      dashboards: siteUrl
        .optional()
        .describe('Base URL of Grafana. Without it, the pages have no links to dashboards.'),
    })
    .prefault({})
    .describe('Links of the pages to other sites.'),
  recorder: recorder.prefault({}).describe('Recording of responses, to replay them later. Off without `directory`.'),
});

/** The limit of each severity and document of a problem, by its name. */
export type ProblemLimits = ReadonlyMap<
  string,
  readonly { readonly severity: string; readonly document: string; readonly after: string }[]
>;

/** Checks that the problem and the parts of its setting exist, and that each `after` sets a single limit. */
function checkProblem(name: string, setting: unknown, all: ProblemLimits) {
  const limits = all.get(name);
  if (limits === undefined) {
    const message = `is not the name of a problem — expected one of ${Array.from(all.keys()).join(', ')}`;
    return [{ message, path: [] }];
  }
  if (!isMapping(setting)) return [];
  const parts = new Set(limits.flatMap(({ severity, document }) => [severity, document]));
  const isSeverity = new Set(limits.map(({ severity }) => severity)).size > 1;
  return Object.entries(setting).flatMap(([key, value]) => {
    const own = limits.filter(({ severity, document }) => key === 'after' || key === severity || key === document);
    const different = new Map(own.map((limit) => [limit.after, limit]));
    const hasLimit = key === 'after' || (isMapping(value) && value['after'] !== undefined);
    if (hasLimit && different.size > 1) {
      const list = Array.from(
        different.values(),
        ({ severity, document, after }) => `${isSeverity && key !== severity ? severity : document}: ${after}`,
      );
      return [{ message: `there are several limits — set after below one of ${list.join(', ')}`, path: [key] }];
    }
    if (!problemParts.some((part) => part === key) || parts.has(key)) return [];
    return [{ message: `${name} has no such part — expected one of ${Array.from(parts).join(', ')}`, path: [key] }];
  });
}

/**
 * The schema of a configuration file. `metricLabels` are the labels that series of targets have anyway, `allLimits` the
 * limits of all problems.
 */
export const createFileSchema = (metricLabels: ReadonlySet<string>, allLimits: ProblemLimits) =>
  configSchema.superRefine(({ targets, problems }, context) => {
    for (const [name, setting] of isMapping(problems) ? Object.entries(problems) : []) {
      for (const { message, path } of checkProblem(name, setting, allLimits))
        context.addIssue({ code: 'custom', message, path: ['problems', name, ...path] });
    }
    if (!Array.isArray(targets)) return;
    const report = (message: string, ...path: PropertyKey[]) =>
      context.addIssue({ code: 'custom', message, path: ['targets', ...path] });
    if (targets.length === 0) report('expected at least one target');
    for (const [index, entry] of targets.entries()) {
      if (!isMapping(entry)) continue;
      if (!entry.bridge && !entry.crosschain) report('expected bridge, crosschain or both', index);
      for (const name of Object.keys(entry.labels ?? {})) {
        if (metricLabels.has(name)) report('is a label of the metrics of the exporter', index, 'labels', name);
      }
    }
  }, whenMapping);

export type FileSchema = ReturnType<typeof createFileSchema>;

export type Config = z.output<typeof configSchema>;

export type RecorderSettings = Config['recorder'];
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

/** The nodes of the targets with the position of each in the configuration. */
export function listConnections(targets: readonly TargetConfig[]): { connection: NodeConnection; path: Path }[] {
  return targets.flatMap((each, index) => {
    const path = ['targets', index];
    return [
      { endpoint: each.bridge, path: [...path, 'bridge'] },
      { endpoint: each.bridge?.external, path: [...path, 'bridge', 'external'] },
      { endpoint: each.crosschain, path: [...path, 'crosschain'] },
    ].flatMap(({ endpoint, path: position }) => {
      if (endpoint === undefined) return [];
      const isList = endpoint.nodes !== undefined;
      return splitConnection(endpoint).nodes.map((connection, node) => ({
        connection,
        path: isList ? [...position, 'nodes', node] : position,
      }));
    });
  });
}

/** One of `count` processes that share the targets of a configuration. Indexes begin at 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

const HASH_BYTES = 6;

/** The first 48 bits of the SHA-256 of a text, which a number holds exactly. */
export function hash48(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, HASH_BYTES);
}

/** Whether a shard polls a target. Every name belongs to exactly one shard of `count`. */
export function isInShard(name: string, { index, count }: Shard): boolean {
  return hash48(name) % count === index - 1;
}
