import type { Instant } from '../clock.js';
import { callsOf, denomOf, isBackingDue, requestOf, type ContractExchange } from '../queries/contract-document.js';
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

/** The response to a poll of the contract of a simulated chain, without a network. */
export function simulatedContractBody(
  lastReading: ContractReading | undefined,
  facts: ContractFacts,
  model: Model,
  at: Instant,
  changes: ContractChanges = {},
): Omit<ReceivedBody, 'ok'> {
  const { body: bytes, exchange } = askSimulatedContract(lastReading, facts, model, at, changes);
  return { bytes, source: 'external chain', height: undefined, at, sideInput: exchange };
}

/** The calls of a poll, and the answers of the simulated chains. */
export function askSimulatedContract(
  lastReading: ContractReading | undefined,
  facts: ContractFacts,
  model: Model,
  at: Instant,
  changes: ContractChanges = {},
): { readonly body: Buffer; readonly exchange: ContractExchange } {
  const lagBlocks = Math.floor((changes.lagSeconds ?? 0) / 12);
  const block = `0x${(model.external.height - lagBlocks).toString(16)}`;
  const known = { facts, lastReading };
  const calls = callsOf(known, block, at);
  const rpc = formatRequests(calls.map(requestOf));
  const query = { endpoint: 'external_contract', parameters: new URLSearchParams(), rpc } as const;
  const { body } = executeQuery(model, query, changes);
  const denoms = isBackingDue(known, at) ? facts.backing.map(({ contract }) => denomOf(contract)) : [];
  return { body, exchange: { ...known, calls, hub: hubReading(denoms, facts, model, changes) } };
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
      denoms.flatMap((denom) => {
        const supply = supplies?.get(denom.toLowerCase());
        return supply === undefined ? [] : [[denom, asDecimalString(String(change(supply)))] as const];
      }),
    ),
  };
}
