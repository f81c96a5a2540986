import type { SettingDescription } from '../settings/schema.js';
import { isMapping } from '../settings/value-types.js';
import { configSettings, DEFAULT_TARGET_NAME } from './config.js';

/* The environment variables that configure one target without a file. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** The key of the configuration file that each variable sets. Endpoints come first. */
export const targetVariables: Readonly<Record<string, SettingDescription>> = Object.fromEntries(
  configSettings
    .flatMap((setting) => (setting.variable === undefined ? [] : [[setting.variable, setting] as const]))
    .toSorted(([, a], [, b]) => b.path.split('.').length - a.path.split('.').length),
);

/** Names of the variables that are set. An empty variable counts as unset. */
export function presentTargetVariables(env: Environment): string[] {
  return Object.keys(targetVariables).filter((name) => valueOf(env, name) !== undefined);
}

/** Problems of the variables that have no effect, because no URL is set for them. */
export function ineffectiveVariables(env: Environment): string[] {
  return presentTargetVariables(env).flatMap((name) =>
    isEffective(name, env) ? [] : [`${name}: has no effect without ${urlsFor(name).join(' or ')}`],
  );
}

const isEffective = (name: string, env: Environment): boolean =>
  urlsFor(name).some((url) => valueOf(env, url) !== undefined);

function urlsFor(name: string): readonly string[] {
  const [prefix] = /^(?:BRIDGE|CROSSCHAIN)_/.exec(name) ?? [];
  return prefix === undefined ? ['BRIDGE_URL', 'CROSSCHAIN_URL'] : [`${prefix}URL`];
}

/** The variables in the format of the configuration file; `undefined` without a URL. */
export function environmentData(env: Environment): unknown {
  if (!isEffective('TARGET_NAME', env)) return undefined;
  const names = presentTargetVariables(env).filter((name) => isEffective(name, env));
  const { [TARGET]: target, ...others } = names.reduce<Mapping>(
    (data, name) => {
      const { path = '', type } = targetVariables[name] ?? {};
      const text = valueOf(env, name) ?? '';
      const value = type?.startsWith('list') ? text.split(',').map((entry) => entry.trim()) : text;
      return withValue(data, path.split('.'), value);
    },
    { [TARGET]: { name: DEFAULT_TARGET_NAME } },
  );
  return { ...others, targets: [target] };
}

/** The part of a path that stands for the only target. */
const TARGET = 'targets[]';

type Mapping = Readonly<Record<string, unknown>>;

/** A copy with a value at a path. */
function withValue(data: Mapping, [name = '', ...rest]: readonly string[], value: unknown): Mapping {
  const inner = data[name];
  return { ...data, [name]: rest.length === 0 ? value : withValue(isMapping(inner) ? inner : {}, rest, value) };
}

/**
 * The variable that caused an invalid setting, with the index of an entry of a list. In `poll`, variables set only the interval, so it
 * causes every problem there.
 */
export function variableOf(setting: string): string {
  const inTarget = setting.replace('targets[0]', TARGET);
  const [, key = inTarget, index = ''] = /^(.*\w)(\[\d+\])$/.exec(inTarget) ?? [];
  const wanted = setting.startsWith('poll.') ? 'poll.interval' : key;
  const name = Object.entries(targetVariables).find(([, { path }]) => path === wanted)?.[0];
  return name === undefined ? setting : name + index;
}

const valueOf = (env: Environment, name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
