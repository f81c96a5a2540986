import {
  add,
  address,
  compare,
  divide,
  field,
  floor,
  integer,
  isMissing,
  list,
  lowest,
  multiply,
  number,
  optionalString,
  orUndefined,
  subtract,
  type Rational,
  type SeriesCollector,
} from './exact.js';
import { lastObserved } from './reference-orchestrators.js';

export function referenceBatches(state: unknown, height: Rational | undefined, out: SeriesCollector): void {
  const batches = (): readonly unknown[] => list(field(state, 'batches'));
  const timeouts = (): readonly Rational[] => batches().map((batch) => number(field(batch, 'batch_timeout')));
  const observedHeight = (): Rational => number(field(state, 'last_observed_external_height'));

  const estimatedHeight = (): Rational | undefined => {
    const first = lowest(lastObserved(state).map((attestation) => number(field(attestation, 'height'))));
    const milliseconds = number(field(state, 'params', 'average_block_time'));
    const external = number(field(state, 'params', 'average_external_block_time'));
    const observed = observedHeight();
    if (height === undefined || first === undefined) return undefined;
    const elapsed = divide(multiply(subtract(height, first), milliseconds), external);
    return elapsed && floor(add(observed, elapsed));
  };

  out.gauge('bridge_batch_oldest_height', () => lowest(batches().map((batch) => number(field(batch, 'block')))));
  out.gauge('bridge_batch_next_timeout_height', () => lowest(timeouts()));
  out.gauge('bridge_batches_expired', () => {
    const observed = observedHeight();
    return integer(timeouts().filter((timeout) => compare(timeout, observed) < 0).length);
  });
  out.gauge('bridge_external_height_projected', estimatedHeight);
  out.gauge('bridge_batches_overdue', () => {
    const [observed, estimated] = [observedHeight(), estimatedHeight()];
    if (estimated === undefined) return undefined;
    return integer(
      timeouts().filter((timeout) => compare(timeout, estimated) <= 0 && compare(timeout, observed) >= 0).length,
    );
  });
}

type Amounts = ReadonlyMap<string, Rational>;

function sumByContract(rows: readonly (readonly [string, Rational])[]): Amounts {
  const totals = new Map<string, Rational>();
  for (const [contract, amount] of rows) totals.set(contract, add(totals.get(contract) ?? integer(0), amount));
  return totals;
}

export function referenceTokens(
  state: unknown,
  tokens: readonly { readonly contract: string; readonly symbol?: string; readonly decimals?: number }[],
  out: SeriesCollector,
): void {
  const lists = {
    unbatched: () => list(field(state, 'unbatched_transfers')),
    batched: () => list(field(state, 'batches')).flatMap((batch) => list(field(batch, 'transactions'))),
  };
  const contractsIn = (transfers: () => readonly unknown[], coin: string): readonly string[] =>
    orUndefined(() => transfers().map((transfer) => address(field(transfer, coin, 'contract')))) ?? [];

  /** Denom by contract. The first row of a contract applies, and erc20_to_denoms takes precedence over the hub coin. */
  const denoms = (): ReadonlyMap<string, string> => {
    const found = new Map<string, string>();
    // A denom without a contract is ignored.
    const setDenom = (erc20: unknown, denom: unknown): void => {
      const contract = optionalString(erc20)?.toLowerCase() ?? '';
      if (contract !== '' && !found.has(contract)) found.set(contract, optionalString(denom) ?? '');
    };
    const mapping = field(state, 'erc20_to_denoms');
    for (const row of isMissing(mapping) ? [] : list(mapping)) setDenom(field(row, 'erc20'), field(row, 'denom'));
    const params = field(state, 'params');
    setDenom(field(params, 'hub_coin_erc20_contract'), field(params, 'hub_coin_denom'));
    return found;
  };
  const perToken = (name: string, totals: () => Amounts): void => {
    out.labeledGauge(name, () => {
      const [denomByContract, totalByContract] = [denoms(), totals()];
      const inTransfers = Object.values(lists).flatMap((transfers) => [
        ...contractsIn(transfers, 'erc20_token'),
        ...contractsIn(transfers, 'erc20_fee'),
      ]);
      return [...new Set([...denomByContract.keys(), ...totalByContract.keys(), ...inTransfers])].map((contract) => [
        { token_contract: contract, denom: denomByContract.get(contract) ?? '' },
        totalByContract.get(contract) ?? integer(0),
      ]);
    });
  };

  type Total = (transfers: () => readonly unknown[]) => Amounts;
  const countTransfers: Total = (transfers) =>
    sumByContract(transfers().map((transfer) => [address(field(transfer, 'erc20_token', 'contract')), integer(1)]));
  const sumAmounts =
    (coin: string): Total =>
    (transfers) =>
      sumByContract(
        transfers().map((transfer) => [
          address(field(transfer, coin, 'contract')),
          number(field(transfer, coin, 'amount')),
        ]),
      );
  perToken('bridge_token_unbatched_transfers', () => countTransfers(lists.unbatched));
  perToken('bridge_token_unbatched_amount', () => sumAmounts('erc20_token')(lists.unbatched));
  perToken('bridge_token_unbatched_fees', () => sumAmounts('erc20_fee')(lists.unbatched));
  perToken('bridge_token_batched_transfers', () => countTransfers(lists.batched));
  perToken('bridge_token_batched_amount', () => sumAmounts('erc20_token')(lists.batched));
  perToken('bridge_token_batched_fees', () => sumAmounts('erc20_fee')(lists.batched));

  out.gauge('bridge_oldest_pending_transfer_id', () =>
    lowest([...lists.unbatched(), ...lists.batched()].map((transfer) => number(field(transfer, 'id')))),
  );
  out.labeledGauge('bridge_token_info', () =>
    tokens.flatMap(({ contract, symbol }) =>
      symbol === undefined ? [] : [[{ token_contract: contract, symbol }, integer(1)]],
    ),
  );
  out.labeledGauge('bridge_token_decimals', () =>
    tokens.flatMap(({ contract, decimals }) =>
      decimals === undefined ? [] : [[{ token_contract: contract }, integer(decimals)]],
    ),
  );
}
