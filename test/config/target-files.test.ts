import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { hashConfigFiles } from '../../src/config/config-files.js';
import type { ConfigResult } from '../../src/config/config.js';
import { loadConfig } from '../../src/config/loader.js';
import { runHere } from '../support/command-context.js';
import { createTempFolder, type TempFolder } from '../support/temp-folder.js';

let folder: TempFolder;
let configFile: string;

beforeEach(() => {
  folder = createTempFolder();
  mkdirSync(join(folder.path, 'targets'));
  configFile = folder.write('bridge.yaml', 'target_files: [targets/*.yml]\n');
});

const load = async (checkFiles = false): Promise<ConfigResult> => loadConfig({ configFile, env: {}, checkFiles });

const target = (name: string): string => `- name: ${name}\n  bridge: {url: "https://${name}.example"}\n`;

/** The names of the targets and the warnings; or the problems. The folder is left out. */
async function loaded(): Promise<readonly string[]> {
  const result = await load();
  const lines = result.ok ? [...result.config.targets.map(({ name }) => name), ...result.warnings] : result.problems;
  return lines.map((line) => line.replaceAll(`${folder.path}/`, ''));
}

const EXPECTED = 'expected a list of targets, each as under targets, or [] for none';

describe('target_files', () => {
  test('add targets in the order of the patterns and of the names of files', async () => {
    folder.write('bridge.yaml', `targets:\n${target('own')}target_files: [z.yml, targets/*.yml, "targets/a.*n"]\n`);
    folder.write('z.yml', target('z'));
    folder.write('targets/b.yml', target('b1') + target('b2'));
    folder.write('targets/a.yml', target('a'));
    folder.write('targets/a.json', '[{"name": "json", "bridge": {"url": "https://a.example"}}]');
    expect(await loaded()).toEqual(['own', 'z', 'a', 'b1', 'b2', 'json']);
  });

  test('can have absolute names', async () => {
    folder.write('bridge.yaml', `target_files: [${folder.path}/targets/*.yml]`);
    folder.write('targets/a.yml', target('a'));
    expect(await loaded()).toEqual(['a']);
  });

  test('do not include directories, hidden files and other names', async () => {
    folder.write('bridge.yaml', 'target_files: ["targets/*"]');
    mkdirSync(join(folder.path, 'targets/folder'));
    folder.write('targets/.a.yml.swp', 'x');
    folder.write('targets/a.yml', target('a'));
    expect(await loaded()).toEqual(['a']);
  });

  test('are read through the links of a mounted ConfigMap', async () => {
    mkdirSync(join(folder.path, 'targets/..2026'));
    folder.write('targets/..2026/a.yml', target('a'));
    symlinkSync('..2026', join(folder.path, 'targets/..data'));
    symlinkSync('..data/a.yml', join(folder.path, 'targets/a.yml'));
    expect(await loaded()).toEqual(['a']);
  });

  test('cause a warning if a pattern or a name matches no file', async () => {
    folder.write('bridge.yaml', 'target_files:\n  - targets/*.yml\n  - gone/*.yml\n  - gone.yml\n');
    expect(await loaded()).toEqual([
      'bridge.yaml:2:5: target_files[0]: matches no file',
      'bridge.yaml:3:5: target_files[1]: matches no file',
      'bridge.yaml:4:5: target_files[2]: matches no file',
    ]);
  });

  test.each([
    ['an empty file', '', `targets/a.yml: is empty — ${EXPECTED}`],
    ['a mapping', `targets:\n${target('a')}`, `targets/a.yml:1:1: ${EXPECTED}`],
    [
      'a syntax error',
      '- name: a\n   bridge: {url: x}\n',
      'targets/a.yml:1:9: Nested mappings are not allowed in compact mappings',
    ],
    [
      'an invalid target',
      `${target('a')}- name: b\n  bridge: {url: "https://a.example", dialect: x}\n  brigde: {}\n`,
      'targets/a.yml:4:38: [1].bridge.dialect: Invalid option: expected one of "auto"|"neutral"|"peggy"',
      'targets/a.yml:5:3: [1].brigde: is not a supported key — expected one of name, labels, bridge, crosschain',
    ],
  ])('are rejected with %s, by file and line', async (_title, text, ...problems) => {
    folder.write('targets/a.yml', text);
    expect(await loaded()).toEqual(problems);
  });

  test('cannot be a broken link', async () => {
    folder.write('bridge.yaml', 'target_files: ["*.yml"]');
    symlinkSync('nowhere', join(folder.path, 'a.yml'));
    expect(await loaded()).toEqual(['a.yml: cannot be read: no such file or directory']);
  });

  test('need unique names over all files', async () => {
    folder.write('bridge.yaml', `target_files: [targets/*.yml]\ntargets:\n${target('own')}`);
    folder.write('targets/a.yml', target('a') + target('own'));
    folder.write('targets/b.yml', target('a'));
    expect(await loaded()).toEqual([
      'targets/a.yml:3:3: [1].name: is not unique',
      'targets/b.yml:1:3: [0].name: is not unique',
    ]);
  });

  test('are reported together with the problems of the configuration file', async () => {
    folder.write('bridge.yaml', 'target_files: [targets/*.yml]\npoll: {interval: 30}\n');
    folder.write('targets/a.yml', '- name: a\n');
    folder.write('targets/b.yml', 'x');
    expect(await loaded()).toEqual([
      `targets/b.yml:1:1: ${EXPECTED}`,
      'bridge.yaml:2:8: poll.interval: expected a duration from 100ms to 1d, such as 30s, 1m30s or 500ms',
      'targets/a.yml:1:3: [0]: expected bridge, crosschain or both',
    ]);
  });

  test('contain names of files relative to themselves', async () => {
    folder.write('targets/token', 'hunter2\n');
    const authorization = (file: string) => `authorization: {credentials_file: ${file}}`;
    folder.write('targets/a.yml', `- name: a\n  bridge: {url: "https://a.example", ${authorization('token')}}\n`);
    expect(await load(true)).toMatchObject({
      ok: true,
      config: { targets: [{ bridge: { authorization: { credentials_file: join(folder.path, 'targets/token') } } }] },
    });
    folder.write('targets/a.yml', `- name: a\n  bridge: {url: "https://a.example", ${authorization('gone')}}\n`);
    const problem = `${folder.path}/targets/a.yml:2:54: [0].bridge.authorization.credentials_file: ${folder.path}/targets/gone cannot be read: no such file or directory`;
    expect(await load(true)).toEqual({ ok: false, problems: [problem] });
    expect(await load()).toMatchObject({ ok: true, warnings: [problem] });
  });

  test.each<[value: string, problem: string, index?: string, column?: number]>([
    ['targets', 'Invalid input: expected array, received string'],
    ...['[""]', '[a/*/b.yml]'].map((value): [string, string, string, number] => [
      value,
      'expected a file name or a pattern such as targets/*.yml',
      '[0]',
      16,
    ]),
  ])('cannot be %s', async (value, problem, index = '', column = 1) => {
    folder.write('bridge.yaml', `target_files: ${value}\ntargets:\n${target('a')}`);
    expect(await loaded()).toEqual([`bridge.yaml:1:${column}: target_files${index}: ${problem}`]);
  });

  test('may match no file in replay, which then uses the default target', async () => {
    const state = folder.write('state.json', '{"state": {"last_outgoing_batch_id": 7}}');
    const { code, stdout } = await runHere(['replay', `--config.file=${configFile}`, `--bridge=${state}`]);
    expect(code).toBe(0);
    expect(stdout).toContain('bridge_last_outgoing_batch_id{target="default"} 7\n');
  });
});

describe('the hash of the files of a configuration', () => {
  test('changes with their contents and names, and returns with them', async () => {
    const hash = async () => hashConfigFiles(configFile);
    const path = join(folder.path, 'targets/a.yml');
    const steps: readonly (() => void)[] = [
      () => undefined,
      () => folder.write('targets/a.yml', target('a')),
      () => folder.write('targets/a.yml', target('b')),
      () => renameSync(path, join(folder.path, 'targets/b.yml')),
      () => folder.write('targets/.hidden.yml', 'x'),
      () => folder.write('other.yml', 'x'),
      () => rmSync(join(folder.path, 'targets/b.yml')),
      () => folder.write('bridge.yaml', 'target_files: [targets/*.yml]\n# comment\n'),
      () => folder.write('bridge.yaml', 'target_files: ['),
      () => rmSync(configFile),
      () => folder.write('bridge.yaml', 'target_files: [targets/*.yml]\n'),
    ];
    const hashes: string[] = [];
    for (const step of steps) {
      step();
      // oxlint-disable-next-line no-await-in-loop -- each step changes the files
      hashes.push(await hash());
    }
    const numbers = hashes.map((value) => hashes.indexOf(value));
    expect(numbers).toEqual([0, 1, 2, 3, 3, 3, 0, 7, 8, 9, 0]);
  });
});
