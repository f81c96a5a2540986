import { contractProblems } from './contract-problems.js';
import { crosschainProblems } from './crosschain-problems.js';
import { integrityProblems } from './integrity-problems.js';
import { nodeProblems } from './node.js';
import { oracleProblems } from './oracle-problems.js';
import { paramsProblems } from './params.js';
import { pollProblems } from './polls.js';
import type { Problem } from './problem.js';
import { queueProblems } from './queue.js';
import { relayProblems } from './relay.js';
import { signatureProblems } from './signature-problems.js';
import { validatorProblems } from './late-validators.js';
import { watchedProblems } from './watched.js';

/** All problems, causes before their consequences: the order of equal severities on the pages. */
const declared = [
  ...nodeProblems,
  ...contractProblems,
  ...integrityProblems,
  ...oracleProblems,
  ...signatureProblems,
  ...relayProblems,
  ...queueProblems,
  ...validatorProblems,
  ...watchedProblems,
  ...paramsProblems,
  ...crosschainProblems,
];
export const problems: readonly Problem[] = declared;

export type ProblemName = (typeof declared)[number]['name'];

/** The possible keys in `problems` of the configuration. */
export const problemNames: ReadonlySet<string> = new Set([...pollProblems, ...problems].map(({ name }) => name));
