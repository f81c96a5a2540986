import { Document } from 'yaml';
import { z } from 'zod';
import { DEFAULT_TARGET_NAME, poll, target } from './config.js';
import { bridge, crosschain } from './endpoint-config.js';
import type { Path } from './yaml.js';

/* The environment variables that configure one target without a file. */

export type Environment = Readonly<Record<string, string | undefined>>;

interface TargetVariable {
  /** The key of the configuration file that the variable sets. */
  readonly path: Path;
  readonly description: string;
  /** Whether the value is a list, separated by commas. */
  readonly isList: boolean;
}

const variable = (path: Path, { description = '' }: z.ZodType, isList = false): TargetVariable => ({
  path,
  description,
  isList,
});

const TARGET = ['targets', 0];
const BRIDGE = [...TARGET, 'bridge'];
const CROSSCHAIN = [...TARGET, 'crosschain'];

export const targetVariables: Readonly<Record<string, TargetVariable>> = {
  BRIDGE_URL: variable([...BRIDGE, 'url'], bridge.shape.url),
  BRIDGE_DIALECT: variable([...BRIDGE, 'dialect'], bridge.shape.dialect),
  BRIDGE_WATCH: variable([...BRIDGE, 'watch'], bridge.shape.watch, true),
  CROSSCHAIN_URL: variable([...CROSSCHAIN, 'url'], crosschain.shape.url),
  CROSSCHAIN_DIALECT: variable([...CROSSCHAIN, 'dialect'], crosschain.shape.dialect),
  CROSSCHAIN_WINDOW: variable([...CROSSCHAIN, 'window'], crosschain.shape.window),
  CROSSCHAIN_LIMIT: variable([...CROSSCHAIN, 'limit'], crosschain.shape.limit),
  CROSSCHAIN_HUB_CHAIN_IDS: variable([...CROSSCHAIN, 'hub_chain_ids'], crosschain.shape.hub_chain_ids, true),
  POLL_INTERVAL: variable(['poll', 'interval'], poll.shape.interval),
  TARGET_NAME: variable([...TARGET, 'name'], target.shape.name),
};

/** Names of the variables that are set. An empty variable counts as unset. */
export function presentTargetVariables(env: Environment): string[] {
  return Object.keys(targetVariables).filter((name) => (env[name] ?? '') !== '');
}

const withoutQuotes = (text: string): string => text.replace(/^(["'])(.*)\1$/s, '$2');
const withoutLastComma = (text: string): string => text.replace(/,\s*$/, '');

/** Problems of what surrounds the values. The checks of the values ignore it. */
export function notationProblems(env: Environment): string[] {
  return Object.entries(targetVariables).flatMap(([name, { isList }]) => {
    const value = env[name] ?? '';
    const trimmed = value.trim();
    // Blanks around the entries of a list are ignored.
    if (!isList && value !== trimmed) return [`${name}: begins or ends with a blank or a line break`];
    if (trimmed !== withoutQuotes(trimmed)) {
      return [`${name}: is in quotes, which a shell removes and docker run --env-file does not`];
    }
    return isList && value !== withoutLastComma(value) ? [`${name}: ends with a comma`] : [];
  });
}

/** The variables in the format of the configuration file. */
export function environmentData(env: Environment): unknown {
  const document = new Document({ targets: [{ name: DEFAULT_TARGET_NAME }] });
  for (const [name, { path, isList }] of Object.entries(targetVariables)) {
    const text = withoutQuotes((env[name] ?? '').trim());
    const value = isList ? withoutLastComma(text) : text;
    // An entry that is null is reported as empty.
    if (value !== '') document.setIn(path, isList ? value.split(',').map((entry) => entry.trim() || null) : value);
  }
  return document.toJS();
}

/**
 * The variable that caused a problem, with the index of an entry of a list. The interval is the only variable of `poll`, so that it causes
 * every problem there. The only problem of the target itself is a missing URL.
 */
export function variableOf(path: Path): string {
  if (path[0] === 'poll') return 'POLL_INTERVAL';
  const found = Object.entries(targetVariables).find(([, each]) =>
    each.path.every((key, index) => key === path[index]),
  );
  if (found === undefined) return 'BRIDGE_URL, CROSSCHAIN_URL';
  const [name, each] = found;
  return name + z.core.toDotPath(path.slice(each.path.length));
}
