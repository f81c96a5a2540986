import { pino, type Logger } from 'pino';
import pretty from 'pino-pretty';
import type { LogSettings } from './config/flags.js';

const STDERR = 2;

/**
 * Logs to standard error, since `once` leaves standard output to the exposition; synchronously, so that the last lines are
 * not lost at the end.
 */
export function createLog({ level, format }: LogSettings): Logger {
  const stream =
    format === 'pretty'
      ? pretty({ destination: STDERR, sync: true, translateTime: 'SYS:HH:MM:ss' })
      : pino.destination({ dest: STDERR, sync: true });
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters }, stream);
}
