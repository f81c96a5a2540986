import type { Reason } from './errors.js';

/** An expected failure on its way to becoming a value. */
export class Failure extends Error {
  readonly reason: Reason;
  constructor(reason: Reason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Marks what happens before a connection stands, so that a reset in a handshake is told from one in an answer. */
export class ConnectFailure extends Failure {}
