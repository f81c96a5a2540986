import type { Instant } from '../clock.js';
import { callsOf, isBackingDue, requestOf } from '../queries/contract-calls.js';
import { denomOf, type ContractExchange } from '../queries/contract-document.js';
import { formatRequests } from '../queries/json-rpc.js';
import { asDecimalString } from '../chain/numeral.js';
import type { ContractFacts } from '../facts/contract/facts.js';
import type { ContractReading, HubReading } from '../facts/contract/reading.js';
import type { ReceivedBody } from '../poll/poll.js';
import { executeQuery } from '../simulator/query-service.js';
import type { RpcChanges } from '../simulator/json-rpc.js';
import type { Model } from '../simulator/model.js';

/** What differs from the simulated chains: what the node of the external chain says, and the supply on the hub. */
export interface ContractChanges extends RpcChanges {
  readonly supply?: (supply: bigint) => bigint;
}

/** The response to a poll of the contract of a simulated chain, without a network. The ABI library has to be loaded. */
export function simulatedContractBody(
  previous: ContractReading | undefined,
  facts: ContractFacts,
  model: Model,
  at: Instant,
  changes: ContractChanges = {},
): Omit<ReceivedBody<'external_contract'>, 'ok'> {
  const { body: bytes, exchange } = askSimulatedContract(previous, facts, model, at, changes);
  return { bytes, source: 'external chain', height: undefined, at, sideInput: { previous, exchange } };
}

/** The calls of a poll, and the answers of the simulated chains. */
export function askSimulatedContract(
  previous: ContractReading | undefined,
  facts: ContractFacts,
  model: Model,
  at: Instant,
  changes: ContractChanges = {},
): { readonly body: Buffer; readonly exchange: ContractExchange } {
  const lagBlocks = Math.floor((changes.lagSeconds ?? 0) / 12);
  const block = `0x${(model.external.height - lagBlocks).toString(16)}`;
  const calls = callsOf(facts, previous, block, at);
  const rpc = formatRequests(calls.map(requestOf));
  const query = { endpoint: 'external_contract', parameters: new URLSearchParams(), rpc } as const;
  const { body } = executeQuery(model, query, changes);
  const denoms = isBackingDue(facts, previous, at) ? facts.backing.map(({ contract }) => denomOf(contract)) : [];
  return { body, exchange: { calls, facts, hub: hubReading(denoms, facts, model, changes) } };
}

function hubReading(
  denoms: readonly string[],
  { height }: ContractFacts,
  model: Model,
  { supply: change = (supply) => supply }: ContractChanges,
): HubReading {
  const supplies = model.supplies(Number(height));
  return {
    blockSeconds: model.node.timeMs / 1000,
    supplies: new Map(
      denoms.map((denom) => {
        const supply = supplies?.get(denom.toLowerCase());
        return [denom, supply === undefined ? undefined : asDecimalString(String(change(supply)))];
      }),
    ),
  };
}
