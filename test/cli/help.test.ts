import { expect, test } from 'vitest';
import { commandNames, subcommands } from '../../src/cli/flags.js';
import { helpText } from '../../src/cli/help.js';
import { parseInvocation } from '../../src/cli/invocation.js';
import { scenarioRows } from '../../src/simulator/scenarios.js';

function helpFor(line: string): string {
  const invocation = parseInvocation(line.split(' '), {});
  if (invocation.command !== 'help') throw new Error(`${line} does not print the help`);
  const { about } = invocation;
  return helpText(about, about === 'simulate' || about === 'demo' ? scenarioRows : []);
}

const helpTexts = [helpFor('--help'), ...subcommands.map((command) => helpFor(`${command} --help`))];

test('the help of every command matches the golden file', async () => {
  await expect(helpTexts.join(`\n${'─'.repeat(100)}\n\n`)).toMatchFileSnapshot('golden/help.txt');
});

test('the help has lines of at most 100 characters', () => {
  expect(helpTexts.flatMap((text) => text.split('\n')).filter((line) => line.length > 100)).toEqual([]);
});

test('every command has its own help', () => {
  expect(new Set(helpTexts).size).toBe(commandNames.length);
});

test('-h and --help print the help before or after the command, and even if other arguments are invalid', () => {
  expect(helpFor('-h')).toBe(helpFor('--help'));
  expect(helpFor('once -h')).toBe(helpFor('--help once'));
  expect(helpFor('onec --help --nonsense')).toBe(helpFor('--help'));
});
