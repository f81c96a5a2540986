import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rename, rm, stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode, systemErrorText } from '../text/system-error.js';

/*
 * One process for one file: it listens on a socket beside the file. Node.js has no locks of files. A file with the id of the process would say
 * nothing in containers, where every process has the id 1 and does not see the others; a connection finds out whether somebody listens, also
 * from another container with the same volume, and nobody listens after SIGKILL.
 */

/** `isInUse`: another process has the lock. Otherwise it is not known whether there is one. */
export type LockResult =
  | { readonly ok: true; readonly release: () => Promise<void> }
  | { readonly ok: false; readonly isInUse: boolean; readonly problem: string };

/** Longer paths of sockets are truncated: 104 bytes with the final zero on macOS, 108 on Linux. */
const MAX_PATH_BYTES = 103;

/** Longer than another process takes from its check to its socket, when both start at once. */
const SETTLE_MS = 100;

const IN_USE: LockResult = { ok: false, isInUse: true, problem: 'is used by another process' };

export async function lock(path: string): Promise<LockResult> {
  // Renaming also replaces the socket of a process that was killed. Of several processes that rename at once, the last one has the lock.
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

const NOBODY_LISTENS: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOENT']);

/** Whether somebody listens. Throws if that cannot be told, such as for the socket of another user. */
async function isListening(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    if (NOBODY_LISTENS.has(errorCode(error))) return false;
    throw error;
  } finally {
    socket.destroy();
  }
}
