import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { type Logger, pino } from 'pino';
import type { Environment } from '../config/http-client-config.js';
import { MEBIBYTE } from '../units.js';
import type { LogFlags } from './flags.js';

/** Standard error. */
export type LogOutput = Pick<Writable, 'write' | 'writableLength' | 'on'> & { readonly isTTY?: boolean };

interface LogContext {
  /** Colors are omitted with NO_COLOR. */
  readonly env: Environment;
  readonly standardError: LogOutput;
}

export interface Log {
  readonly log: Logger;
  /** The number of lines that were not written because standard error was not read. */
  readonly droppedLines: () => number;
}

/** Size of the lines that wait until standard error is read, besides the 64 KiB of a pipe. More are dropped. */
const MAX_WAITING_BYTES = MEBIBYTE;

/** Logs to standard error. A reader that stalls costs lines, and stops nothing else. */
export function createLog(options: LogFlags, { env, standardError: stderr }: LogContext): Log {
  const print = options['log.format'] === 'pretty' ? prettyPrinter(stderr.isTTY === true && !env['NO_COLOR']) : String;
  let dropped = 0;
  let reported = 0;
  const write = (line: string): void => {
    if (stderr.writableLength > MAX_WAITING_BYTES) dropped += 1;
    else stderr.write(print(line));
  };
  const formatters = { level: (label: string) => ({ level: label }) };
  const log = pino(
    { level: options['log.level'], base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters },
    { write },
  );
  stderr.on('drain', () => {
    if (dropped > reported)
      log.warn({ lines: dropped - reported }, 'dropped lines of the log: standard error was not read');
    reported = dropped;
  });
  return { log, droppedLines: () => dropped };
}

/** Formats the lines of pino for a terminal. */
function prettyPrinter(isColored: boolean): (line: string) => string {
  const style: Style = (format, text) => (isColored ? styleText(format, text, { validateStream: false }) : text);
  return (line) => `${formatEntry(JSON.parse(line) as LogEntry, style)}\n`;
}

type Style = (format: Parameters<typeof styleText>[0], text: string) => string;

type LogEntry = Readonly<Record<string, unknown>>;

const levelColors: ReadonlyMap<unknown, Parameters<typeof styleText>[0]> = new Map([
  ['debug', 'blue'],
  ['info', 'green'],
  ['warn', 'yellow'],
  ['error', 'red'],
  ['fatal', 'bgRed'],
]);

/** Fields that are printed in a fixed place. */
const fixedFields = new Set(['level', 'time', 'msg', 'target', 'document', 'err']);

/** `time LEVEL: target document: message field=value`, with lists and stack traces on the following lines. */
function formatEntry(entry: LogEntry, style: Style): string {
  const { level, time, msg, target, document, err } = entry;
  const clock = new Date(String(time)).toLocaleTimeString('en-GB');
  const label = style(levelColors.get(level) ?? 'gray', String(level).toUpperCase());
  const subject = target === undefined ? '' : `${style('bold', `${format(target)} ${format(document)}`)}: `;
  const fields = Object.entries(entry).filter(([key]) => !fixedFields.has(key));
  const inline = fields.flatMap(([key, value]) => (Array.isArray(value) ? [] : [` ${key}=${format(value)}`]));
  const lines = fields.flatMap(([, value]) => (Array.isArray(value) ? value.map(format) : []));
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? [format(err.stack)] : [];
  const details = [...lines, ...stack].map((line) => `\n  ${line}`).join('');
  return `${clock} ${label}: ${subject}${format(msg)}${style('dim', inline.join(''))}${details}`;
}

const format = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
