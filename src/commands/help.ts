import type { CommandName } from '../cli/flags.js';
import { helpText, type Row } from '../cli/help.js';
import type { CommandContext, ExitCode } from './context.js';

/** `--help`, also after a command. */
export async function printHelp(command: CommandName, { print }: CommandContext): Promise<ExitCode> {
  print(helpText(command, await variableRows(command), await scenarioRows(command)));
  return 0;
}

/** The environment variables of one target, for the commands that poll. Loads the schema of the configuration. */
async function variableRows(command: CommandName): Promise<Row[]> {
  if (command !== 'daemon' && command !== 'once') return [];
  const { targetVariables } = await import('../config/environment.js');
  return Object.entries(targetVariables).map(([name, { description = '', type }]) => {
    const separator = type.startsWith('list') ? ' Separated by commas.' : '';
    return [name, description.replaceAll('`', '') + separator];
  });
}

async function scenarioRows(command: CommandName): Promise<readonly Row[]> {
  return command === 'simulate' || command === 'demo' ? (await import('../simulator/scenarios.js')).scenarioRows : [];
}
