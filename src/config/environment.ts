import { DEFAULT_TARGET_NAME } from './config.js';

/*
 * The environment variables that configure one target without a file. This file does not import zod, because the help
 * lists the variables.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

interface TargetVariable {
  /** The setting of the configuration file that the variable sets. */
  readonly path: string;
  readonly description: string;
}

export const targetVariables = {
  BRIDGE_URL: { path: 'targets[0].bridge.url', description: 'Base URL of the node with the bridge module state.' },
  BRIDGE_DIALECT: {
    path: 'targets[0].bridge.dialect',
    description: 'Path of the module state: peggy on Injective, neutral on the simulator; auto finds it.',
  },
  BRIDGE_WATCH: {
    path: 'targets[0].bridge.watch',
    description: 'Your own validators, by orchestrator, operator or external address, separated by commas.',
  },
  CROSSCHAIN_URL: {
    path: 'targets[0].crosschain.url',
    description: 'Base URL of the node with the cross-chain rate-limiter input.',
  },
  CROSSCHAIN_DIALECT: {
    path: 'targets[0].crosschain.dialect',
    description: 'Path of the rate-limiter input: zeta on ZetaChain, neutral on the simulator; auto finds it.',
  },
  CROSSCHAIN_WINDOW: {
    path: 'targets[0].crosschain.window',
    description: 'Length of the sliding window of the rate limiter, in blocks.',
  },
  CROSSCHAIN_LIMIT: {
    path: 'targets[0].crosschain.limit',
    description: 'Maximum number of pending cctxs to list. Sent only if set.',
  },
  TARGET_NAME: { path: 'targets[0].name', description: 'Value of the label `target`.' },
  POLL_INTERVAL: {
    path: 'poll.interval',
    description: 'Pause from the end of one poll to the start of the next, with jitter.',
  },
} as const satisfies Readonly<Record<string, TargetVariable>>;

/** Names of the variables that are set. An empty variable counts as unset. */
export function presentTargetVariables(env: Environment): string[] {
  return Object.keys(targetVariables).filter((name) => valueOf(env, name) !== undefined);
}

/** Problems of the variables that have no effect, because no URL is set for them. */
export function ineffectiveVariables(env: Environment): string[] {
  return presentTargetVariables(env).flatMap((name) => {
    const [prefix] = /^(?:BRIDGE|CROSSCHAIN)_/.exec(name) ?? [];
    const urls = prefix === undefined ? ['BRIDGE_URL', 'CROSSCHAIN_URL'] : [`${prefix}URL`];
    const isEffective = urls.some((url) => valueOf(env, url) !== undefined);
    return isEffective ? [] : [`${name}: has no effect without ${urls.join(' or ')}`];
  });
}

/** The variables in the format of the configuration file; `undefined` without a URL. */
export function environmentData(env: Environment): unknown {
  const bridge = omitUndefined({
    url: valueOf(env, 'BRIDGE_URL'),
    dialect: valueOf(env, 'BRIDGE_DIALECT'),
    watch: valueOf(env, 'BRIDGE_WATCH')
      ?.split(',')
      .map((address) => address.trim()),
  });
  const crosschain = omitUndefined({
    url: valueOf(env, 'CROSSCHAIN_URL'),
    dialect: valueOf(env, 'CROSSCHAIN_DIALECT'),
    window: valueOf(env, 'CROSSCHAIN_WINDOW'),
    limit: valueOf(env, 'CROSSCHAIN_LIMIT'),
  });
  if (!('url' in bridge) && !('url' in crosschain)) return undefined;
  const target = {
    name: valueOf(env, 'TARGET_NAME') ?? DEFAULT_TARGET_NAME,
    ...('url' in bridge && { bridge }),
    ...('url' in crosschain && { crosschain }),
  };
  return { poll: omitUndefined({ interval: valueOf(env, 'POLL_INTERVAL') }), targets: [target] };
}

/** The schema treats a key with the value `undefined` as set. */
function omitUndefined(keys: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined));
}

/**
 * The variable that caused an invalid setting, with the index of an entry of a list. In `poll`, variables set only the interval, so it
 * causes every problem there.
 */
export function variableOf(setting: string): string {
  const [, list = setting, index = ''] = /^(.*\.watch)(\[\d+\])$/.exec(setting) ?? [];
  const wanted = setting.startsWith('poll.') ? 'poll.interval' : list;
  const name = Object.entries(targetVariables).find(([, { path }]) => path === wanted)?.[0];
  return name === undefined ? setting : name + index;
}

const valueOf = (env: Environment, name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
