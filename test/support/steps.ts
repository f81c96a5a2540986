import type { DocumentName } from '../../src/document-types.js';
import { readPoll as readPollInParts } from '../../src/engine/poll-body.js';
import { step as stepInParts } from '../../src/engine/step.js';
import { runToEnd } from '../../src/tasks.js';

/* Reading and the step of a poll, in one go. */

export function readPoll<Name extends DocumentName>(...args: Parameters<typeof readPollInParts<Name>>) {
  return runToEnd(readPollInParts(...args));
}

export function step<Name extends DocumentName>(...args: Parameters<typeof stepInParts<Name>>) {
  return runToEnd(stepInParts(...args));
}
