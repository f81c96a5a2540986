import { z } from 'zod';
import type { Result } from '../result.js';
import { checkPattern } from '../settings/glob.js';
import {
  type Check,
  expectation,
  key,
  list,
  listSettings,
  optionalKey,
  requireOneOf,
  settings,
  shorthand,
  withChecks,
} from '../settings/schema.js';
import type { Path } from '../settings/problems.js';
import { DAY_MS, formatDuration, HOUR_MS, MEBIBYTE, SECOND_MS } from '../settings/units.js';
import * as types from '../settings/value-types.js';
import { bridge, crosschain, type NodeConnection } from './endpoint-config.js';
import { siteUrl } from './urls.js';
import { targetLabels } from './target-labels.js';
import { validatorAddress } from './validator-address.js';

/*
 * The configuration file: every key with its type, default, environment variable and description. The types of the
 * configuration, the printed configuration and the reference in docs/configuration.md follow from these declarations.
 */

const poll = settings(
  {
    // The minimums are this low for tests only: the documents are expensive for the node.
    // The upper limits keep every timer below 2^31 ms, the maximum of setTimeout.
    intervalMs: key('interval', types.duration(100, DAY_MS), {
      default: '30s',
      variable: 'POLL_INTERVAL',
      description: 'Pause from the end of one poll to the start of the next, with jitter.',
    }),
    timeoutMs: key('timeout', types.duration(100, HOUR_MS), {
      default: '20s',
      description: 'Timeout of all requests of a poll together: connections, headers and bodies.',
    }),
    staleAfterMs: key('stale_after', types.duration(100, 7 * DAY_MS), {
      default: '5m',
      description: 'Age at which the chain series of an endpoint are withdrawn. At least `interval` + `timeout`.',
    }),
    // A string in a body can be almost as long as the body, and V8 limits strings to just under 512 MiB.
    maxBodyBytes: key('max_body_size', types.size(1024, 511 * MEBIBYTE), {
      default: '32MiB',
      description:
        'Maximum size of a response body after decompression. At most one JSON value per 24 bytes of it is read.',
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

/** Two calls for each of them, so that a poll of the contract has at most 50. */
const MAX_BACKING_TOKENS = 20;

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
      expected: 'a mapping such as {name: mainnet, bridge: {url: https://node.example.org}}',
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

const recorder = settings({
  directory: optionalKey('directory', types.fileName, {
    description: 'Directory of the recordings, relative to this file. Of one exporter only.',
  }),
  intervalMs: key('interval', types.optionalDuration(SECOND_MS, DAY_MS), {
    default: '5m',
    description: 'Minimum interval between two recorded responses of an endpoint; `0s` records every poll.',
  }),
  maxBytes: key('max_size', types.size(MEBIBYTE, 2 ** 50), {
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
        description:
          'Maximum number of series of one metric family per target. When it changes, all counters begin at 0.',
      }),
    }),
    { default: {}, description: 'Limits on the size of the exposition.' },
  ),
  targets: key(
    'targets',
    withChecks(
      z
        .array(createTarget(context), { error: expectation(TARGETS) })
        .min(context.allowNoTargets ? 0 : 1, { error: `is empty — expected ${TARGETS}` }),
      rejectDuplicates('name', 'targets', context.describeTarget),
    ),
    { description: 'Chains to poll. Can be empty with `target_files`.' },
  ),
  targetFiles: key('target_files', list(targetFile), {
    default: [],
    description:
      'Files with further targets; each is a list like `targets`. Patterns with `*`, `?` and `[]`, relative to this file.',
  }),
  tokens: key(
    'tokens',
    withChecks(
      list(token, 'a list such as [{contract: "0x…", symbol: USDT, decimals: 6}]'),
      rejectDuplicates('contract', 'tokens'),
      limitBacking,
    ),
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
    withChecks(
      list(validator, 'a list such as [{address: inj1…, name: Example}]'),
      rejectDuplicates('address', 'validators'),
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
    : expectation('a mapping of chain ids to names')(issue);
}

/** The schema of the configuration file. */
export const createFileSchema = (context: SchemaContext = {}) =>
  settings(createKeys(context), { expected: `a mapping such as targets: ${ONE_TARGET}` });

/** Every key of the configuration file. */
export const configSettings = listSettings(createFileSchema());

const { targetFiles: _targetFiles, ...mergedKeys } = createKeys({ allowNoTargets: true, allowNoEndpoint: true });

/** The schema of a configuration that includes the targets of its target files. Prints it, with `z.encode`. */
export const configSchema = settings(mergedKeys);

export type Config = z.output<typeof configSchema>;
export type PollConfig = Config['poll'];
export type TargetConfig = Config['targets'][number];

/** The endpoints of the targets with the position of each in the configuration. */
export function connectionsOf(targets: readonly TargetConfig[]): (NodeConnection & { readonly path: Path })[] {
  return targets.flatMap(({ bridge: ofBridge, crosschain: ofCrosschain }, index) => {
    const path = ['targets', index];
    const external = ofBridge?.external;
    return [
      ...(ofBridge ? [{ ...ofBridge, path: [...path, 'bridge'] }] : []),
      ...(external ? [{ ...external, path: [...path, 'bridge', 'external'] }] : []),
      ...(ofCrosschain ? [{ ...ofCrosschain, path: [...path, 'crosschain'] }] : []),
    ];
  });
}

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
