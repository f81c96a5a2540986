import { createProgram } from '../../src/commands/command-line.js';

const program = createProgram(undefined, '', { print: () => undefined, printError: () => undefined });

/** The commands with their flags. */
export const commands = [program, ...program.commands].map((command) => ({
  name: command === program ? 'daemon' : command.name(),
  options: command.options.filter(({ long }) => long !== '--version'),
}));
