import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [firstLine] = readFileSync(new URL('../../src/main.ts', import.meta.url), 'utf8').split('\n', 1);

/** The flags of Node.js with which the exporter is shipped; baselines have the same. */
export const NODE_FLAGS = firstLine.match(/--\S+/g) ?? [];

const running = new Set();

/** Runs a module of this folder in a process of its own. `message` is the first message of the process. */
export async function start(module, args = []) {
  const child = fork(fileURLToPath(new URL(module, import.meta.url)), args, { execArgv: NODE_FLAGS });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const [message] = await once(child, 'message');
  return {
    message,
    request: async (data) => {
      const response = once(child, 'message');
      child.send(data);
      return (await response)[0];
    },
    close: () => child.kill(),
  };
}

export function stopAll() {
  for (const child of running) child.kill();
}
