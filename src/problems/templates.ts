import type { Subject } from './problem.js';

/*
 * Parts of summaries, which are templates of Prometheus. What is queried is left out without a series. In an expression, %[1]q is the target and %[2]q
 * the subject.
 */

export function queried(expression: string, text: string, subject?: keyof Subject | 'document'): string {
  const parameters = subject === undefined ? '$labels.target' : `$labels.target $labels.${subject}`;
  return `{{ range query (printf "${expression}" ${parameters}) }}${text}{{ end }}`;
}

/** How many there are, by an expression with %[1]q for the target. */
export function countAtPresent(expression: string, subject?: keyof Subject | 'document'): string {
  return queried(expression, '{{ .Value | printf "%.0f" }} at present, ', subject);
}

const TOKEN_SYMBOL = queried(
  'topk(1, bridge_token_info{target=%[1]q,token_contract=%[2]q})',
  '{{ .Labels.symbol }} ',
  'token_contract',
);
export const THE_TOKEN = `${TOKEN_SYMBOL}{{ $labels.token_contract }}`;

const CHAIN_NAME = queried(
  'topk(1, crosschain_age_limit_seconds{target=%[1]q,chain_id=%[2]q})',
  '{{ with .Labels.chain }} ({{ . }}){{ end }}',
  'chain_id',
);
export const THE_CHAIN = `chain {{ $labels.chain_id }}${CHAIN_NAME}`;

const VALIDATOR_NAME = queried(
  'topk(1, bridge_orchestrator_info{target=%[1]q,orchestrator=%[2]q} or bridge_watched_orchestrator_info{target=%[1]q,orchestrator=%[2]q})',
  '{{ with .Labels.name }}{{ . }} {{ end }}',
  'orchestrator',
);
export const YOUR_VALIDATOR = `your validator ${VALIDATOR_NAME}{{ $labels.orchestrator }}`;
