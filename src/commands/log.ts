import { isatty } from 'node:tty';
import { styleText } from 'node:util';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Environment } from '../config/environment.js';
import type { LogFlags } from './flags.js';

const STDERR = 2;

interface LogContext {
  /** Colors are omitted with NO_COLOR. */
  readonly env: Environment;
  /** Called when a line cannot be written. */
  readonly logFailed: () => void;
}

/** Logs to standard error. Writes are synchronous, so that no line is lost when the process exits. */
export function createLog(options: LogFlags, { env, logFailed }: LogContext): Logger {
  const stderr = pino.destination({ dest: STDERR, sync: true });
  stderr.on('error', logFailed);
  const stream = options['log.format'] === 'pretty' ? prettyStream(stderr, env) : stderr;
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino(
    { level: options['log.level'], base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters },
    stream,
  );
}

/** Formats the lines of pino for a terminal. */
function prettyStream(stderr: DestinationStream, env: Environment): DestinationStream {
  const isColored = isatty(STDERR) && !env['NO_COLOR'];
  const style: Style = (format, text) => (isColored ? styleText(format, text, { validateStream: false }) : text);
  return {
    write: (line) => {
      stderr.write(`${formatEntry(JSON.parse(line) as LogEntry, style)}\n`);
    },
  };
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
