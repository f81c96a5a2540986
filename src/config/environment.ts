import type { z } from 'zod';
import { DEFAULT_TARGET_NAME, poll, target } from './config.js';
import { bridge, crosschain } from './endpoint-config.js';
import { formatPath, type Path } from './yaml.js';

/* The environment variables that configure one target without a file. */

export type Environment = Readonly<Record<string, string | undefined>>;

interface TargetVariable {
  /** The key of the configuration file that the variable sets. */
  readonly path: string;
  readonly description: string;
  /** Whether the value is a list, separated by commas. */
  readonly isList: boolean;
}

function variable(parent: string, key: string, { description = '' }: z.ZodType, isList = false): TargetVariable {
  return { path: `${parent}.${key}`, description, isList };
}

const TARGET = 'targets[0]';
const BRIDGE = `${TARGET}.bridge`;
const CROSSCHAIN = `${TARGET}.crosschain`;

export const targetVariables: Readonly<Record<string, TargetVariable>> = {
  BRIDGE_URL: variable(BRIDGE, 'url', bridge.shape.url),
  BRIDGE_DIALECT: variable(BRIDGE, 'dialect', bridge.shape.dialect),
  BRIDGE_WATCH: variable(BRIDGE, 'watch', bridge.shape.watch, true),
  CROSSCHAIN_URL: variable(CROSSCHAIN, 'url', crosschain.shape.url),
  CROSSCHAIN_DIALECT: variable(CROSSCHAIN, 'dialect', crosschain.shape.dialect),
  CROSSCHAIN_WINDOW: variable(CROSSCHAIN, 'window', crosschain.shape.window),
  CROSSCHAIN_LIMIT: variable(CROSSCHAIN, 'limit', crosschain.shape.limit),
  CROSSCHAIN_HUB_CHAIN_IDS: variable(CROSSCHAIN, 'hub_chain_ids', crosschain.shape.hub_chain_ids, true),
  POLL_INTERVAL: variable('poll', 'interval', poll.shape.interval),
  TARGET_NAME: variable(TARGET, 'name', target.shape.name),
};

/** Names of the variables that are set. An empty variable counts as unset. */
export function presentTargetVariables(env: Environment): string[] {
  return Object.keys(targetVariables).filter((name) => (env[name] ?? '') !== '');
}

/** The variables in the format of the configuration file. */
export function environmentData(env: Environment): unknown {
  /** The variables of the keys of a mapping; `undefined` without any. */
  const section = (parent: string): Readonly<Record<string, unknown>> | undefined => {
    const entries = presentTargetVariables(env).flatMap((name) => {
      const { path = '', isList = false } = targetVariables[name] ?? {};
      const [, mapping, key = ''] = /^(.*)\.(\w+)$/.exec(path) ?? [];
      const value = isList ? env[name]?.split(',').map((entry) => entry.trim()) : env[name];
      return mapping === parent ? [[key, value] as const] : [];
    });
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  };
  const only = {
    name: DEFAULT_TARGET_NAME,
    ...section(TARGET),
    bridge: section(BRIDGE),
    crosschain: section(CROSSCHAIN),
  };
  return { poll: section('poll'), targets: [only] };
}

/**
 * The variable that caused a problem, with the index of an entry of a list. In `poll`, variables set only the interval, so it causes every
 * problem there; a problem of the target itself is that it has no URL.
 */
export function variableOf(path: Path): string {
  if (path[0] === 'poll') return 'POLL_INTERVAL';
  const key = formatPath(path);
  const [name, found] = Object.entries(targetVariables).find(([, each]) => key.startsWith(each.path)) ?? [];
  return found === undefined ? 'BRIDGE_URL, CROSSCHAIN_URL' : `${name}${key.slice(found.path.length)}`;
}
