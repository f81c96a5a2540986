import { targetVariables } from './environment.js';
import { type CommandName, type Flag, commandWords, environmentName, flagsOf } from './flags.js';

interface CommandHelp {
  readonly usage: string;
  readonly does: string;
  readonly examples: readonly (readonly [command: string, does: string])[];
}

const commands: Readonly<Record<CommandName, CommandHelp>> = {
  daemon: {
    usage: 'bridge-exporter [flags]',
    does: 'Polls the bridge documents of chain nodes and serves what they say to Prometheus.',
    examples: [
      ['bridge-exporter --config.file=bridge.yaml', 'poll the targets of a file, metrics on port 10917'],
      ['BRIDGE_URL=https://node.example.org bridge-exporter', 'poll one node without a file'],
      [
        'bridge-exporter --config.file=bridge.yaml --config.check',
        'say what is wrong with a file, or what is in effect',
      ],
      ['bridge-exporter --config.file=bridge.yaml --targets.shard=2/5', 'poll the second fifth of the targets'],
    ],
  },
  once: {
    usage: 'bridge-exporter once [flags]',
    does: 'Polls every endpoint once and prints the metrics; exits 1 if a poll failed.',
    examples: [
      ['bridge-exporter once --config.file=bridge.yaml', 'try a configuration'],
      ['BRIDGE_URL=https://node.example.org bridge-exporter once', 'try a node'],
    ],
  },
  replay: {
    usage: 'bridge-exporter replay [--bridge FILE] [--crosschain FILE] [flags]',
    does: 'Prints the metrics of recorded response bodies, without a network.',
    examples: [
      ['bridge-exporter replay --bridge state.json --hub-height 8214702', 'what a module state says'],
      [
        'bridge-exporter replay --crosschain input.json --config.file=bridge.yaml',
        'with dialect and window of the first target',
      ],
    ],
  },
  simulate: {
    usage: 'bridge-exporter simulate [flags]',
    does: 'Serves a simulated chain to point the exporter at.',
    examples: [
      ['bridge-exporter simulate', 'a healthy chain on 127.0.0.1:1317'],
      ['bridge-exporter simulate --scenario=backlog --block-time=500ms', 'transfers pile up, four times as fast'],
    ],
  },
  demo: {
    usage: 'bridge-exporter demo [flags]',
    does: 'Simulator and exporter in one process; prints where to look.',
    examples: [['bridge-exporter demo --scenario=stuck', 'what a stuck bridge looks like']],
  },
};

const everywhere: readonly Row[] = [
  ['-h, --help', 'This text; after a command, its own.'],
  ['--version', 'Version of the program.'],
];

/** What `--help` prints, for the program or for one command. */
export function helpText(command: CommandName): string {
  const { usage, does, examples } = commands[command];
  const flags = flagsOf(command).map(flagRow);
  const sections = [
    ['Usage:', [usage]],
    ...(command === 'daemon' ? [['Commands:', table(commandRows())] as const] : []),
    ['Examples:', examples.flatMap(([line, explanation]) => [`# ${explanation}`, line])],
    ['Flags, and the environment variables that stand for them:', table([...flags, ...everywhere])],
    ...(command === 'daemon'
      ? [
          [
            'One target without a file, by environment variables alone:',
            [Object.keys(targetVariables).join(', ')],
          ] as const,
        ]
      : []),
  ] as const;
  return (
    [does, ...sections.map(([title, lines]) => `${title}\n${lines.map((line) => `  ${line}`).join('\n')}`), '']
      .join('\n\n')
      .trimEnd() + '\n'
  );
}

type Row = readonly [left: string, right: string];

const commandRows = (): Row[] => commandWords.map((name) => [name, commands[name].does]);

function flagRow({ name, type, meaning, default: preset }: Flag): Row {
  const variable = environmentName(name);
  const choices = type.includes('|') ? `One of ${type.replaceAll(' |', ',')}.` : undefined;
  const text = [meaning, choices, variable && `[${variable}]`].filter((part) => part !== undefined).join(' ');
  if (type === 'boolean') return [name, text];
  return [`${name}=${preset === undefined ? `<${type}>` : preset}`, text];
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
