import { settings } from '../config/config.js';
import { targetVariables } from '../config/environment.js';
import { type CommandName, commandWords, environmentName, type Flag, flagsOf, formatFlag } from './flags.js';

export type Row = readonly [left: string, right: string];

interface CommandHelp {
  readonly usage: string;
  readonly does: string;
  readonly examples: readonly (readonly [command: string, does: string])[];
  /** What the exit codes mean beside 2, which is bad usage or configuration everywhere. */
  readonly exits: readonly Row[];
  /** Whether the one-target variables count. */
  readonly polls?: true;
}

const untilStopped: readonly Row[] = [
  ['0', 'Asked to stop, by SIGTERM or SIGINT.'],
  ['1', 'A failure at run time, such as an address in use.'],
];

const commands: Readonly<Record<CommandName, CommandHelp>> = {
  daemon: {
    usage: 'bridge-exporter [flags]',
    does: 'Polls the bridge documents of chain nodes and serves what they say to Prometheus.',
    examples: [
      ['bridge-exporter demo', 'look around without a node: a simulated one, and where to look'],
      ['BRIDGE_URL=https://node.example.org bridge-exporter', 'poll one node, and see http://localhost:10917/'],
      ['bridge-exporter --config.file=bridge.yaml', 'poll the targets of a file'],
      [
        'bridge-exporter --config.file=bridge.yaml --config.check',
        'say what is wrong with a file, or what is in effect',
      ],
      ['bridge-exporter --config.file=bridge.yaml --targets.shard=2/5', 'poll the second fifth of the targets'],
    ],
    exits: untilStopped,
    polls: true,
  },
  once: {
    usage: 'bridge-exporter once [flags]',
    does: 'Polls every endpoint once and prints the metrics; exits 1 if a poll failed.',
    examples: [
      ['BRIDGE_URL=https://node.example.org bridge-exporter once', 'try a node'],
      ['bridge-exporter once --config.file=bridge.yaml', 'try a configuration'],
      ['bridge-exporter once --config.file=bridge.yaml > metrics.txt || echo failed', 'use what it says in a script'],
    ],
    exits: [
      ['0', 'Every poll succeeded.'],
      ['1', 'A poll failed; what succeeded is printed. Standard error has the reasons.'],
    ],
    polls: true,
  },
  replay: {
    usage: 'bridge-exporter replay [--bridge FILE] [--crosschain FILE] [flags]',
    does: 'Prints the metrics of recorded response bodies, without a network.',
    examples: [
      ['curl -o state.json https://node.example.org/bridge/v1/module_state', 'record a module state'],
      ['bridge-exporter replay --bridge state.json --hub-height 8214702', 'what it says, as of that height'],
      [
        'bridge-exporter replay --crosschain input.json --config.file=bridge.yaml',
        'with dialect and window of the first target of a file',
      ],
    ],
    exits: [
      ['0', 'Every file is the document it should be.'],
      ['1', 'One is not; what the other says is printed. Or a file cannot be read. Standard error has the reasons.'],
    ],
  },
  simulate: {
    usage: 'bridge-exporter simulate [flags]',
    does: 'Serves a simulated chain to point the exporter at.',
    examples: [
      ['bridge-exporter simulate', 'a healthy chain on 127.0.0.1:1317'],
      ['bridge-exporter simulate --scenario=backlog --block-time=500ms', 'transfers pile up, four times as fast'],
      ['BRIDGE_URL=http://127.0.0.1:1317 bridge-exporter', 'watch it, from another terminal'],
    ],
    exits: untilStopped,
  },
  demo: {
    usage: 'bridge-exporter demo [flags]',
    does: 'Simulator and exporter in one process; prints where to look.',
    examples: [
      ['bridge-exporter demo', 'a healthy chain; then open http://127.0.0.1:10917/'],
      ['bridge-exporter demo --scenario=stuck', 'what a stuck bridge looks like'],
      ['bridge-exporter demo --listen=:0 --web.listen-address=127.0.0.1:0', 'when the usual ports are taken'],
    ],
    exits: untilStopped,
  },
};

/** A configuration file to begin with. */
export const EXAMPLE_CONFIG = `targets:
  - name: mainnet
    bridge: {url: https://node.example.org}
    crosschain: {url: https://node.example.org, window: 500}`;

const everywhere: readonly Row[] = [
  ['-h, --help', 'This text; after a command, its own.'],
  ['--version', 'Version of the program.'],
];

type Section = readonly [title: string, lines: readonly string[]];

/** What `--help` prints, for the program or for one command. `scenarios` are those of the simulator, which knows them. */
export function helpText(command: CommandName, scenarios: readonly Row[]): string {
  const { usage, does, examples, exits, polls } = commands[command];
  const isProgram = command === 'daemon';
  const sections: readonly Section[] = [
    ['Usage:', [usage]],
    ...sectionIf(isProgram, 'Commands:', table(commandRows())),
    ['Examples:', examples.flatMap(([line, explanation]) => [`# ${explanation}`, line])],
    ...sectionIf(isProgram, 'A file to begin with; docs/configuration.md has every key:', EXAMPLE_CONFIG.split('\n')),
    [
      'Flags, and the environment variables that stand for them:',
      table([...flagsOf(command).map(flagRow), ...everywhere]),
    ],
    ...sectionIf(polls === true, 'One target without a file, by environment variables alone:', table(variableRows())),
    ...sectionIf(scenarios.length > 0, 'Scenarios:', table(scenarios)),
    ['Exit codes:', table([...exits, ['2', 'Bad usage or configuration; standard error says all that is wrong.']])],
  ];
  const texts = sections.map(([title, lines]) => `${title}\n${lines.map((line) => `  ${line}`).join('\n')}`);
  return `${[does, ...texts].join('\n\n')}\n`;
}

const sectionIf = (isThere: boolean, title: string, lines: readonly string[]): readonly Section[] =>
  isThere ? [[title, lines]] : [];

const commandRows = (): Row[] => commandWords.map((name) => [name, commands[name].does]);

function variableRows(): Row[] {
  return Object.entries(targetVariables).map(([name, path]) => {
    const setting = settings.find((known) => known.path === path.replace('[0]', '[]'));
    return [name, setting?.description ?? ''];
  });
}

function flagRow(flag: Flag): Row {
  const { name, type, description: meaning } = flag;
  const variable = environmentName(name);
  const choices = type.includes('|') ? `One of ${type.replaceAll(' |', ',')}.` : undefined;
  const text = [meaning, choices, variable && `[${variable}]`].filter((part) => part !== undefined).join(' ');
  return [formatFlag(flag), text];
}

const width = 98;

/** Two aligned columns; what does not fit goes on below the right one. */
function table(rows: readonly Row[]): string[] {
  const indent = Math.max(...rows.map(([left]) => left.length)) + 3;
  return rows.flatMap(([left, right]) =>
    wrap(right, width - indent).map((line, index) => (index === 0 ? left : '').padEnd(indent) + line),
  );
}

function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && longer.length <= columns) lines.splice(-1, 1, longer);
    else lines.push(word);
  }
  return lines;
}
