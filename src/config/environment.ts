import { type ConfigResult, validateConfig } from './config.js';
import { formatPath } from './kit/problems.js';
import { defaultTargetName } from './schema.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** One target without a file: each variable and the setting it stands for. */
export const targetVariables = {
  BRIDGE_URL: 'targets[0].bridge.url',
  CROSSCHAIN_URL: 'targets[0].crosschain.url',
  CROSSCHAIN_WINDOW: 'targets[0].crosschain.window',
  CROSSCHAIN_LIMIT: 'targets[0].crosschain.limit',
  TARGET_NAME: 'targets[0].name',
  POLL_INTERVAL: 'poll.interval',
} as const;

/** The one-target variables that are set; an empty one is not. */
export function presentTargetVariables(env: Environment): string[] {
  return Object.keys(targetVariables).filter((name) => read(env, name) !== undefined);
}

/** The configuration of the one-target variables; undefined when none of them is set. */
export function configFromEnvironment(env: Environment): ConfigResult | undefined {
  const names = presentTargetVariables(env);
  if (names.length === 0) return undefined;
  const alone = variablesAlone(names);
  if (!names.includes('BRIDGE_URL') && !names.includes('CROSSCHAIN_URL')) return { ok: false, problems: alone };
  const result = validateConfig(environmentData(env), (path) => variableOf(formatPath(path)));
  if (alone.length === 0) return result;
  return { ok: false, problems: [...alone, ...(result.ok ? [] : result.problems)] };
}

/** Problems of the variables that change nothing because the address they belong to is not set. */
function variablesAlone(names: readonly string[]): string[] {
  if (names.includes('CROSSCHAIN_URL')) return [];
  const crosschain = names.filter((name) => name.startsWith('CROSSCHAIN_'));
  const others = names.includes('BRIDGE_URL') ? [] : names.filter((name) => !crosschain.includes(name));
  return [
    ...crosschain.map((name) => `${name}: has no effect alone — expected CROSSCHAIN_URL beside it`),
    ...others.map((name) => `${name}: has no effect alone — expected BRIDGE_URL or CROSSCHAIN_URL beside it`),
  ];
}

/** The variables in the words of the file. */
function environmentData(env: Environment): unknown {
  const bridge = given({ url: read(env, 'BRIDGE_URL') });
  const crosschain = given({
    url: read(env, 'CROSSCHAIN_URL'),
    window: read(env, 'CROSSCHAIN_WINDOW'),
    limit: read(env, 'CROSSCHAIN_LIMIT'),
  });
  const target = {
    name: read(env, 'TARGET_NAME') ?? defaultTargetName,
    ...('url' in bridge && { bridge }),
    ...('url' in crosschain && { crosschain }),
  };
  return { poll: given({ interval: read(env, 'POLL_INTERVAL') }), targets: [target] };
}

/** Without the keys that have no value: to the schema, a key that is there was written. */
function given(keys: Environment): Environment {
  return Object.fromEntries(Object.entries(keys).filter(([, text]) => text !== undefined));
}

/** The variable to change; of the settings of `poll`, only the interval has one. */
function variableOf(setting: string): string {
  const wanted = setting.startsWith('poll.') ? 'poll.interval' : setting;
  return Object.entries(targetVariables).find(([, path]) => path === wanted)?.[0] ?? setting;
}

const read = (env: Environment, name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
