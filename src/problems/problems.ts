import type { ProblemLimits } from '../config/config.js';
import { documentNames } from '../document-types.js';
import { groupBy } from '../facts/grouping.js';
import { formatDuration, MINUTE_MS } from '../units.js';
import { contractProblems } from './contract-problems.js';
import { crosschainProblems } from './crosschain-problems.js';
import { nodeProblems } from './node.js';
import { oracleProblems } from './oracle-problems.js';
import { paramsProblems } from './params.js';
import { pollProblems } from './polls.js';
import type { NamedProblem, Problem } from './problem.js';
import { queueProblems } from './queue.js';
import { relayProblems } from './relay.js';
import { signatureProblems } from './signature-problems.js';
import { validatorProblems } from './late-validators.js';
import { watchedProblems } from './watched.js';

/** The problems with the dashboard of their alerts, unless they declare another one. */
function onDashboard<Alert extends string>(dashboard: string, list: readonly NamedProblem<Alert>[]) {
  return list.map((problem) => ({ dashboard, ...problem }));
}

/** All problems, causes before their consequences: the order of equal severities on the pages. */
const declared = [
  ...onDashboard('bridge-exporter', nodeProblems),
  ...onDashboard('bridge-overview', contractProblems),
  ...onDashboard('bridge-validator', [...oracleProblems, ...signatureProblems]),
  ...onDashboard('bridge-overview', [...relayProblems, ...queueProblems]),
  ...onDashboard('bridge-validator', [...validatorProblems, ...watchedProblems]),
  ...onDashboard('bridge-overview', paramsProblems),
  ...onDashboard('bridge-cross-chain', crosschainProblems),
];
export const problems: readonly (Problem & { readonly dashboard: string })[] = declared;

export type ProblemName = (typeof declared)[number]['name'];

/** What `problems` of the configuration can set. */
export const problemLimits: ProblemLimits = new Map(
  Array.from(
    groupBy(
      [...pollProblems.flatMap((problem) => documentNames.map((document) => ({ ...problem, document }))), ...problems],
      ({ name }) => name,
    ),
    ([name, own]) => [
      name,
      own.map(({ severity, document, afterMinutes }) => ({
        severity,
        document,
        after: formatDuration(afterMinutes * MINUTE_MS),
      })),
    ],
  ),
);
