import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const running = new Set();

/** A module of this folder in a process of its own, with the first thing it said. */
export async function start(module, args = [], message) {
  const child = fork(fileURLToPath(new URL(module, import.meta.url)), args);
  running.add(child);
  child.once('exit', () => running.delete(child));
  if (message !== undefined) child.send(message);
  const [said] = await once(child, 'message');
  return {
    said,
    ask: async (question) => {
      const answered = once(child, 'message');
      child.send(question);
      return (await answered)[0];
    },
    close: () => child.kill(),
  };
}

export function stopAll() {
  for (const child of running) child.kill();
}
