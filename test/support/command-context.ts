import { fileErrorText } from '../../src/text/error-text.js';
import { PassThrough, Readable } from 'node:stream';
import { vi } from 'vitest';
import { commands } from '../../packaging/generate/commands.js';
import { parseCommandLine, type Invocation } from '../../src/commands/command-line.js';
import type { CommandContext } from '../../src/commands/context.js';
import type { Environment } from '../../src/config/http-client-config.js';
import type { ProcessResult } from './processes.js';

/** A process that keeps what a command prints, and is stopped as soon as a command waits for that. */
export function createTestContext(
  env: Environment = {},
  input = '',
): CommandContext & { readonly stdout: string[]; readonly stderr: string[] } {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  return {
    stdout,
    stderr,
    env,
    stdin: Readable.from([Buffer.from(input)]),
    standardError: new PassThrough(),
    build: { version: '0.0.0', revision: 'unknown', nodeVersion: process.versions.node },
    memoryBytes: Infinity,
    print: (text) => void stdout.push(text),
    write: async (text) => void stdout.push(text),
    printError: (line) => void stderr.push(line),
    handleStopSignals: () => async () => 'SIGTERM',
    onReloadSignal: () => undefined,
  };
}

const variables = new Set(commands.flatMap(({ options }) => options.flatMap(({ envVar }) => envVar ?? [])));

/** Parses a command line with these environment variables and no others. A number is the exit code after help or problems. */
export async function parseHere(
  args: readonly string[],
  env: Environment = {},
  context: Pick<CommandContext, 'print' | 'printError'> = createTestContext(),
): Promise<Invocation | number> {
  for (const name of variables) vi.stubEnv(name, env[name]);
  try {
    return parseCommandLine(args, 'version', context);
  } finally {
    vi.unstubAllEnvs();
  }
}

/** The values of the flags of a valid command line. */
export async function optionsOf<Options>(args: readonly string[]): Promise<Options> {
  const context = createTestContext();
  const invocation = await parseHere(args, {}, context);
  if (typeof invocation === 'number') throw new Error(context.stderr.join('\n'));
  return invocation.options as Options;
}

/** Runs a command in this process, as `runExporter` (processes.ts) runs the built program. Not for commands that start threads or log. */
export async function runHere(args: readonly string[], env: Environment = {}, input = ''): Promise<ProcessResult> {
  const context = createTestContext(env, input);
  const fail = (error: Error): 1 => {
    context.printError(`bridge-exporter: ${fileErrorText(error)}`);
    return 1;
  };
  const invocation = await parseHere(args, env, context);
  const code = typeof invocation === 'number' ? invocation : await invocation.run(context).catch(fail);
  return { code, stdout: context.stdout.join(''), stderr: context.stderr.map((line) => `${line}\n`).join('') };
}
