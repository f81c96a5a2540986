import { type CommandName, environmentName, type Flag, flagsOf, formatFlag, subcommands } from '../cli/flags.js';
import type { CommandContext, ExitCode } from './context.js';

type Row = readonly [left: string, right: string];

interface CommandHelp {
  readonly usage: string;
  readonly description: string;
  readonly examples: readonly (readonly [command: string, explanation: string])[];
  /** Exit codes besides 2, which every command has. */
  readonly exitCodes: readonly Row[];
}

const exitCodesOfServer: readonly Row[] = [
  ['0', 'Stopped by SIGTERM or SIGINT.'],
  ['1', 'Runtime failure, such as an address in use, or a log that cannot be written.'],
];

const commands: Readonly<Record<CommandName, CommandHelp>> = {
  daemon: {
    usage: 'bridge-exporter [flags]',
    description: 'Polls the bridge state of chain nodes and exports it to Prometheus.',
    examples: [
      ['bridge-exporter demo', 'try the exporter with a simulated node'],
      ['BRIDGE_URL=https://node.example.org bridge-exporter', 'poll one node, then open http://localhost:10917/'],
      ['bridge-exporter --config.file=bridge.yaml', 'poll the targets of a configuration file'],
      ['bridge-exporter --config.file=bridge.yaml --config.check', 'check a configuration file'],
      [
        'bridge-exporter --config.file=bridge.yaml --targets.shard=2/5',
        'poll the second of five shards of the targets',
      ],
    ],
    exitCodes: exitCodesOfServer,
  },
  once: {
    usage: 'bridge-exporter once [flags]',
    description: 'Polls every endpoint once and prints the metrics; exits with 1 if a poll fails.',
    examples: [
      ['BRIDGE_URL=https://node.example.org bridge-exporter once', 'test a node'],
      ['bridge-exporter once --config.file=bridge.yaml', 'test a configuration file'],
      ['bridge-exporter once --config.file=bridge.yaml > metrics.txt || echo failed', 'use the metrics in a script'],
      ['bridge-exporter once --fail-on=critical > /dev/null', 'check a bridge in a script'],
    ],
    exitCodes: [
      ['0', 'All polls succeeded.'],
      ['1', 'A poll failed. The metrics of the others are printed, the reasons are on standard error.'],
      ['3', 'One poll proves that something is wrong with the severity of --fail-on, or a higher one.'],
    ],
  },
  replay: {
    usage: 'bridge-exporter replay [--recording DIR | --bridge FILE --crosschain FILE] [flags]',
    description: 'Prints the metrics of a recording, or of recorded response bodies, without network access.',
    examples: [
      [
        'bridge-exporter replay --recording /var/lib/bridge-exporter --from 2026-11-23 > metrics.txt',
        'print the metrics of a recording over time, as OpenMetrics with timestamps',
      ],
      [
        'bridge-exporter replay --recording /var/lib/bridge-exporter --serve --at 2026-11-23T03:12:00Z',
        'serve the status page and the pending page as they were then',
      ],
      [
        'promtool tsdb create-blocks-from openmetrics metrics.txt data',
        'make blocks of them that Prometheus can query',
      ],
      ['curl -o state.json https://node.example.org/peggy/v1/module_state', 'record a module state of Injective'],
      ['bridge-exporter replay --bridge state.json --hub-height 8214702', 'print its metrics as of a hub height'],
      [
        'curl https://node.example.org/peggy/v1/module_state | bridge-exporter replay --bridge -',
        'read a module state from standard input',
      ],
      [
        'bridge-exporter replay --crosschain input.json --config.file=bridge.yaml',
        'use the settings of the first target of a configuration file',
      ],
    ],
    exitCodes: [
      ['0', 'All documents are valid; with --serve, stopped by SIGTERM or SIGINT.'],
      [
        '1',
        'A document is invalid, or a file cannot be read. The metrics of the others are printed, the reasons are on standard error.',
      ],
    ],
  },
  simulate: {
    usage: 'bridge-exporter simulate [flags]',
    description: 'Serves a simulated chain for the exporter to poll.',
    examples: [
      ['bridge-exporter simulate', 'a healthy chain on 127.0.0.1:1317'],
      ['bridge-exporter simulate --scenario=backlog --block-time=500ms', 'a growing backlog, at four times the speed'],
      ['BRIDGE_URL=http://127.0.0.1:1317 bridge-exporter', 'poll it from another terminal'],
      ['bridge-exporter simulate --scenario=stuck --record recording --duration 7d', 'record a week in minutes'],
    ],
    exitCodes: exitCodesOfServer,
  },
  demo: {
    usage: 'bridge-exporter demo [flags]',
    description: 'Runs a simulated chain together with the exporter, which has already polled its past.',
    examples: [
      ['bridge-exporter demo', 'a healthy chain; open http://127.0.0.1:10917/'],
      ['bridge-exporter demo --scenario=stuck', 'a bridge that has been stuck for an hour'],
      ['bridge-exporter demo --scenario=mainnet', 'the habits of a main network'],
      ['bridge-exporter demo --listen=:0 --web.listen-address=127.0.0.1:0', 'use free ports'],
    ],
    exitCodes: exitCodesOfServer,
  },
  healthcheck: {
    usage: 'bridge-exporter healthcheck [flags]',
    description: 'Checks that a daemon with the same web flags on this machine is healthy.',
    examples: [
      ['bridge-exporter healthcheck', 'check the daemon at port 10917'],
      ['bridge-exporter healthcheck --web.config.file=web.yml', 'check a daemon with TLS'],
    ],
    exitCodes: [
      ['0', 'The daemon answers.'],
      ['1', 'It does not answer, or with an error. The reason is on standard error.'],
    ],
  },
};

export const EXAMPLE_CONFIG = `targets:
  - name: mainnet
    bridge: {url: https://node.example.org}
    crosschain: {url: https://node.example.org}`;

const commandRows: readonly Row[] = [
  ...subcommands.map((name): Row => [name, commands[name].description]),
  ['help [command]', 'Prints this help, or that of a command.'],
  ['version', 'Prints the version.'],
];

const commonFlags: readonly Row[] = [
  ['-h, --help', 'Print this help; after a command, the help of the command.'],
  ['--version', 'Print the version.'],
];

/** `--help`, also after a command. */
export async function printHelp(command: CommandName, { print }: CommandContext): Promise<ExitCode> {
  const { usage, description, examples, exitCodes } = commands[command];
  const isDaemon = command === 'daemon';
  const exitCodeRows: readonly Row[] = [
    ...exitCodes,
    ['2', 'Invalid usage or configuration. All problems are on standard error.'],
  ];
  const sections: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ['Usage:', [usage]],
    ['Commands:', isDaemon ? table(commandRows) : []],
    ['Examples:', examples.flatMap(([line, explanation]) => [`# ${explanation}`, line])],
    ['Example configuration file; docs/configuration.md lists all keys:', isDaemon ? EXAMPLE_CONFIG.split('\n') : []],
    ['Flags and their environment variables:', table([...flagsOf(command).map(flagRow), ...commonFlags])],
    ['Environment variables for one target without a configuration file:', table(await variableRows(command))],
    ['Scenarios:', table(await scenarioRows(command))],
    ['Exit codes:', table(exitCodeRows)],
  ];
  const texts = sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `${title}\n${lines.map((line) => `  ${line}`).join('\n')}`);
  print(`${[description, ...texts].join('\n\n')}\n`);
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

function flagRow(flag: Flag): Row {
  const { name, type, description } = flag;
  const variable = environmentName(name);
  const choices = type.includes('|') ? `One of ${type.replaceAll(' |', ',')}.` : undefined;
  const text = [description, choices, variable && `[${variable}]`].filter((part) => part !== undefined).join(' ');
  return [formatFlag(flag), text];
}

const WIDTH = 98;

/** Two aligned columns. The right column is wrapped. */
function table(rows: readonly Row[]): string[] {
  const indent = Math.max(...rows.map(([left]) => left.length)) + 3;
  return rows.flatMap(([left, right]) =>
    wrap(right, WIDTH - indent).map((line, index) => (index === 0 ? left : '').padEnd(indent) + line),
  );
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && longer.length <= width) lines.splice(-1, 1, longer);
    else lines.push(word);
  }
  return lines;
}
