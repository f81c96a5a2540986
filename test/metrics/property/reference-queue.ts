import {
  add,
  address,
  compare,
  decimal,
  equal,
  field,
  integer,
  isMissing,
  list,
  lowest,
  highest,
  number,
  optionalString,
  orUndefined,
  sum,
  Withdrawn,
  type Rational,
  type SeriesCollector,
} from './exact.js';
import { batchSigners, contractValset, signedRatio, totalPower } from './reference-signing.js';
import { heightHistory, projectedHeight, type TimeOptions } from './reference-times.js';

export interface TokenReference {
  readonly contract: string;
  readonly symbol?: string;
  readonly decimals?: number;
  readonly minBatchFee?: string;
}

export function referenceBatches(
  state: unknown,
  {
    height,
    threshold,
    tokens,
    times,
  }: {
    readonly height: Rational | undefined;
    readonly threshold: Rational;
    readonly tokens: readonly TokenReference[];
    readonly times: TimeOptions;
  },
  out: SeriesCollector,
): void {
  const batches = (): readonly unknown[] => list(field(state, 'batches'));
  const timeouts = (): readonly Rational[] => batches().map((batch) => number(field(batch, 'batch_timeout')));
  const observedHeight = (): Rational => number(field(state, 'last_observed_external_height'));
  const estimatedHeight = () => projectedHeight(state, height, times);
  const blocksOf = (rows: readonly unknown[]): Rational | undefined =>
    lowest(rows.map((batch) => number(field(batch, 'block'))));

  /** The batches with their signed share, which is missing without power in the contract. */
  const signedBatches = () => {
    list(field(state, 'batch_confirms'));
    const valset = contractValset(state);
    const all = batches();
    if (all.length === 0) return [];
    const total = valset === undefined ? undefined : totalPower(valset);
    const hasPower = total !== undefined && total.numerator !== 0n;
    return all.map((batch) => ({
      batch,
      share: () => {
        const signers = batchSigners(state)(batch);
        return hasPower ? signedRatio(valset, signers) : undefined;
      },
    }));
  };

  out.gauge('bridge_batch_oldest_height', () => blocksOf(batches()));
  out.gauge('bridge_oldest_unsigned_batch_height', () => {
    const unsigned = signedBatches().filter(({ share }) => {
      const signed = share();
      return signed !== undefined && compare(signed, threshold) < 0;
    });
    return blocksOf(unsigned.map(({ batch }) => batch));
  });

  /** `undefined` when no minimum is configured. */
  const reachesMinimum = (batch: unknown): boolean | undefined => {
    if (!tokens.some(({ minBatchFee }) => minBatchFee !== undefined)) return undefined;
    const token = address(field(batch, 'token_contract'));
    const minimum = tokens.find(({ contract }) => contract === token)?.minBatchFee;
    if (minimum === undefined) return undefined;
    const own = list(field(batch, 'transactions')).filter(
      (transfer) => address(field(transfer, 'erc20_fee', 'contract')) === token,
    );
    const fees = sum(own.map((transfer) => number(field(transfer, 'erc20_fee', 'amount'))));
    return compare(fees, decimal(minimum)) >= 0;
  };
  const relayable = (): readonly unknown[] | undefined => {
    const all = signedBatches();
    if (all.length === 0) return [];
    const valset = contractValset(state);
    if (valset === undefined || totalPower(valset).numerator === 0n) return undefined;
    const estimated = orUndefined(estimatedHeight);
    return all
      .filter(({ batch, share }) => {
        const conditions = new Set(
          [
            () => compare(share() ?? integer(0), threshold) >= 0,
            () => estimated === undefined || compare(number(field(batch, 'batch_timeout')), estimated) > 0,
            () => reachesMinimum(batch) ?? true,
          ].map((condition) => orUndefined(condition)),
        );
        if (conditions.has(false)) return false;
        if (conditions.has(undefined)) throw new Withdrawn('a condition of a batch');
        return true;
      })
      .map(({ batch }) => batch);
  };
  out.gauge('bridge_relayable_batches', () => {
    const found = relayable();
    return found && integer(found.length);
  });
  out.gauge('bridge_oldest_relayable_batch_height', () => blocksOf(relayable() ?? []));

  out.gauge('bridge_relayable_batch_next_timeout_height', () =>
    lowest((relayable() ?? []).map((batch) => number(field(batch, 'batch_timeout')))),
  );
  out.labeledGauge('bridge_overdue_batches', () => {
    const estimated = estimatedHeight();
    if (estimated === undefined) return [];
    const feesOf = (batch: unknown): string => {
      const reaches = reachesMinimum(batch);
      if (reaches === undefined) return 'unknown';
      const signed = signedBatches()
        .find((own) => own.batch === batch)
        ?.share();
      if (!reaches) return 'insufficient';
      return signed !== undefined && compare(signed, threshold) >= 0 ? 'sufficient' : 'unknown';
    };
    const fees = batches().flatMap((batch) => {
      const kind = feesOf(batch);
      const timeout = number(field(batch, 'batch_timeout'));
      return compare(timeout, estimated) <= 0 && compare(timeout, observedHeight()) >= 0 ? [kind] : [];
    });
    return ['sufficient', 'insufficient', 'unknown'].map((kind) => [
      { fees: kind },
      integer(fees.filter((own) => own === kind).length),
    ]);
  });

  out.gauge('bridge_batch_next_timeout_height', () => {
    const estimated = orUndefined(estimatedHeight);
    return lowest(timeouts().filter((timeout) => estimated === undefined || compare(timeout, estimated) > 0));
  });
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
  tokens: readonly TokenReference[],
  { times, backlogLimit }: { readonly times: TimeOptions; readonly backlogLimit: number },
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

  const withDenom = (values: ReadonlyMap<string, Rational>) => {
    const denomByContract = denoms();
    return [...values].map(
      ([contract, value]) => [{ token_contract: contract, denom: denomByContract.get(contract) ?? '' }, value] as const,
    );
  };
  /** One value per token with unbatched transfers. */
  const perUnbatched = (name: string, valueOf: (transfers: readonly unknown[]) => Rational | undefined): void => {
    out.labeledGauge(name, () => {
      const transfers = lists
        .unbatched()
        .map((transfer) => [address(field(transfer, 'erc20_token', 'contract')), transfer] as const);
      const values = new Map<string, Rational>();
      for (const contract of new Set(transfers.map(([token]) => token))) {
        const value = valueOf(transfers.flatMap(([token, transfer]) => (token === contract ? [transfer] : [])));
        if (value !== undefined) values.set(contract, value);
      }
      return withDenom(values);
    });
  };
  const idOf = (transfer: unknown): Rational => number(field(transfer, 'id'));
  const feeOf = (transfer: unknown): Rational => number(field(transfer, 'erc20_fee', 'amount'));
  perUnbatched('bridge_token_oldest_unbatched_transfer_id', (transfers) => lowest(transfers.map(idOf)));
  perUnbatched('bridge_token_top_fee_transfer_id', (transfers) => {
    const top = highest(transfers.map(feeOf));
    return lowest(transfers.filter((transfer) => top !== undefined && equal(feeOf(transfer), top)).map(idOf));
  });
  perUnbatched('bridge_token_top_batch_fees', (transfers) =>
    sum(
      transfers
        .map(feeOf)
        .toSorted((a, b) => compare(b, a))
        .slice(0, 100),
    ),
  );
  out.labeledGauge('bridge_token_newest_batch_nonce', () => {
    const { rolledBack } = heightHistory(times.documents);
    const batchesIn = (document: unknown) =>
      list(field(document, 'batches')).map(
        (batch) => [address(field(batch, 'token_contract')), number(field(batch, 'batch_nonce'))] as const,
      );
    const current = batchesIn(state);
    const since = rolledBack.lastIndexOf(true);
    const relevant = times.documents.slice(Math.max(since, 0), -1);
    const all = [...relevant.flatMap((document) => orUndefined(() => batchesIn(document.state)) ?? []), ...current];
    const newest = new Map<string, Rational>();
    for (const [contract, nonce] of all) {
      const known = newest.get(contract);
      if (known === undefined || compare(nonce, known) > 0) newest.set(contract, nonce);
    }
    return withDenom(newest);
  });
  out.gauge('bridge_backlog_limit_transfers', () => integer(backlogLimit));
  out.labeledGauge('bridge_token_min_batch_fee', () =>
    tokens.flatMap(({ contract, minBatchFee }) =>
      minBatchFee === undefined ? [] : [[{ token_contract: contract }, decimal(minBatchFee)]],
    ),
  );
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
