import { describe, expect, test } from 'vitest';
import { parseYaml } from '../../src/settings/yaml.js';

const syntaxErrors: readonly (readonly [title: string, text: string, ...problems: string[]])[] = [
  [
    'a key with less indentation than the key above it',
    'targets:\n  - name: a\n   bridge: {url: x}\n',
    'f:3:4: wrong indentation — expected column 5, as in line 2',
  ],
  [
    'a key with more indentation than the key above it',
    'targets:\n  - name: a\n      bridge: {url: x}\n',
    'f:3:7: wrong indentation — expected column 5, as in line 2',
  ],
  [
    'a key that is aligned with the dash of its entry',
    'targets:\n  - name: a\n  bridge:\n    url: x\n',
    'f:3:3: wrong indentation — expected column 5, as in line 2, or "- " for the next entry of the list',
  ],
  [
    'a key between the columns of two mappings',
    'poll:\n  interval: 30s\n timeout: 20s\n',
    'f:3:2: wrong indentation — expected column 3, as in line 2',
  ],
  [
    'a key below a value',
    'poll:\n  interval: 30s\n    timeout: 20s\n',
    'f:3:5: wrong indentation — expected column 3, as in line 2',
  ],
  [
    'a first key with indentation',
    ' poll:\n   interval: 30s\ntargets: []\n',
    'f:3:1: wrong indentation — expected column 2, as in line 1',
  ],
  [
    'a list entry with more indentation than the others',
    'targets:\n- name: a\n- name: b\n - name: c\n',
    'f:4:2: wrong indentation — expected column 1, as in line 3',
  ],
  [
    'a wrong indentation after comments and empty lines',
    'poll:\n  interval: 30s\n\n  # comment\n timeout: 20s\n',
    'f:5:2: wrong indentation — expected column 3, as in line 2',
  ],
  [
    'a missing space after a colon',
    'poll:\n  interval:30s\n  timeout: 20s\n',
    'f:2:3: no space after the colon — expected "key: value"',
  ],
  [
    'a missing space after the colon of the last key',
    'poll:\n  interval: 30s\n  timeout:20s\n',
    'f:3:3: no space after the colon — expected "key: value"',
  ],
  [
    'a missing space after a dash',
    'targets:\n  -name: a\n   bridge: {url: x}\n',
    'f:2:3: no space after the dash — expected "- key: value"',
  ],
  ['a missing colon', 'poll:\n  interval\n  timeout: 20s\n', 'f:2:3: no colon after the key — expected "key: value"'],
  [
    'a missing colon after the last key',
    'poll:\n  interval: 30s\n  timeout\n',
    'f:3:3: no colon after the key — expected "key: value"',
  ],
  [
    'a missing comma',
    'targets: [{name: a bridge: {url: x}}]\n',
    'f:1:18: a comma is missing — expected one between the entries of { } or [ ]',
  ],
  [
    'a missing comma in JSON',
    '{"targets": [{"name": "a" "bridge": {}}]}',
    'f:1:27: a comma is missing — expected one between the entries of { } or [ ]',
  ],
  [
    'a missing brace',
    'targets: [{name: a, bridge: {url: x}]\npoll: {}\n',
    'f:1:37: } is missing — expected it after the last entry, and every line before it indented',
  ],
  [
    'a missing bracket',
    'targets: [{name: a, bridge: {url: x}}\npoll: {}\n',
    'f:2:1: ] is missing — expected it after the last entry, and every line before it indented',
  ],
  [
    'a bracket too many',
    'targets: [{name: a}]]\n',
    'f:1:21: ] does not close anything — expected one for each opening bracket',
  ],
  [
    'a missing quote',
    'targets:\n  - name: "a\n    bridge: {url: x}\n',
    'f:4:1: " is missing — expected it at the end of the string that starts in line 2',
  ],
  [
    'a missing single quote',
    "targets:\n  - name: 'a\n",
    "f:3:1: ' is missing — expected it at the end of the string that starts in line 2",
  ],
  [
    'a missing quote in a list in brackets',
    'a: [{b: "c, d: e}]\nf: g\n',
    'f:3:1: " is missing — expected it at the end of the string that starts in line 1',
  ],
  ['text after a quoted value', 'a: "b" c\n', 'f:1:8: text after the end of a value — put the whole value in quotes'],
  ['two colons in a line', 'targets:\n  - name: a: b\n', 'f:2:11: a value contains ": " — put the value in quotes'],
  ['a tab', 'targets:\n  - name: a\n	bridge: {url: x}\n', 'f:3:1: a tab is used as indentation — expected spaces'],
  [
    'a value with a reserved character',
    'a: @b\n',
    'f:1:4: a value starts with a reserved character — put it in quotes',
  ],
  ['a value that is an asterisk', 'a: *\n', 'f:1:4: a value starts with * — put it in quotes'],
  ['a value that is an ampersand', 'a: & b\n', 'f:1:4: a value starts with & — put it in quotes'],
  [
    'an escape sequence of another language',
    'a: "\\d"\n',
    'f:1:5: invalid escape sequence — expected \\\\ for a backslash, or single quotes',
  ],
  [
    'a template that is not rendered',
    '{{- if .Values.x }}\ntargets: []\n{{- end }}\n',
    'f:1:3: a template expression {{ }} is not replaced — expected its value',
  ],
  [
    'a file in INI format',
    '[poll]\ninterval = 30s\n',
    'f:2:1: unexpected text — expected lines of the form "key: value"',
  ],
  [
    'a comment without a space',
    'a: "b"# c\n',
    'f:1:7: not YAML: Comments must be separated from other tokens by white space characters',
  ],
  ['an unknown directive', '%FOO\n---\na: b\n', 'f:1:1: not YAML: Unknown directive %FOO'],
];

describe('a syntax error', () => {
  test.each(syntaxErrors)('is explained with its position: %s', (_title, text, ...problems) => {
    expect(parseYaml(text, 'f')).toEqual({ ok: false, problems });
  });

  test('has the same position with Windows line endings', () => {
    expect(parseYaml('poll:\r\n  interval: 30s\r\n timeout: 20s\r\n', 'f')).toEqual({
      ok: false,
      problems: ['f:3:2: wrong indentation — expected column 3, as in line 2'],
    });
  });

  test('is reported once per line, and does not quote the file', () => {
    const result = parseYaml('a: hunter2: hunter2: hunter2\nb: "hunter2" hunter2\n', 'f');
    expect(result).toEqual({
      ok: false,
      problems: [
        'f:1:4: a value contains ": " — put the value in quotes',
        'f:2:14: text after the end of a value — put the whole value in quotes',
      ],
    });
  });
});
