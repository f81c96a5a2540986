import type { Subject } from './problem.js';

/*
 * Parts of summaries, which are templates of Prometheus. The text of a query without a series is left out. In an expression, TARGET stands for the
 * matchers of the target and SUBJECT for the value of a label of the alert.
 */

export function queried(expression: string, text: string, subject?: keyof Subject | 'document'): string {
  const format = expression.replaceAll('TARGET', 'target=%[1]q,cluster=%[2]q').replaceAll('SUBJECT', '%[3]q');
  const subjectValue = subject === undefined ? '' : ` $labels.${subject}`;
  return `{{ range query (printf "${format}" $labels.target $labels.cluster${subjectValue}) }}${text}{{ end }}`;
}

export function countAtPresent(things: string, expression: string, subject?: keyof Subject | 'document'): string {
  return queried(expression, `{{ .Value | printf "%.0f" }} ${things} at present, `, subject);
}

const TOKEN_SYMBOL = queried(
  'topk(1, bridge_token_info{TARGET,token_contract=SUBJECT})',
  '{{ .Labels.symbol }} ',
  'token_contract',
);
export const THE_TOKEN = `${TOKEN_SYMBOL}{{ $labels.token_contract }}`;

const CHAIN_NAME = queried(
  'topk(1, crosschain_age_limit_seconds{TARGET,chain_id=SUBJECT})',
  '{{ with .Labels.chain }} ({{ . }}){{ end }}',
  'chain_id',
);
export const THE_CHAIN = `chain {{ $labels.chain_id }}${CHAIN_NAME}`;

const VALIDATOR_NAME = queried(
  'topk(1, bridge_orchestrator_info{TARGET,orchestrator=SUBJECT} or bridge_watched_orchestrator_info{TARGET,orchestrator=SUBJECT})',
  '{{ with .Labels.name }}{{ . }} {{ end }}',
  'orchestrator',
);
export const YOUR_VALIDATOR = `your validator ${VALIDATOR_NAME}{{ $labels.orchestrator }}`;
