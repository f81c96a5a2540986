import { Help } from 'commander';

/* The sections of a help besides its flags. */

export interface HelpContent {
  /** Each is a comment and a command. */
  readonly examples: string;
  readonly exitCodes: Readonly<Record<number, string>>;
}

export const EXAMPLE_CONFIG = `targets:
  - name: mainnet
    bridge: {url: https://node.example.org}
    crosschain: {url: https://node.example.org}`;

export interface HelpTables {
  readonly scenarios: readonly Row[];
  readonly variables: readonly Row[];
}

type Row = readonly [name: string, description: string];

export const HELP_WIDTH = 98;

const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `\n${title}:\n${lines.map((line) => `  ${line}`).join('\n')}\n`;

/** Two aligned columns. */
function table(title: string, rows: readonly Row[]): string {
  const help = Object.assign(new Help(), { helpWidth: HELP_WIDTH });
  const width = Math.max(...rows.map(([{ length }]) => length));
  return section(
    title,
    rows.map(([name, description]) => help.formatItem(name, width, description, help).slice(2)),
  );
}

/** The sections after the flags. */
export function helpText(
  name: string,
  { examples, exitCodes }: HelpContent,
  { scenarios, variables }: HelpTables,
): string {
  return [
    section('Examples', examples.trim().split(/\n */)),
    name === 'daemon'
      ? section('Example configuration file; docs/configuration.md lists all keys', EXAMPLE_CONFIG.split('\n'))
      : '',
    name === 'daemon' || name === 'once'
      ? table('Environment variables for one target without a configuration file', variables)
      : '',
    name === 'simulate' || name === 'demo' ? table('Scenarios', scenarios) : '',
    table(
      'Exit codes',
      Object.entries({ ...exitCodes, 2: 'Invalid usage or configuration. All problems are on standard error.' }),
    ),
  ].join('');
}

/** Imports the modules of the simulator and of the configuration only if the help shows them. */
export async function loadHelpTables(argv: readonly string[]): Promise<HelpTables> {
  const usesSimulator = argv.includes('simulate') || argv.includes('demo');
  const isHelp = ['help', '-h', '--help'].some((argument) => argv.includes(argument));
  const variables = isHelp ? (await import('../config/environment.js')).targetVariables : {};
  return {
    scenarios: usesSimulator ? (await import('../simulator/scenarios.js')).scenarioRows : [],
    variables: Object.entries(variables).map(([name, { description, isList }]) => [
      name,
      description.replaceAll('`', '') + (isList ? ' Separated by commas.' : ''),
    ]),
  };
}
