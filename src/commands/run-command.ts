import type { Invocation } from '../cli/invocation.js';
import { type CommandContext, type ExitCode, printProblems, seeHelp } from './context.js';

/** Imports a command when it runs, because loading the modules of the daemon takes several times as long as starting Node.js. */
export async function runCommand(invocation: Invocation, context: CommandContext): Promise<ExitCode> {
  switch (invocation.command) {
    case 'help':
      return (await import('./help.js')).printHelp(invocation.about, context);
    case 'version':
      return printVersion(context);
    case 'usage-error':
      return printProblems(context, [...invocation.problems, seeHelp(invocation.about)]);
    case 'daemon':
      return (await import('./daemon.js')).runDaemon(invocation, context);
    case 'once':
      return (await import('./once.js')).runOnce(invocation, context);
    case 'replay':
      return (await import('./replay.js')).runReplay(invocation, context);
    case 'simulate':
      return (await import('./simulate.js')).runSimulate(invocation, context);
    case 'demo':
      return (await import('./demo.js')).runDemo(invocation, context);
    case 'healthcheck':
      return (await import('./healthcheck.js')).runHealthcheck(invocation, context);
  }
}

function printVersion({ build: { version, revision, nodeVersion }, print }: CommandContext): ExitCode {
  print(`bridge-exporter ${version} (revision ${revision}, node ${nodeVersion})\n`);
  return 0;
}
