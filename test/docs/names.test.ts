import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { targetVariables } from '../../src/config/environment.js';
import { scenarioNames } from '../../src/simulator/scenarios.js';
import { alertRules } from '../support/alert-rules.js';
import { commands as programCommands } from '../support/command-context.js';
import { packageJson, projectFileExists, projectPath, readProjectFile } from '../support/project-files.js';
import { blocksOf, inlineCodeIn, pages } from './pages.js';
import { configSettings, webSettings } from './settings.js';

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

const sourceFiles = ['src', 'test', 'grafana'].flatMap((folder) =>
  readdirSync(projectPath(folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
);

/** The alerts of this project and those in examples. */
const alertNames = new Set([
  ...alertRules.map(({ alert }) => alert),
  ...blocksOf('yaml').flatMap(({ code }) => Array.from(code.matchAll(/^ *- alert: (\w+)$/gm), ([, name = '']) => name)),
]);

/** Flags of npm, Helm, the benchmark, Docker, GitHub and `install`, and the placeholder `--name`. */
const OTHER_FLAGS =
  /^--(?:silent|set-file|quick|health-cmd|no-healthcheck|mode|target-directory|access|tag|prerelease|help|version|name)$/;

it('docs/dependencies.md lists the dependencies of the package', () => {
  const named = readProjectFile('docs/dependencies.md').matchAll(
    /^\| \[(\S+)\]\(https:\/\/www\.npmjs\.com\/package\/\1\)/gm,
  );
  expect(Array.from(named, ([, name = '']) => name).toSorted()).toEqual(Object.keys(packageJson.dependencies));
});

/** Commands of other programs. */
const OTHER_COMMANDS =
  /\b(?:prometheus|alertmanager|amtool|injectived|peggo|zetacored|cast|jq|docker|kubectl|systemctl|systemd-analyze|apt-get|helm|kustomize|cosign|sed|npm install|promtool query)\b/;
const settings = new Set([...configSettings, ...webSettings].map(({ path }) => path));

interface Code {
  readonly inline: readonly string[];
  /** Of the inline code and the blocks. */
  readonly commands: readonly string[];
}

const groupsOf = (texts: readonly string[], pattern: RegExp): string[] =>
  texts.flatMap((text) => Array.from(text.matchAll(pattern), ([all, group = all]) => group));

const kinds: readonly (readonly [
  kind: string,
  (code: Code) => readonly string[],
  exists: (name: string) => boolean,
])[] = [
  [
    'flags',
    ({ commands }) =>
      groupsOf(
        commands.filter((command) => !OTHER_COMMANDS.test(command)),
        /(?<![\w-])--[a-z][\w.-]*/g,
      ),
    (flag) => flags.has(flag) || OTHER_FLAGS.test(flag),
  ],
  [
    'environment variables',
    ({ commands }) => groupsOf(commands, /\b(?:BRIDGE|CROSSCHAIN|TARGETS?|POLL|CONFIG|WEB|LOG)_[A-Z_]+\b/g),
    (name) => variables.has(name),
  ],
  [
    'files of the source',
    ({ inline }) => inline.filter((code) => /^(?:[\w-]+\/)*[\w.-]+\.m?ts$/.test(code)),
    (name) => sourceFiles.some((file) => file === name || file.endsWith(`/${name}`)),
  ],
  [
    'npm scripts',
    ({ commands }) => groupsOf(commands, /\bnpm (?:run (?:--silent )?)?([\w-]+)/g),
    (name) => npmCommands.has(name),
  ],
  [
    'scenarios',
    ({ commands }) => groupsOf(commands, /--scenario[ =]([a-z-]+)/g),
    (name) => scenarioNames.some((known) => known === name),
  ],
  [
    'settings',
    ({ inline }) =>
      inline.filter((text) =>
        /^(?:poll|limits|targets\[\]|tls_server_config|http_server_config)\.[\w.[\]<>]+$/.test(text),
      ),
    (path) => settings.has(path),
  ],
  [
    'alerts',
    ({ inline }) => inline.filter((text) => /^(?:Bridge|Crosschain)[A-Z][A-Za-z]+$/.test(text)),
    (name) => alertNames.has(name),
  ],
  [
    'files',
    ({ inline }) => inline.filter((text) => /^(?:src|test|docs|prometheus|grafana|deploy)\/[\w./-]+$/.test(text)),
    projectFileExists,
  ],
];

it.each(kinds)('the %s that the documentation names exist', (_kind, namesIn, exists) => {
  const missing = pages.flatMap((page) => {
    const inline = inlineCodeIn(page);
    const blocks = page.blocks.filter(({ language }) => language === 'sh').map(({ code }) => code);
    const unknown = namesIn({ inline, commands: [...inline, ...blocks] }).filter((name) => !exists(name));
    return unknown.map((name) => `${page.file}: ${name}`);
  });
  expect(missing).toEqual([]);
});
