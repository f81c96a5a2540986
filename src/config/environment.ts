import { Document } from 'yaml';
import * as z from 'zod';
import { toDotPath } from 'zod/v4/core';
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

/** A URL can be a list of several nodes. */
function isNodes(path: Path): boolean {
  return path.at(-1) === 'url';
}

/** The variables in the format of the configuration file. What surrounds a value is a problem, and left out. */
export function environmentData(env: Environment): { readonly data: unknown; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const document = new Document({ targets: [{ name: DEFAULT_TARGET_NAME }] });
  for (const [name, { path, isList }] of Object.entries(targetVariables)) {
    const text = env[name] ?? '';
    const trimmed = text.trim();
    // Blanks around the entries of a list are ignored.
    if (!isList && text !== trimmed) problems.push(`${name}: begins or ends with a blank or a line break`);
    const [, , unquoted = trimmed] = /^(["'])(.*)\1$/s.exec(trimmed) ?? [];
    if (unquoted !== trimmed) {
      problems.push(`${name}: is in quotes, which a shell removes and docker run --env-file does not`);
    }
    const value = isList ? unquoted.replace(/,\s*$/, '') : unquoted;
    if (value !== unquoted) problems.push(`${name}: ends with a comma`);
    if (value === '') continue;
    // An entry that is null is reported as empty.
    const entries = value.split(',').map((entry) => entry.trim() || null);
    if (isNodes(path) && entries.length > 1) {
      const nodes = entries.map((url) => ({ url }));
      document.setIn([...path.slice(0, -1), 'nodes'], nodes);
    } else document.setIn(path, isList ? entries : value);
  }
  return { data: document.toJS(), problems };
}

/**
 * The variable that caused a problem, with the index of an entry of a list. The interval is the only variable of
 * `poll`, so that it causes every problem there. The only problem of the target itself is a missing URL.
 */
export function formatVariable(path: Path): string {
  if (path[0] === 'poll') return 'POLL_INTERVAL';
  // The URL of a node.
  const nodes = path.indexOf('nodes');
  const [index] = nodes < 0 ? [] : path.slice(nodes + 1);
  const asVariable = nodes < 0 ? path : [...path.slice(0, nodes), 'url', ...(index === undefined ? [] : [index])];
  const found = Object.entries(targetVariables).find(([, each]) =>
    each.path.every((key, position) => key === asVariable[position]),
  );
  if (found === undefined) return 'BRIDGE_URL, CROSSCHAIN_URL';
  const [name, each] = found;
  return name + toDotPath(asVariable.slice(each.path.length));
}
