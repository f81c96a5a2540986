import { capped, describeProblems, type Label, pathText } from './config/problems.js';
import { configSchema } from './config/schema.js';
import { listSettings } from './config/settings.js';
import { formatDuration } from './config/units.js';
import { parseYaml, type Path, type YamlProblem } from './config/yaml-source.js';

export { neutralBridge, neutralConfig, neutralCrosschain } from './config/schema.js';
export { configText } from './config/text.js';

/** Plain data: it is sent to the collecting thread as it is. */
export interface Config {
  readonly poll: Poll;
  readonly limits: { readonly maxSeriesPerFamily: number };
  readonly targets: readonly Target[];
  readonly tokens: readonly Token[];
  /** Name by chain id. Ids come from the chain: look up with Object.hasOwn, or `constructor` is a chain. */
  readonly chains: Readonly<Record<string, string>>;
}

export interface Poll {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly staleAfterMs: number;
  readonly maxBodyBytes: number;
}

export interface Target {
  readonly name: string;
  readonly bridge?: BridgeEndpoint;
  readonly crosschain?: CrosschainEndpoint;
}

/** What is read out of a bridge document, wherever it came from. */
export interface BridgeSettings {
  readonly dialect: 'neutral' | 'peggy';
  /** Decimal text as written. */
  readonly powerThreshold: string;
  /** In lower case; empty means all. */
  readonly watch: readonly string[];
}

export interface BridgeEndpoint extends BridgeSettings {
  readonly url: string;
}

/** What is asked of and read out of a cross-chain document. Numbers are their decimal digits. */
export interface CrosschainSettings {
  readonly dialect: 'neutral' | 'zeta';
  readonly window?: string;
  readonly limit?: string;
  readonly rate?: string;
  readonly hubChainIds?: readonly string[];
}

export interface CrosschainEndpoint extends CrosschainSettings {
  readonly url: string;
}

export interface Token {
  /** In lower case. */
  readonly contract: string;
  readonly symbol?: string;
  readonly decimals?: number;
}

export type ConfigResult =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Every key of the file, as the reference lists them. */
export const settings = listSettings(configSchema);

/** `source` is what the messages call the text: the name of its file. */
export function parseConfig(text: string, source: string): ConfigResult {
  const yaml = parseYaml(text);
  if (!yaml.ok) return { ok: false, problems: capped(yaml.problems, (problem) => yamlProblem(source, problem)) };
  const { data, lineOf } = yaml.source;
  return readConfig(data, (path) => {
    const line = lineOf(path);
    const place = line === undefined ? source : `${source}:${line}`;
    return path.length === 0 ? place : `${place}: ${pathText(path)}`;
  });
}

function yamlProblem(source: string, { line, column, message }: YamlProblem): string {
  return `${[source, line, column].filter((part) => part !== undefined).join(':')}: ${message}`;
}

/** Data in the words of the file, from a file or from the environment. */
export function readConfig(data: unknown, label: Label): ConfigResult {
  const { data: config, error } = configSchema.safeParse(data);
  if (error) return { ok: false, problems: describeProblems(error, settings, label) };
  return { ok: true, config, warnings: doubts(config).map(({ path, message }) => `${label(path)}: ${message}`) };
}

interface Doubt {
  readonly path: Path;
  readonly message: string;
}

/** A real node walks the whole history of every chain when the window is that long. */
const longWindow = 100_000n;

/** What is valid and yet most likely not what was meant. */
function doubts({ poll, targets }: Config): Doubt[] {
  const found: Doubt[] = [];
  if (poll.timeoutMs > poll.intervalMs) {
    found.push({
      path: ['poll', 'timeout'],
      message: `timeout (${formatDuration(poll.timeoutMs)}) is longer than interval (${formatDuration(poll.intervalMs)})`,
    });
  }
  for (const [index, { crosschain }] of targets.entries()) {
    if (!crosschain) continue;
    const { window, rate } = crosschain;
    const path = ['targets', index, 'crosschain'];
    if (window !== undefined && BigInt(window) > longWindow) {
      found.push({
        path: [...path, 'window'],
        message: `${window} blocks is far above ${longWindow}: the query is heavy for the node`,
      });
    }
    if (rate !== undefined && window === undefined) {
      found.push({ path: [...path, 'rate'], message: 'has no effect without window' });
    }
  }
  return found;
}
