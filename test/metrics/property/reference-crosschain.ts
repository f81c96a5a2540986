import {
  add,
  chainId,
  compare,
  divide,
  equal,
  field,
  floor,
  highest,
  integer,
  isGreater,
  isMissing,
  isObject,
  list,
  lowest,
  multiply,
  number,
  string,
  subtract,
  Withdrawn,
  zero,
  type Rational,
  type SeriesCollector,
} from './exact.js';

export interface CrosschainReferenceOptions {
  readonly window?: string;
  readonly rate?: string;
  readonly hubChainIds?: readonly string[];
  readonly chains?: Readonly<Record<string, string>>;
}

const statuses = new Map([
  [0, 'PendingInbound'],
  [1, 'PendingOutbound'],
  [3, 'OutboundMined'],
  [4, 'PendingRevert'],
  [5, 'Reverted'],
  [6, 'Aborted'],
]);
const coinTypes = new Map([
  [0, 'Native'],
  [1, 'Gas'],
  [2, 'ERC20'],
  [3, 'Cmd'],
  [4, 'NoAssetCall'],
]);

/** The label value of an enum: empty if missing, `other` if unknown. */
function enumLabel(values: ReadonlyMap<number, string>, json: unknown): string {
  if (isMissing(json)) return '';
  if (typeof json === 'number') return values.get(json) ?? 'other';
  return [...values.values()].find((value) => value === string(json)) ?? 'other';
}

/** Rejects a missing value. */
function required<T>(read: (json: unknown) => T): (json: unknown) => T {
  return (json) => {
    if (isMissing(json)) throw new Withdrawn('missing');
    return read(json);
  };
}

type Labels = Readonly<Record<string, string>>;

function countByLabels(labels: readonly Labels[]): readonly (readonly [Labels, Rational])[] {
  const keys = labels.map((labelSet) => JSON.stringify(labelSet));
  return labels.flatMap((labelSet, index) =>
    keys.indexOf(keys[index] ?? '') === index
      ? [[labelSet, integer(keys.filter((key) => key === keys[index]).length)]]
      : [],
  );
}

export function referenceBreakdown(document: unknown, options: CrosschainReferenceOptions, out: SeriesCollector): void {
  const { hubChainIds, chains = {} } = options;
  /** The rows of a list without repeated indexes. */
  const rowsOf = (name: string): readonly unknown[] => {
    const rows = list(field(document, name)).map((row) => [string(field(row, 'index')), row] as const);
    return rows
      .filter(([index], position) => rows.findIndex(([other]) => other === index) === position)
      .map(([, row]) => row);
  };
  const missed = (): readonly unknown[] => rowsOf('cctxs_missed');
  const pending = (): readonly unknown[] => rowsOf('cctxs_pending');
  const current = (cctx: unknown): unknown => list(field(cctx, 'outbound_params')).at(-1);
  /** The current outbound for labels, which are empty if the list is missing. */
  const currentForLabels = (cctx: unknown): unknown =>
    isMissing(field(cctx, 'outbound_params')) ? undefined : current(cctx);
  const chain = (cctx: unknown): Labels => {
    const id = chainId(field(currentForLabels(cctx), 'receiver_chainId'));
    return { chain_id: id, chain: Object.hasOwn(chains, id) ? (chains[id] ?? '') : '' };
  };
  const direction = (cctx: unknown): string => {
    if (hubChainIds === undefined) return 'unknown';
    const sender = field(cctx, 'inbound_params', 'sender_chain_id');
    if (isMissing(sender)) return '';
    return hubChainIds.includes(chainId(sender)) ? 'outgoing' : 'incoming';
  };
  const byChain = (
    rows: readonly unknown[],
    value: (cctx: unknown) => Rational | undefined,
    pick: (values: readonly Rational[]) => Rational | undefined,
  ): readonly (readonly [Labels, Rational])[] => {
    const found = rows.flatMap((cctx) => {
      const labels = chain(cctx);
      const result = value(cctx);
      return result === undefined ? [] : [{ labels, result }];
    });
    return countByLabels(found.map(({ labels }) => labels)).flatMap(([labels]) => {
      const ofChain = found
        .filter((entry) => entry.labels['chain_id'] === labels['chain_id'])
        .map(({ result }) => result);
      const picked = pick(ofChain);
      return picked === undefined ? [] : [[labels, picked]];
    });
  };

  for (const [name, rows] of Object.entries({ missed, pending })) {
    out.labeledGauge('crosschain_cctxs', () =>
      countByLabels(
        rows().map((cctx) => {
          const { chain_id, chain: chainName } = chain(cctx);
          return {
            list: name,
            status: enumLabel(statuses, field(cctx, 'cctx_status', 'status')),
            coin_type: enumLabel(coinTypes, field(currentForLabels(cctx), 'coin_type')),
            chain_id: chain_id ?? '',
            chain: chainName ?? '',
            direction: direction(cctx),
          };
        }),
      ),
    );
    const ofList = (series: readonly (readonly [Labels, Rational])[]): readonly (readonly [Labels, Rational])[] =>
      series.map(([labels, value]) => [{ list: name, ...labels }, value]);
    out.labeledGauge('crosschain_oldest_cctx_created_timestamp_seconds', () =>
      ofList(
        byChain(
          rows(),
          (cctx) => {
            const created = number(field(cctx, 'cctx_status', 'created_timestamp'));
            if (isGreater(created, zero)) return created;
            const updated = number(field(cctx, 'cctx_status', 'lastUpdate_timestamp'));
            return isGreater(updated, zero) ? updated : undefined;
          },
          lowest,
        ),
      ),
    );
    out.labeledGauge('crosschain_cctxs_without_hash', () =>
      ofList(
        byChain(
          rows(),
          (cctx) => {
            const outbound = current(cctx);
            if (list(field(cctx, 'outbound_params')).length === 0) return zero;
            return integer(string(field(outbound, 'hash')) === '' ? 1 : 0);
          },
          (values) => values.reduce(add, zero),
        ),
      ),
    );
  }
  const withOutbound = (): readonly unknown[] =>
    pending().filter((cctx) => list(field(cctx, 'outbound_params')).length > 0);
  out.labeledGauge('crosschain_lowest_pending_nonce', () =>
    byChain(withOutbound(), (cctx) => number(field(current(cctx), 'tss_nonce')), lowest),
  );
  out.gauge('crosschain_largest_pending_native_amount', () => {
    const coinType = required((json) => enumLabel(coinTypes, json));
    const native = withOutbound().filter((cctx) => coinType(field(current(cctx), 'coin_type')) === 'Native');
    return highest(native.map((cctx) => number(field(current(cctx), 'amount'))));
  });
}

export function referenceTotals(document: unknown, out: SeriesCollector): void {
  const scalar = (name: string): Rational => number(field(document, name));
  const length = (name: string): Rational => integer(list(field(document, name)).length);
  out.gauge('crosschain_height', () => scalar('height'));
  out.gauge('crosschain_total_pending', () => scalar('total_pending'));
  out.gauge('crosschain_past_cctxs_value', () => scalar('past_cctxs_value'));
  out.gauge('crosschain_pending_cctxs_value', () => scalar('pending_cctxs_value'));
  out.gauge('crosschain_lowest_pending_cctx_height', () => scalar('lowest_pending_cctx_height'));
  out.gauge('crosschain_cctxs_missed', () => length('cctxs_missed'));
  out.gauge('crosschain_cctxs_pending', () => length('cctxs_pending'));
  out.gauge('crosschain_cctxs_hidden', () => {
    const hidden = subtract(subtract(scalar('total_pending'), length('cctxs_missed')), length('cctxs_pending'));
    return isGreater(hidden, zero) ? hidden : zero;
  });
}

export function referenceRateLimit(
  document: unknown,
  { window = '500', rate }: CrosschainReferenceOptions,
  out: SeriesCollector,
): void {
  const scalar = (name: string): Rational => number(field(document, name));
  const blocks = (): Rational => {
    const [height, first] = [scalar('height'), scalar('lowest_pending_cctx_height')];
    const span = add(subtract(height, first), integer(1));
    return !equal(first, zero) && isGreater(span, number(window)) ? span : number(window);
  };
  const value = (): Rational => add(scalar('past_cctxs_value'), scalar('pending_cctxs_value'));
  out.gauge('crosschain_rate_limit_configured_window_blocks', () => number(window));
  out.gauge('crosschain_rate_limit_window_blocks', blocks);
  out.gauge('crosschain_withdraw_rate', () => {
    const perBlock = divide(value(), blocks());
    return perBlock && floor(perBlock);
  });
  if (rate === undefined) return;
  out.gauge('crosschain_rate_limit', () => number(rate));
  out.gauge('crosschain_rate_limit_utilization_ratio', () => divide(value(), multiply(number(rate), blocks())));
  out.gauge('crosschain_rate_limit_exceeded', () =>
    integer(compare(value(), multiply(number(rate), blocks())) > 0 ? 1 : 0),
  );
}

export function referenceCctxAnomalies(document: unknown, out: SeriesCollector): void {
  const rows = (): readonly unknown[] =>
    ['cctxs_missed', 'cctxs_pending'].flatMap((name) => list(field(document, name)));
  const anomaly = (name: string, value: () => number): void => {
    out.labeledGauge('crosschain_anomalies', () => [[{ kind: name }, integer(value())]]);
  };
  anomaly('duplicate_cctxs', () => {
    const indexes = rows().map((row) => string(field(row, 'index')));
    return indexes.length - new Set(indexes).size;
  });
  anomaly('lowest_above_height', () =>
    isGreater(number(field(document, 'lowest_pending_cctx_height')), number(field(document, 'height'))) ? 1 : 0,
  );
  anomaly('cctxs_without_outbound', () => {
    const lasts = rows().map((row) => list(field(row, 'outbound_params')).slice(-1));
    if (lasts.flat().some((last) => !isObject(last))) throw new Withdrawn('an outbound that is not an object');
    return lasts.filter((last) => last.length === 0).length;
  });
}
