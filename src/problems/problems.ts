import { contractProblems } from './contract.js';
import { crosschainProblems } from './crosschain.js';
import { integrityProblems } from './integrity.js';
import { nodeProblems } from './node.js';
import { oracleProblems } from './oracle.js';
import { paramsProblems } from './params.js';
import type { Inhibition, Problem } from './problem.js';
import { queueProblems } from './queue.js';
import { relayProblems } from './relay.js';
import { signatureProblems } from './signatures.js';
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

/** The warnings that inhibit critical problems which only repeat them: another warning must not inhibit those. */
export const warningsHidingCritical: ReadonlySet<string> = new Set(
  problems
    .filter(({ severity, inhibits }) => severity === 'warning' && inhibits.some(inhibitsCritical))
    .map(({ name }) => name),
);

function inhibitsCritical({ problem, severity = 'critical' }: Inhibition): boolean {
  return severity === 'critical' && problems.some((other) => other.name === problem && other.severity === 'critical');
}

/** The possible keys in `problems` of the configuration. */
export const problemNames: ReadonlySet<string> = new Set(problems.map(({ name }) => name));

/** Whether a problem begins over or near a limit, by its name. */
export const beginningAtLimit: ReadonlyMap<string, 'over' | 'near'> = new Map(
  problems.flatMap(({ name, beginsAtLimit }) => (beginsAtLimit === false ? [] : [[name, beginsAtLimit] as const])),
);
