import { Readable } from 'node:stream';
import { parseInvocation } from '../../src/cli/invocation.js';
import type { CommandContext } from '../../src/commands/context.js';
import { runCommand } from '../../src/commands/run-command.js';
import type { Environment } from '../../src/config/environment.js';
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
    build: { version: '0.0.0', revision: 'unknown', nodeVersion: process.versions.node },
    memory: { bytes: Infinity, heapBytes: Infinity },
    print: (text) => void stdout.push(text),
    write: async (text) => void stdout.push(text),
    logFailed: () => undefined,
    showProgress: () => undefined,
    printError: (line) => void stderr.push(line),
    isTerminal: false,
    waitForStopSignal: async () => 'SIGTERM',
    onReloadSignal: () => undefined,
  };
}

/** Runs a command in this process, as `runExporter` (processes.ts) runs the built program. Not for commands that start threads or log. */
export async function runHere(args: readonly string[], env: Environment = {}, input = ''): Promise<ProcessResult> {
  const context = createTestContext(env, input);
  const fail = (error: Error): 1 => {
    context.printError(`bridge-exporter: ${error.message}`);
    return 1;
  };
  const code = await runCommand(parseInvocation(args, env), context).catch(fail);
  return { code, stdout: context.stdout.join(''), stderr: context.stderr.map((line) => `${line}\n`).join('') };
}
