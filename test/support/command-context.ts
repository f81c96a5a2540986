import type { CommandContext } from '../../src/commands/context.js';

/** A process that keeps what a command prints, and is stopped as soon as a command waits for that. */
export function createTestContext(): CommandContext & { readonly stdout: string[]; readonly stderr: string[] } {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  return {
    stdout,
    stderr,
    env: {},
    stdin: process.stdin,
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
