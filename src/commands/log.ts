import type { Writable } from 'node:stream';
import { type Logger, pino } from 'pino';
import { MEBIBYTE } from '../units.js';
import type { LogFlags } from './flags.js';

/** Standard error. */
export type LogOutput = Pick<Writable, 'write' | 'writableLength' | 'on'> & { readonly isTTY?: boolean };

/** Size of the lines that wait until standard error is read, besides the 64 KiB of a pipe. More are dropped. */
const MAX_WAITING_BYTES = MEBIBYTE;

/** Logs to standard error. A reader of a pipe that stalls costs lines, and stops nothing else. */
export function createLog(options: LogFlags, stderr: LogOutput): Logger {
  let dropped = 0;
  const write = (line: string): void => {
    if (stderr.writableLength > MAX_WAITING_BYTES) dropped += 1;
    else stderr.write(options['log.format'] === 'pretty' ? formatEntry(JSON.parse(line) as LogEntry) : line);
  };
  const formatters = { level: (label: string) => ({ level: label }) };
  const log = pino(
    { level: options['log.level'], base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters },
    { write },
  );
  stderr.on('drain', () => {
    if (dropped > 0) log.warn({ lines: dropped }, 'dropped lines of the log: standard error was not read');
    dropped = 0;
  });
  return log;
}

type LogEntry = Readonly<Record<string, unknown>>;

/** Fields that are printed in a fixed place. */
const fixedFields = new Set(['level', 'time', 'msg', 'target', 'document', 'err']);

/** `time LEVEL: target document: message field=value`, with lists and stack traces on the following lines. */
function formatEntry(entry: LogEntry): string {
  const { level, time, msg, target, document, err } = entry;
  const clock = new Date(String(time)).toLocaleTimeString('en-GB');
  const subject = target === undefined ? '' : `${format(target)} ${format(document)}: `;
  const fields = Object.entries(entry).filter(([key]) => !fixedFields.has(key));
  const inline = fields.flatMap(([key, value]) => (Array.isArray(value) ? [] : [` ${key}=${format(value)}`]));
  const lines = fields.flatMap(([, value]) => (Array.isArray(value) ? value.map(format) : []));
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? [format(err.stack)] : [];
  const details = [...lines, ...stack].map((line) => `\n  ${line}`).join('');
  return `${clock} ${String(level).toUpperCase()}: ${subject}${format(msg)}${inline.join('')}${details}\n`;
}

const format = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
