import { expect, test } from 'vitest';
import { commandNames, subcommands } from '../../src/cli/flags.js';
import { parseInvocation } from '../../src/cli/invocation.js';
import { printHelp } from '../../src/commands/help.js';
import { createTestContext } from '../support/command-context.js';

async function helpFor(line: string): Promise<string> {
  const invocation = parseInvocation(line.split(' '), {});
  if (invocation.command !== 'help') throw new Error(`${line} does not print the help`);
  const context = createTestContext();
  await printHelp(invocation.about, context);
  return context.stdout.join('');
}

const helpTexts = await Promise.all(['--help', ...subcommands.map((command) => `${command} --help`)].map(helpFor));

test('the help of every command matches the golden file', async () => {
  await expect(helpTexts.join(`\n${'─'.repeat(100)}\n\n`)).toMatchFileSnapshot('golden/help.txt');
});

test('the help has lines of at most 100 characters', () => {
  expect(helpTexts.flatMap((text) => text.split('\n')).filter((line) => line.length > 100)).toEqual([]);
});

test('every command has its own help', () => {
  expect(new Set(helpTexts).size).toBe(commandNames.length);
});

test('-h and --help print the help before or after the command, and even if other arguments are invalid', async () => {
  expect(await helpFor('-h')).toBe(await helpFor('--help'));
  expect(await helpFor('once -h')).toBe(await helpFor('--help once'));
  expect(await helpFor('onec --help --nonsense')).toBe(await helpFor('--help'));
});
