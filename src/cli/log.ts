import { isatty } from 'node:tty';
import { pino, type Logger } from 'pino';
import pretty from 'pino-pretty';
import type { LogSettings } from './flags.js';

const STDERR = 2;

/**
 * Logs to standard error, since `once` leaves standard output to the exposition; synchronously, so that the last lines are
 * not lost at the end.
 */
export function createLog({ level, format }: LogSettings): Logger {
  const stream = format === 'pretty' ? prettyStream() : pino.destination({ dest: STDERR, sync: true });
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters }, stream);
}

function prettyStream(): pretty.PrettyStream {
  return pretty({
    destination: STDERR,
    sync: true,
    colorize: pretty.isColorSupported && isatty(STDERR),
    translateTime: 'SYS:HH:MM:ss',
    customPrettifiers: { time: String },
    hideObject: true,
    messageFormat: (entry, _messageKey, _level, { colors }) => lineOf(entry, colors),
  });
}

interface Colours {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
}

/** What has a place of its own in the line. */
const placed = new Set(['level', 'time', 'msg', 'target', 'endpoint', 'err']);

/** Whom it is about, what happened, what else is known; what does not fit a line is below it. */
function lineOf(entry: Readonly<Record<string, unknown>>, { bold, dim }: Colours): string {
  const { msg, target, endpoint, err } = entry;
  const about = target === undefined ? '' : `${bold(`${shown(target)} ${shown(endpoint)}`)}: `;
  const fields = Object.entries(entry).filter(([key]) => !placed.has(key));
  const beside = fields.flatMap(([key, value]) => (Array.isArray(value) ? [] : [` ${key}=${shown(value)}`]));
  const below = fields.flatMap(([, value]) => (Array.isArray(value) ? value.map(shown) : []));
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? [shown(err.stack)] : [];
  return `${about}${shown(msg)}${dim(beside.join(''))}${[...below, ...stack].map((line) => `\n  ${line}`).join('')}`;
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
