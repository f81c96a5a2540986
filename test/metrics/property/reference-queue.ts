import {
  address,
  compare,
  field,
  isMissing,
  list,
  lowest,
  minus,
  number,
  optionalText,
  over,
  plus,
  readable,
  roundDown,
  times,
  whole,
  type Collected,
  type Exact,
} from './exact.js';
import { lastObserved } from './reference-orchestrators.js';

type Json = unknown;

export function referenceBatches(state: Json, height: Exact | undefined, out: Collected): void {
  const batches = (): readonly Json[] => list(field(state, 'batches'));
  const timeouts = (): readonly Exact[] => batches().map((batch) => number(field(batch, 'batch_timeout')));
  const observedHeight = (): Exact => number(field(state, 'last_observed_external_height'));

  const projected = (): Exact | undefined => {
    const first = lowest(lastObserved(state).map((attestation) => number(field(attestation, 'height'))));
    const milliseconds = number(field(state, 'params', 'average_block_time'));
    const external = number(field(state, 'params', 'average_external_block_time'));
    const since = observedHeight();
    if (height === undefined || first === undefined) return undefined;
    const passed = over(times(minus(height, first), milliseconds), external);
    return passed && roundDown(plus(since, passed));
  };

  out.single('bridge_batch_oldest_height', () => lowest(batches().map((batch) => number(field(batch, 'block')))));
  out.single('bridge_batch_next_timeout_height', () => lowest(timeouts()));
  out.single('bridge_batches_expired', () => {
    const now = observedHeight();
    return whole(timeouts().filter((timeout) => compare(timeout, now) < 0).length);
  });
  out.single('bridge_external_height_projected', projected);
  out.single('bridge_batches_overdue', () => {
    const [now, then] = [observedHeight(), projected()];
    if (then === undefined) return undefined;
    return whole(timeouts().filter((timeout) => compare(timeout, then) <= 0 && compare(timeout, now) >= 0).length);
  });
}

type Amounts = ReadonlyMap<string, Exact>;

function addUp(rows: readonly (readonly [string, Exact])[]): Amounts {
  const totals = new Map<string, Exact>();
  for (const [contract, amount] of rows) totals.set(contract, plus(totals.get(contract) ?? whole(0), amount));
  return totals;
}

export function referenceTokens(
  state: Json,
  tokens: readonly { readonly contract: string; readonly symbol?: string; readonly decimals?: number }[],
  out: Collected,
): void {
  const lists = {
    unbatched: () => list(field(state, 'unbatched_transfers')),
    batched: () => list(field(state, 'batches')).flatMap((batch) => list(field(batch, 'transactions'))),
  };
  const contractsIn = (transfers: () => readonly Json[], coin: string): readonly string[] =>
    readable(() => transfers().map((transfer) => address(field(transfer, coin, 'contract')))) ?? [];

  /** Contract → denom: of several the first, and erc20_to_denoms before the hub coin. */
  const denoms = (): ReadonlyMap<string, string> => {
    const named = new Map<string, string>();
    // A row, or a hub coin, without a contract names none.
    const name = (erc20: Json, denom: Json): void => {
      const contract = optionalText(erc20)?.toLowerCase() ?? '';
      if (contract !== '' && !named.has(contract)) named.set(contract, optionalText(denom) ?? '');
    };
    const mapping = field(state, 'erc20_to_denoms');
    for (const row of isMissing(mapping) ? [] : list(mapping)) name(field(row, 'erc20'), field(row, 'denom'));
    const params = field(state, 'params');
    name(field(params, 'hub_coin_erc20_contract'), field(params, 'hub_coin_denom'));
    return named;
  };
  const perToken = (name: string, totals: () => Amounts): void => {
    out.labelled(name, () => {
      const [named, own] = [denoms(), totals()];
      const elsewhere = Object.values(lists).flatMap((transfers) => [
        ...contractsIn(transfers, 'erc20_token'),
        ...contractsIn(transfers, 'erc20_fee'),
      ]);
      return [...new Set([...named.keys(), ...own.keys(), ...elsewhere])].map((contract) => [
        { token_contract: contract, denom: named.get(contract) ?? '' },
        own.get(contract) ?? whole(0),
      ]);
    });
  };

  type Total = (transfers: () => readonly Json[]) => Amounts;
  const counted: Total = (transfers) =>
    addUp(transfers().map((transfer) => [address(field(transfer, 'erc20_token', 'contract')), whole(1)]));
  const added =
    (coin: string): Total =>
    (transfers) =>
      addUp(
        transfers().map((transfer) => [
          address(field(transfer, coin, 'contract')),
          number(field(transfer, coin, 'amount')),
        ]),
      );
  perToken('bridge_token_unbatched_transfers', () => counted(lists.unbatched));
  perToken('bridge_token_unbatched_amount', () => added('erc20_token')(lists.unbatched));
  perToken('bridge_token_unbatched_fees', () => added('erc20_fee')(lists.unbatched));
  perToken('bridge_token_batched_transfers', () => counted(lists.batched));
  perToken('bridge_token_batched_amount', () => added('erc20_token')(lists.batched));
  perToken('bridge_token_batched_fees', () => added('erc20_fee')(lists.batched));

  out.single('bridge_oldest_pending_transfer_id', () =>
    lowest([...lists.unbatched(), ...lists.batched()].map((transfer) => number(field(transfer, 'id')))),
  );
  out.labelled('bridge_token_info', () =>
    tokens.flatMap(({ contract, symbol }) =>
      symbol === undefined ? [] : [[{ token_contract: contract, symbol }, whole(1)]],
    ),
  );
  out.labelled('bridge_token_decimals', () =>
    tokens.flatMap(({ contract, decimals }) =>
      decimals === undefined ? [] : [[{ token_contract: contract }, whole(decimals)]],
    ),
  );
}
