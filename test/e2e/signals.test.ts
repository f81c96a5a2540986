import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { MAIN, startProcess, type RunningProcess } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';

const folder = createTempFolder();
const hook = new URL('../support/signal-at-import.mjs', import.meta.url).href;
const registerHook = `data:text/javascript,import{register}from'node:module';register('${hook}')`;
const bridge = 'bridge: {url: "http://127.0.0.1:1"}';
const config = folder.write('bridge.yml', `targets: [{name: a, ${bridge}}, {name: b, ${bridge}}]`);
const listen = '--web.listen-address=127.0.0.1:0';

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): RunningProcess {
  return startProcess(process.execPath, [MAIN, ...args], { env });
}

/** Starts a process that gets the signal while it loads the module of its command. */
function startWithSignal(signal: NodeJS.Signals, args: readonly string[]): RunningProcess {
  const command = args.find((argument) => !argument.startsWith('-')) ?? 'daemon';
  const at = `/dist/commands/${command}.js`;
  return start(args, { NODE_OPTIONS: `--import="${registerHook}"`, SIGNAL: signal, SIGNAL_AT: at });
}

/** The exit code and the signal that ended the process, and what it has printed. */
async function endOf({ child, stdout, stderr }: RunningProcess): Promise<readonly unknown[]> {
  const end: readonly unknown[] = await once(child, 'close');
  return [...end, ...stdout, ...stderr];
}

describe('a signal before the command is ready', () => {
  it.each([
    ['SIGTERM', [listen, `--config.file=${config}`]],
    ['SIGINT', ['demo', '--listen=127.0.0.1:0', listen]],
  ] as const)('%s ends a command that serves with 0: %j', async (signal, args) => {
    expect(await endOf(startWithSignal(signal, args))).toEqual([0, null]);
  });

  it('SIGTERM ends other commands as if they did not handle it', async () => {
    expect(await endOf(startWithSignal('SIGTERM', ['once', `--config.file=${config}`]))).toEqual([null, 'SIGTERM']);
  });

  it('SIGHUP reloads the configuration of the daemon as soon as it serves', async () => {
    const daemon = startWithSignal('SIGHUP', [listen, `--config.file=${config}`]);
    expect(await daemon.printed(/serving/)).toContain('"targets":2');
    expect(await daemon.printed(/configuration reloaded/)).toContain('"targets":2');
    expect((await daemon.stop()).code).toBe(0);
  });

  it('SIGHUP ends the demo, which has no configuration to reload', async () => {
    expect(await endOf(startWithSignal('SIGHUP', ['demo', '--log.level=warn']))).toEqual([null, 'SIGHUP']);
  });
});

it('SIGINT ends the demo with 0 while it simulates its past', async () => {
  const demo = start(['demo', '--scenario=no-relayer', '--listen=127.0.0.1:0', listen]);
  await demo.printed(/simulating and polling the past/);
  expect((await demo.stop('SIGINT')).code).toBe(0);
  expect(demo.stdout.join('\n')).not.toContain('Ctrl+C');
});
