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
  CROSSCHAIN_URL: {
    path: 'targets[0].crosschain.url',
    description: 'Base URL of the node with the cross-chain rate-limiter input.',
  },
  CROSSCHAIN_WINDOW: {
    path: 'targets[0].crosschain.window',
    description: 'Length of the sliding window in blocks. Sent only if set. Enables the window gauges.',
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
  const [bridgeUrl, crosschainUrl] = [valueOf(env, 'BRIDGE_URL'), valueOf(env, 'CROSSCHAIN_URL')];
  if (crosschainUrl !== undefined) return [];
  const names = presentTargetVariables(env);
  const crosschain = names.filter((name) => name.startsWith('CROSSCHAIN_'));
  const others = bridgeUrl === undefined ? names.filter((name) => !crosschain.includes(name)) : [];
  return [
    ...crosschain.map((name) => `${name}: has no effect without CROSSCHAIN_URL`),
    ...others.map((name) => `${name}: has no effect without BRIDGE_URL or CROSSCHAIN_URL`),
  ];
}

/** The variables in the format of the configuration file; `undefined` without a URL. */
export function environmentData(env: Environment): unknown {
  const bridge = omitUndefined({ url: valueOf(env, 'BRIDGE_URL') });
  const crosschain = omitUndefined({
    url: valueOf(env, 'CROSSCHAIN_URL'),
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
function omitUndefined(keys: Environment): Environment {
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined));
}

/** The variable that caused an invalid setting. In `poll`, variables set only the interval, so it causes every problem there. */
export function variableOf(setting: string): string {
  const wanted = setting.startsWith('poll.') ? 'poll.interval' : setting;
  return Object.entries(targetVariables).find(([, { path }]) => path === wanted)?.[0] ?? setting;
}

const valueOf = (env: Environment, name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
