import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { targetVariables } from '../../src/config/loader.js';
import { scenarioNames } from '../../src/simulator/scenarios.js';
import { alertRules } from '../support/alert-rules.js';
import { commands as programCommands } from '../../packaging/generate/commands.js';
import { packageJson, projectFileExists, projectPath, readProjectFile } from '../support/project-files.js';
import { blocksOf, inlineCodeIn, pages } from './pages.js';
import { configSettings, webSettings } from '../../packaging/generate/settings.js';

/*
 * Names in the documentation exist. test/dashboards/references.test.ts checks metrics and labels, examples.test.ts the
 * settings in examples.
 */
const options = programCommands.flatMap((command) => command.options);
const flags = new Set(options.map(({ long }) => long));
const variables = new Set([...options.flatMap(({ envVar }) => envVar ?? []), ...Object.keys(targetVariables)]);
/** The scripts of the project and commands of npm. */
const npmCommands = new Set([
  ...Object.keys(packageJson.scripts),
  'audit',
  'ci',
  'deprecate',
  'dist-tag',
  'install',
  'link',
  'pack',
  'prune',
  'publish',
]);

const sourceFiles = ['src', 'test', 'grafana', 'packaging'].flatMap((folder) =>
  readdirSync(projectPath(folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
);

/** The alerts of this project and those in examples. */
const alertNames = new Set([
  ...alertRules.map(({ alert }) => alert),
  ...blocksOf('yaml').flatMap(({ code }) => Array.from(code.matchAll(/^ *- alert: (\w+)$/gm), ([, name = '']) => name)),
]);

/** Flags of npm, Helm, the benchmark, Docker, GitHub and `install`, and the placeholder `--name`. */
const OTHER_FLAGS =
  /^--(?:silent|set-file|quick|health-cmd|no-healthcheck|mode|target-directory|access|tag|prerelease|help|version|name|max-semi-space-size|no-allocation-site-pretenuring|heap-growing-percent|max-old-space-size)$/;

it('CONTRIBUTING.md lists the dependencies of the package', () => {
  const named = readProjectFile('CONTRIBUTING.md').matchAll(
    /^\| \[(\S+)\]\(https:\/\/www\.npmjs\.com\/package\/\1\)/gm,
  );
  expect(Array.from(named, ([, name = '']) => name).toSorted()).toEqual(Object.keys(packageJson.dependencies));
});

describe.each(pages)('$file', (page) => {
  const inlineCode = inlineCodeIn(page);
  const commands = [...inlineCode, ...page.blocks.filter(({ language }) => language === 'sh').map(({ code }) => code)];

  it('uses existing flags and environment variables', () => {
    const exporterCommands = commands.filter(
      (command) =>
        !/\b(?:prometheus|alertmanager|amtool|injectived|peggo|zetacored|cast|jq|docker|kubectl|systemctl|systemd-analyze|apt-get|helm|kustomize|cosign|sed|npm install|promtool query)\b/.test(
          command,
        ),
    );
    const named = exporterCommands.flatMap((command) => command.match(/(?<![\w-])--[a-z][\w.-]*/g) ?? []);
    const isKnown = (flag: string): boolean => flags.has(flag) || OTHER_FLAGS.test(flag);
    expect(named.filter((flag) => !isKnown(flag))).toEqual([]);
    const usedVariables = commands.flatMap(
      (command) => command.match(/\b(?:BRIDGE|CROSSCHAIN|TARGETS?|POLL|CONFIG|WEB|LOG)_[A-Z_]+\b/g) ?? [],
    );
    expect(usedVariables.filter((variable) => !variables.has(variable))).toEqual([]);
  });

  it('names existing files of the source', () => {
    const named = inlineCode.filter((code) => /^(?:[\w-]+\/)*[\w.-]+\.m?ts$/.test(code));
    expect(named.filter((name) => !sourceFiles.some((file) => file === name || file.endsWith(`/${name}`)))).toEqual([]);
  });

  it('uses existing npm scripts', () => {
    const scripts = commands.flatMap((command) =>
      Array.from(command.matchAll(/\bnpm (?:run (?:--silent )?)?([\w-]+)/g), ([, name = '']) => name),
    );
    expect(scripts.filter((name) => !npmCommands.has(name))).toEqual([]);
  });

  it('uses existing scenarios', () => {
    const named = commands.flatMap((command) =>
      Array.from(command.matchAll(/--scenario[ =]([a-z-]+)/g), ([, name = '']) => name),
    );
    expect(named.filter((name) => !scenarioNames.some((known) => known === name))).toEqual([]);
  });

  it('uses existing settings', () => {
    const paths = new Set([...configSettings, ...webSettings].map(({ path }) => path));
    const named = inlineCode.filter((text) =>
      /^(?:poll|limits|targets\[\]|tls_server_config|http_server_config)\.[\w.[\]<>]+$/.test(text),
    );
    expect(named.filter((path) => !paths.has(path))).toEqual([]);
  });

  it('uses existing alerts', () => {
    const named = inlineCode.filter((text) => /^(?:Bridge|Crosschain)[A-Z][A-Za-z]+$/.test(text));
    expect(named.filter((name) => !alertNames.has(name))).toEqual([]);
  });

  it('refers to existing files', () => {
    const named = inlineCode.filter((text) => /^(?:src|test|docs|prometheus|grafana|deploy)\/[\w./-]+$/.test(text));
    expect(named.filter((file) => !projectFileExists(file))).toEqual([]);
  });

  it('refers to names that the files beside them declare', () => {
    const named = Array.from(
      page.prose.matchAll(/`([A-Za-z]\w*)` \(`((?:[\w-]+\/)*[\w-]+\.ts)`/g),
      ([, name = '', file = '']) => ({ name, file }),
    );
    const declaredIn = ({ name, file }: (typeof named)[number]): boolean =>
      sourceFiles.some(
        (path) =>
          `/${path}`.endsWith(`/${file}`) &&
          new RegExp(`\\b(?:const|function|interface|type) ${name}\\b`).test(readProjectFile(path)),
      );
    expect(named.filter((each) => !declaredIn(each))).toEqual([]);
  });
});
