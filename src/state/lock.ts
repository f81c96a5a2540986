import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rename, rm, stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode, systemErrorText } from '../text/system-error.js';

/*
 * The lock of a file: the process that uses it listens on a socket beside it. Node.js has no file locks. The process id in a file would say nothing in
 * containers, where every process has the id 1. A connection proves that a process listens, also in another container with the same volume, and no
 * process listens after SIGKILL.
 */

/** `isInUse`: another process has the lock. Otherwise it is unknown whether another process uses the file. */
export type LockResult =
  | { readonly ok: true; readonly release: () => Promise<void> }
  | { readonly ok: false; readonly isInUse: boolean; readonly problem: string };

/** Longer paths of sockets are truncated: 104 bytes with the final zero on macOS, 108 on Linux. */
const MAX_PATH_BYTES = 103;

/** Two processes that start at once take less time from their check to their socket. */
const SETTLE_MS = 100;

const IN_USE: LockResult = { ok: false, isInUse: true, problem: 'is used by another process' };

export async function lock(path: string): Promise<LockResult> {
  // Renaming also replaces the socket of a process that was killed. When several processes rename at once, the last has the lock.
  const temporary = `${path}.${randomBytes(3).toString('hex')}`;
  if (Buffer.byteLength(temporary) > MAX_PATH_BYTES) {
    return unknown(`${path}: the name is longer than ${MAX_PATH_BYTES - temporary.length + path.length} bytes`);
  }
  const server = createServer((socket) => socket.destroy());
  try {
    if (await isListening(path)) return IN_USE;
    server.listen(temporary);
    await once(server, 'listening');
    server.unref();
    const { ino } = await stat(temporary);
    await rename(temporary, path);
    await delay(SETTLE_MS);
    if ((await stat(path)).ino === ino) {
      const release = async (): Promise<void> => {
        await rm(path, { force: true }).catch(() => undefined);
        server.close();
      };
      return { ok: true, release };
    }
    server.close();
    return IN_USE;
  } catch (error) {
    server.close();
    return unknown(`no socket can be used at ${path}: ${systemErrorText(error)}`);
  }
}

function unknown(problem: string): LockResult {
  return { ok: false, isInUse: false, problem };
}

const NOT_LISTENING: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOENT']);

/** Whether a process listens. Throws if that is unknown, such as for the socket of another user. */
async function isListening(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    if (NOT_LISTENING.has(errorCode(error))) return false;
    throw error;
  } finally {
    socket.destroy();
  }
}
