import { isatty } from 'node:tty';
import { pino, type Logger } from 'pino';
import type { PrettyStream } from 'pino-pretty';
import type { LogSettings } from './flags.js';

const STDERR = 2;

/** Logs to standard error. Writes are synchronous, so that no line is lost when the process exits. */
export async function createLog({ level, format }: LogSettings): Promise<Logger> {
  const stream = format === 'pretty' ? await prettyStream() : pino.destination({ dest: STDERR, sync: true });
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters }, stream);
}

async function prettyStream(): Promise<PrettyStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    destination: STDERR,
    sync: true,
    colorize: pretty.isColorSupported && isatty(STDERR),
    translateTime: 'SYS:HH:MM:ss',
    customPrettifiers: { time: String },
    hideObject: true,
    messageFormat: (entry, _messageKey, _level, { colors }) => formatEntry(entry, colors),
  });
}

interface Colors {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
}

/** Fields that `formatEntry` or pino-pretty prints in a fixed place. */
const fixedFields = new Set(['level', 'time', 'msg', 'target', 'document', 'err']);

/** `target document: message field=value`, with lists and stack traces on the following lines. */
function formatEntry(entry: Readonly<Record<string, unknown>>, { bold, dim }: Colors): string {
  const { msg, target, document, err } = entry;
  const subject = target === undefined ? '' : `${bold(`${format(target)} ${format(document)}`)}: `;
  const fields = Object.entries(entry).filter(([key]) => !fixedFields.has(key));
  const inline = fields.flatMap(([key, value]) => (Array.isArray(value) ? [] : [` ${key}=${format(value)}`]));
  const lines = fields.flatMap(([, value]) => (Array.isArray(value) ? value.map(format) : []));
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? [format(err.stack)] : [];
  return `${subject}${format(msg)}${dim(inline.join(''))}${[...lines, ...stack].map((line) => `\n  ${line}`).join('')}`;
}

const format = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
