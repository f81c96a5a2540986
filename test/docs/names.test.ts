import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { targetVariables } from '../../src/config/environment.js';
import { commandNames, environmentName, flagsOf } from '../../src/cli/flags.js';
import { settings } from '../../src/config/config.js';
import { isScenarioName } from '../../src/simulator/scenarios.js';
import { webSettings } from '../../src/server/web-config.js';
import { alerts } from '../alerts/promtool.js';
import { blocksOf, pages, quotedIn, ROOT } from './pages.js';

/*
 * What pages name exists. Metrics and labels are looked up in test/dashboards/references.test.ts, the settings of examples in
 * examples.test.ts.
 */
const flags = commandNames.flatMap((command) => flagsOf(command).map(({ name }) => name));
const variables = new Set([...flags.flatMap((flag) => environmentName(flag) ?? []), ...Object.keys(targetVariables)]);
const { scripts: ownScripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
/** With the commands npm has of its own. */
const scripts = new Set([...Object.keys(ownScripts), 'ci', 'install', 'link', 'audit', 'prune']);

/** Alerts of this project, and those that pages give as examples. */
const alertNames = new Set([
  ...alerts.map(({ alert }) => alert),
  ...blocksOf('yaml').flatMap(({ code }) => Array.from(code.matchAll(/^ *- alert: (\w+)$/gm), ([, name = '']) => name)),
]);

/** Flags of npm, of the benchmark, of Docker, of `install`, of every command, and in general. */
const OTHER_FLAGS = /^--(?:silent|omit|quick|health-cmd|no-healthcheck|mode|target-directory|help|version|name)$/;

describe.each(pages)('$file', (page) => {
  const quoted = quotedIn(page);
  const commands = [...quoted, ...page.blocks.filter(({ language }) => language === 'sh').map(({ code }) => code)];

  it('names flags and variables that are there', () => {
    const ours = commands.filter(
      (command) => !/\b(?:prometheus|alertmanager|docker|kubectl|systemctl|systemd-analyze|apt-get)\b/.test(command),
    );
    const named = ours.flatMap((command) => command.match(/(?<![\w-])--[a-z][\w.-]*/g) ?? []);
    const known = (flag: string): boolean =>
      flags.includes(flag) || flags.includes(flag.replace('--no-', '--')) || OTHER_FLAGS.test(flag);
    expect(named.filter((flag) => !known(flag))).toEqual([]);
    const spelled = commands.flatMap(
      (command) => command.match(/\b(?:BRIDGE|CROSSCHAIN|TARGETS?|POLL|CONFIG|WEB|LOG)_[A-Z_]+\b/g) ?? [],
    );
    expect(spelled.filter((variable) => !variables.has(variable))).toEqual([]);
  });

  it('names scripts of npm that are there', () => {
    const run = commands.flatMap((command) =>
      Array.from(command.matchAll(/\bnpm (?:run (?:--silent )?)?([\w-]+)/g), ([, name = '']) => name),
    );
    expect(run.filter((name) => !scripts.has(name))).toEqual([]);
  });

  it('names scenarios that are there', () => {
    const named = commands.flatMap((command) =>
      Array.from(command.matchAll(/--scenario[ =]([a-z-]+)/g), ([, name = '']) => name),
    );
    expect(named.filter((name) => !isScenarioName(name))).toEqual([]);
  });

  it('names settings that are there', () => {
    const paths = new Set([...settings, ...webSettings].map(({ path }) => path));
    const named = quoted.filter((text) =>
      /^(?:poll|limits|targets\[\]|tls_server_config|http_server_config)\.[\w.[\]<>]+$/.test(text),
    );
    expect(named.filter((path) => !paths.has(path))).toEqual([]);
  });

  it('names alerts that are there', () => {
    const named = quoted.filter((text) => /^(?:Bridge|Crosschain)[A-Z][A-Za-z]+$/.test(text));
    expect(named.filter((name) => !alertNames.has(name))).toEqual([]);
  });

  it('names files that are there', () => {
    const named = quoted.filter((text) => /^(?:src|test|docs|prometheus|grafana|deploy)\/[\w./-]+$/.test(text));
    expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});
