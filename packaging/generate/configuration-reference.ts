import { z } from 'zod';
import { targetVariables } from '../../src/config/loader.js';
import { DEFAULT_TARGET_NAME } from '../../src/config/config.js';
import { groupBy } from '../../src/facts/grouping.js';
import { scenarioNames, scenarios } from '../../src/simulator/scenarios.js';
import { commands } from './commands.js';
import { markdownTable, withTables } from './tables.js';
import { configSettings } from './settings.js';

const code = (text: string | undefined): string => (text === undefined ? '' : `\`${text}\``);

/** The keys of the HTTP client of an endpoint, without the path of the endpoint. */
export function httpClientKeys(endpoint: string): string[] {
  const keys = configSettings.map(({ path }) => path.replace(`${endpoint}.`, ''));
  return keys.filter((key) =>
    /^(?:basic_auth|authorization|http_headers|tls_config|proxy_url|proxy_from_environment|no_proxy)\b/.test(key),
  );
}

const documentsOfTarget = ['targets[].bridge', 'targets[].bridge.external', 'targets[].crosschain'];

/** Where the keys of the HTTP client are: beside the URL of the only node, or of each of several. */
export const endpoints = documentsOfTarget.flatMap((endpoint) => [endpoint, `${endpoint}.nodes[]`]);

const keyTable = (title: string, settings: typeof configSettings): string =>
  markdownTable(
    [title, 'type', 'default', 'description'],
    settings.map(({ path, type, required, default: preset, description = '' }) => [
      code(path),
      type,
      required ? 'required' : code(preset),
      description,
    ]),
  );

const clientKeys = new Set(httpClientKeys('targets[].bridge'));
const isClientKey = ({ path }: Pick<(typeof configSettings)[number], 'path'>): boolean =>
  endpoints.some((endpoint) => clientKeys.has(path.replace(`${endpoint}.`, '')));

/** The keys of a part of a problem and the URLs of several nodes, which have the meaning of those above them. */
const isRepetition = ({ path }: Pick<(typeof configSettings)[number], 'path'>): boolean =>
  /^problems\.<name>\.\w+\.|\.nodes\[\]\.url$/.test(path);

const clientSettings = configSettings
  .filter(({ path }) => clientKeys.has(path.replace('targets[].bridge.', '')))
  .map((setting) => ({ ...setting, path: setting.path.replace('targets[].bridge.', '') }));

const variableRows = Object.entries(targetVariables).map(([name, variable]) => {
  const path = z.core.toDotPath(variable.path).replace('[0]', '[]');
  const inFile = configSettings.find((setting) => setting.path === path)?.default;
  return [code(name), code(path), code(name === 'TARGET_NAME' ? DEFAULT_TARGET_NAME : inFile)];
});

/** Flags of several commands, once each unless the commands differ in it; those of the daemon without commands. */
function flagTable(): string {
  const rows = commands.flatMap((command) =>
    command.options.map(({ long, flags, envVar, argChoices, defaultValueDescription, description }) => {
      const isListed = argChoices !== undefined && long !== '--scenario';
      const type = isListed ? argChoices.join(' | ') : (/[<[](.*)[>\]]$/.exec(flags)?.[1] ?? '');
      const flag = [code(long), code(envVar), type, code(defaultValueDescription), description];
      return { command: command.name, flag };
    }),
  );
  const byFlag = Array.from(groupBy(rows, ({ flag }) => JSON.stringify(flag)).values());
  return markdownTable(
    ['flag', 'variable', 'type', 'default', 'description', 'commands'],
    byFlag.map((same) => {
      const names = same.map(({ command }) => command);
      return [...(same[0]?.flag ?? []), names.includes('daemon') ? '' : names.join(', ')];
    }),
  );
}

/** The keys of the schema, the variables, the flags and the scenarios. */
export function configurationReference(): string {
  return withTables('docs/configuration.md', [
    keyTable(
      'key',
      configSettings.filter((setting) => !isClientKey(setting) && !isRepetition(setting)),
    ),
    keyTable('key of an endpoint', clientSettings),
    markdownTable(['variable', 'key', 'default'], variableRows),
    flagTable(),
    markdownTable(
      ['scenario', 'description'],
      scenarioNames.map((name) => [code(name), scenarios[name].description]),
    ),
  ]);
}
