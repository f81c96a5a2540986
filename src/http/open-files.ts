import { closeSync, openSync } from 'node:fs';
import { errorCode } from '../text/system-error.js';
import type { PollError, RequestError } from './failure-reasons.js';

/* A process that has reached its limit of open files can open no socket, and read no file with a password. */

/** EMFILE is the limit of the process, ENFILE that of the system. A lookup of a name can end with EBUSY instead. */
const CODE = /\bE(?:MFILE|NFILE|BUSY)\b/;

/** What a lookup opens at the same time. */
const FILES_TO_OPEN = 3;

/**
 * Whether a request has failed because of the limit. Tries it, because a lookup that could open no file reports an
 * unknown name.
 */
export function isOutOfFiles({ reason, message, details: { statusCode } }: RequestError): boolean {
  if (statusCode !== undefined || !(reason === 'dns' || reason === 'connect' || reason === 'bad_request')) return false;
  if (CODE.test(message)) return true;
  const opened: number[] = [];
  try {
    while (opened.length < FILES_TO_OPEN) opened.push(openSync('/', 'r'));
    return false;
  } catch (error) {
    return CODE.test(String(errorCode(error)));
  } finally {
    opened.forEach(closeSync);
  }
}

export const OUT_OF_FILES: PollError = {
  reason: 'internal',
  message: 'no file or socket can be opened: the limit of open files of this process is reached',
  remedy:
    'Raise the limit of open files: LimitNOFILE in the systemd unit, --ulimit nofile of the container, or ulimit -n. process_max_fds is the limit, process_open_fds its use.',
};
