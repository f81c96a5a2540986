import type { FailureReason } from './errors.js';

/** An expected failure on its way to becoming a value. */
export class RequestFailure extends Error {
  readonly reason: FailureReason;
  constructor(reason: FailureReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Marks what happens before a connection stands, so that a reset in a handshake is told from one in an answer. */
export class ConnectFailure extends RequestFailure {}
