import {
  add,
  chainId,
  compare,
  decimal,
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
  optionalNumber,
  optionalString,
  orUndefined,
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
  readonly ignore?: { readonly indexes: readonly string[]; readonly olderThanMs: number };
  readonly backlogLimit?: number;
  readonly ageLimitsMs?: Readonly<Record<string, number>>;
  readonly at?: { readonly epochSeconds: number };
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

/** The rows of a list without repeated indexes. */
function distinctRows(document: unknown, name: string): readonly unknown[] {
  const rows = list(field(document, name)).map((row) => [string(field(row, 'index')), row] as const);
  return rows
    .filter(([index], position) => rows.findIndex(([other]) => other === index) === position)
    .map(([, row]) => row);
}

const current = (cctx: unknown): unknown => list(field(cctx, 'outbound_params')).at(-1);

/** The current outbound for labels, which are empty if the list is missing. */
const currentForLabels = (cctx: unknown): unknown =>
  isMissing(field(cctx, 'outbound_params')) ? undefined : current(cctx);

const chainIdOf = (cctx: unknown): string => chainId(field(currentForLabels(cctx), 'receiver_chainId'));

function chainLabels(id: string, { chains = {} }: CrosschainReferenceOptions): Labels {
  return { chain_id: id, chain: Object.hasOwn(chains, id) ? (chains[id] ?? '') : '' };
}

/** Whether `ignore` leaves a transaction out of the breakdown. */
function isIgnored(cctx: unknown, { ignore, at }: CrosschainReferenceOptions): boolean {
  if (ignore === undefined) return false;
  if (ignore.indexes.includes(string(field(cctx, 'index')))) return true;
  if (ignore.olderThanMs === 0 || at === undefined) return false;
  const times = ['created_timestamp', 'lastUpdate_timestamp'];
  const read = (name: string): Rational => optionalNumber(field(cctx, 'cctx_status', name)) ?? zero;
  const known = times.find((name) => isGreater(read(name), zero));
  if (known === undefined) return false;
  return isGreater(subtract(integer(at.epochSeconds), read(known)), decimal((ignore.olderThanMs / 1000).toString()));
}

export function referenceBreakdown(document: unknown, options: CrosschainReferenceOptions, out: SeriesCollector): void {
  const { hubChainIds = ['7000', '7001'] } = options;
  const rowsOf = (name: string): readonly unknown[] =>
    distinctRows(document, name).filter((cctx) => !isIgnored(cctx, options));
  const missed = (): readonly unknown[] => rowsOf('cctxs_missed');
  const pending = (): readonly unknown[] => rowsOf('cctxs_pending');
  const chain = (cctx: unknown): Labels => chainLabels(chainIdOf(cctx), options);
  const direction = (cctx: unknown): string => {
    if (hubChainIds.length === 0) return 'unknown';
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
    out.labeledGauge('crosschain_cctxs_ignored', () => [
      [{ list: name }, integer(distinctRows(document, `cctxs_${name}`).length - rows().length)],
    ]);
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
  out.gauge('crosschain_largest_pending_native_amount', () => {
    const coinType = required((json) => enumLabel(coinTypes, json));
    const native = withOutbound().filter((cctx) => coinType(field(current(cctx), 'coin_type')) === 'Native');
    return highest(native.map((cctx) => number(field(current(cctx), 'amount'))));
  });
}

/** Nonces include those of ignored transactions. */
export function referenceNonces(document: unknown, options: CrosschainReferenceOptions, out: SeriesCollector): void {
  const nonces = (cctxs: readonly unknown[]): readonly Rational[] =>
    cctxs.flatMap((cctx) =>
      list(field(cctx, 'outbound_params')).length === 0 ? [] : [number(field(current(cctx), 'tss_nonce'))],
    );
  const pending = (): readonly unknown[] => distinctRows(document, 'cctxs_pending');
  const ofChain = (cctxs: readonly unknown[], id: string): readonly unknown[] =>
    cctxs.filter((cctx) => chainIdOf(cctx) === id);
  const byChain = (
    cctxs: readonly unknown[],
    value: (ofOne: readonly unknown[], id: string) => Rational | undefined,
  ): readonly (readonly [Labels, Rational])[] =>
    [...new Set(cctxs.map(chainIdOf))].flatMap((id) => {
      const result = value(ofChain(cctxs, id), id);
      return result === undefined ? [] : [[chainLabels(id, options), result]];
    });
  const missedOnly = (): readonly unknown[] => {
    const indexes = new Set(pending().map((cctx) => string(field(cctx, 'index'))));
    return distinctRows(document, 'cctxs_missed').filter((cctx) => !indexes.has(string(field(cctx, 'index'))));
  };

  out.labeledGauge('crosschain_lowest_pending_nonce', () => byChain(pending(), (cctxs) => lowest(nonces(cctxs))));
  out.labeledGauge('crosschain_highest_pending_nonce', () => byChain(pending(), (cctxs) => highest(nonces(cctxs))));
  out.labeledGauge('crosschain_lowest_missed_nonce', () =>
    byChain(missedOnly(), (cctxs, id) => {
      const first = lowest(nonces(ofChain(pending(), id)));
      const bound = first === undefined ? undefined : subtract(first, integer(1000));
      return lowest(nonces(cctxs).filter((nonce) => bound === undefined || !isGreater(bound, nonce)));
    }),
  );
}

/** A document and when it was received. */
export interface ReceivedDocument {
  readonly document: unknown;
  readonly at: { readonly epochSeconds: number };
}

/** The documents of an endpoint from the first to the last one, whose series are computed. */
export function referenceNonceChanges(
  received: readonly ReceivedDocument[],
  options: CrosschainReferenceOptions,
  out: SeriesCollector,
): void {
  const FAMILY = 'crosschain_lowest_pending_nonce_changed_timestamp_seconds';
  /** The lowest nonces of a complete list; `undefined` for a truncated one. */
  const lowestNonces = (document: unknown): ReadonlyMap<string, Rational> | undefined => {
    const total = number(field(document, 'total_pending'));
    const listed = list(field(document, 'cctxs_missed')).length + list(field(document, 'cctxs_pending')).length;
    if (isGreater(total, integer(listed))) return undefined;
    const collector = new Map<string, Rational>();
    for (const cctx of distinctRows(document, 'cctxs_pending')) {
      const id = chainIdOf(cctx);
      if (list(field(cctx, 'outbound_params')).length === 0) continue;
      const nonce = number(field(current(cctx), 'tss_nonce'));
      const known = collector.get(id);
      if (known === undefined || isGreater(known, nonce)) collector.set(id, nonce);
    }
    return collector;
  };
  out.labeledGauge(FAMILY, () => {
    const last = received.at(-1);
    if (last === undefined) return [];
    lowestNonces(last.document);
    const complete = received.flatMap(({ document, at }) => {
      const nonces = orUndefined(() => lowestNonces(document));
      return nonces === undefined ? [] : [{ nonces, at: integer(at.epochSeconds) }];
    });
    const backwards = complete.toReversed();
    return [...(backwards[0]?.nonces ?? [])].map(([id, nonce]) => {
      const end = backwards.findIndex(({ nonces }) => {
        const other = nonces.get(id);
        return other === undefined || !equal(other, nonce);
      });
      const first = backwards.at(end < 0 ? -1 : end - 1);
      return [chainLabels(id, options), first?.at ?? zero];
    });
  });
}

const AGE_LIMITS_MS: Readonly<Record<string, number>> = { default: 1_800_000, '8332': 7_200_000 };

export function referenceLimits(document: unknown, options: CrosschainReferenceOptions, out: SeriesCollector): void {
  const { ageLimitsMs = {}, backlogLimit = 1000 } = options;
  const outbounds = (): readonly unknown[] =>
    ['cctxs_missed', 'cctxs_pending']
      .flatMap((name) => distinctRows(document, name))
      .filter((cctx) => !isIgnored(cctx, options))
      .map(currentForLabels)
      .filter((outbound) => !isMissing(outbound));
  const limitOf = (id: string): number =>
    [ageLimitsMs[id], AGE_LIMITS_MS[id], ageLimitsMs['default'], AGE_LIMITS_MS['default']].find(Number.isInteger) ?? 0;
  out.gauge('crosschain_backlog_limit_cctxs', () => integer(backlogLimit));
  out.labeledGauge('crosschain_age_limit_seconds', () =>
    [...new Set(outbounds().map((outbound) => chainId(field(outbound, 'receiver_chainId'))))].map((id) => [
      chainLabels(id, options),
      decimal((limitOf(id) / 1000).toString()),
    ]),
  );
  out.labeledGauge('crosschain_tss_info', () => {
    const keys = outbounds().map((outbound) => optionalString(field(outbound, 'tss_pubkey')) ?? '');
    return [...new Set(keys)].filter((key) => key !== '').map((key) => [{ tss_pubkey: key }, integer(1)]);
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
