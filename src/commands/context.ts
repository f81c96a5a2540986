import type { Readable } from 'node:stream';
import type { Environment } from '../config/http-client-config.js';
import type { BuildInfo } from '../exposition/exporter-metrics.js';
import type { LogOutput } from './log.js';

/**
 * 0: done, or stopped by a signal. 1: runtime failure. 2: invalid usage or configuration. 3: a problem that `--fail-on`
 * names.
 */
export type ExitCode = 0 | 1 | 2 | 3;

/** The process of a command. */
export interface CommandContext {
  readonly env: Environment;
  readonly stdin: Readable;
  readonly standardError: LogOutput;
  readonly build: BuildInfo;
  /** Memory limit of the container or machine; `Infinity` without one. */
  readonly memoryBytes: number;
  readonly print: (text: string) => void;
  /** Prints like `print`, and resolves when the reader has kept up. */
  readonly write: (text: string) => Promise<void>;
  readonly printError: (line: string) => void;
  /**
   * For a command that runs until it is stopped: SIGTERM and SIGINT end the process with 0. The returned function waits
   * for the next one; before that, and at the second one, the process ends at once.
   */
  readonly handleStopSignals: () => () => Promise<NodeJS.Signals>;
  /** Calls the function on every SIGHUP. */
  readonly onReloadSignal: (reload: () => void) => void;
}

export const userAgent = ({ build }: CommandContext): string => `bridge-exporter/${build.version}`;

export function printProblems({ printError }: CommandContext, problems: readonly string[]): 2 {
  for (const problem of problems) printError(`bridge-exporter: ${problem}`);
  return 2;
}

export function printWarnings({ printError }: CommandContext, warnings: readonly string[]): void {
  for (const warning of warnings) printError(`warning: ${warning}`);
}
