import {
  above,
  chainId,
  compare,
  field,
  highest,
  isMissing,
  isObject,
  list,
  lowest,
  minus,
  number,
  over,
  plus,
  roundDown,
  same,
  text,
  times,
  whole,
  Withdrawn,
  zero,
  type Collected,
  type Exact,
} from './exact.js';

type Json = unknown;

export interface CrosschainAbout {
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

/** A missing value is the empty label; the enum value of a number, and `other` for what is not known. */
function named(values: ReadonlyMap<number, string>, json: Json): string {
  if (isMissing(json)) return '';
  if (typeof json === 'number') return values.get(json) ?? 'other';
  return [...values.values()].find((value) => value === text(json)) ?? 'other';
}

/** Needed for what it says, not for a label. */
function required<T>(read: (json: Json) => T): (json: Json) => T {
  return (json) => {
    if (isMissing(json)) throw new Withdrawn('missing');
    return read(json);
  };
}

type Labels = Readonly<Record<string, string>>;

function counted(labels: readonly Labels[]): readonly (readonly [Labels, Exact])[] {
  const texts = labels.map((one) => JSON.stringify(one));
  return labels.flatMap((one, at) =>
    texts.indexOf(texts[at] ?? '') === at ? [[one, whole(texts.filter((other) => other === texts[at]).length)]] : [],
  );
}

export function referenceBreakdown(document: Json, about: CrosschainAbout, out: Collected): void {
  const { hubChainIds, chains = {} } = about;
  const rowsOf = (name: string): readonly Json[] => {
    const rows = list(field(document, name)).map((row) => [text(field(row, 'index')), row] as const);
    return rows.filter(([index], at) => rows.findIndex(([other]) => other === index) === at).map(([, row]) => row);
  };
  const missed = (): readonly Json[] => rowsOf('cctxs_missed');
  const pending = (): readonly Json[] => rowsOf('cctxs_pending');
  const current = (cctx: Json): Json => list(field(cctx, 'outbound_params')).at(-1);
  /** The same for labels only, which a missing list empties. */
  const currentForLabels = (cctx: Json): Json =>
    isMissing(field(cctx, 'outbound_params')) ? undefined : current(cctx);
  const chain = (cctx: Json): Labels => {
    const id = chainId(field(currentForLabels(cctx), 'receiver_chainId'));
    return { chain_id: id, chain: Object.hasOwn(chains, id) ? (chains[id] ?? '') : '' };
  };
  const direction = (cctx: Json): string => {
    if (hubChainIds === undefined) return 'unknown';
    const sender = field(cctx, 'inbound_params', 'sender_chain_id');
    if (isMissing(sender)) return '';
    return hubChainIds.includes(chainId(sender)) ? 'outgoing' : 'incoming';
  };
  const byChain = (
    rows: readonly Json[],
    value: (cctx: Json) => Exact | undefined,
    pick: (values: readonly Exact[]) => Exact | undefined,
  ): readonly (readonly [Labels, Exact])[] => {
    const found = rows.flatMap((cctx) => {
      const labels = chain(cctx);
      const exact = value(cctx);
      return exact === undefined ? [] : [{ labels, exact }];
    });
    return counted(found.map(({ labels }) => labels)).flatMap(([labels]) => {
      const own = found.filter((one) => one.labels['chain_id'] === labels['chain_id']).map(({ exact }) => exact);
      const picked = pick(own);
      return picked === undefined ? [] : [[labels, picked]];
    });
  };

  for (const [name, rows] of Object.entries({ missed, pending })) {
    out.labelled('crosschain_cctxs', () =>
      counted(
        rows().map((cctx) => {
          const { chain_id, chain: chainName } = chain(cctx);
          return {
            list: name,
            status: named(statuses, field(cctx, 'cctx_status', 'status')),
            coin_type: named(coinTypes, field(currentForLabels(cctx), 'coin_type')),
            chain_id: chain_id ?? '',
            chain: chainName ?? '',
            direction: direction(cctx),
          };
        }),
      ),
    );
    const ofList = (series: readonly (readonly [Labels, Exact])[]): readonly (readonly [Labels, Exact])[] =>
      series.map(([labels, exact]) => [{ list: name, ...labels }, exact]);
    out.labelled('crosschain_oldest_cctx_created_timestamp_seconds', () =>
      ofList(
        byChain(
          rows(),
          (cctx) => {
            const created = number(field(cctx, 'cctx_status', 'created_timestamp'));
            if (above(created, zero)) return created;
            const updated = number(field(cctx, 'cctx_status', 'lastUpdate_timestamp'));
            return above(updated, zero) ? updated : undefined;
          },
          lowest,
        ),
      ),
    );
    out.labelled('crosschain_cctxs_without_hash', () =>
      ofList(
        byChain(
          rows(),
          (cctx) => {
            const outbound = current(cctx);
            if (list(field(cctx, 'outbound_params')).length === 0) return zero;
            return whole(text(field(outbound, 'hash')) === '' ? 1 : 0);
          },
          (values) => values.reduce(plus, zero),
        ),
      ),
    );
  }
  const withOutbound = (): readonly Json[] =>
    pending().filter((cctx) => list(field(cctx, 'outbound_params')).length > 0);
  out.labelled('crosschain_lowest_pending_nonce', () =>
    byChain(withOutbound(), (cctx) => number(field(current(cctx), 'tss_nonce')), lowest),
  );
  out.single('crosschain_largest_pending_native_amount', () => {
    const coinType = required((json) => named(coinTypes, json));
    const native = withOutbound().filter((cctx) => coinType(field(current(cctx), 'coin_type')) === 'Native');
    return highest(native.map((cctx) => number(field(current(cctx), 'amount'))));
  });
}

export function referenceTotals(document: Json, out: Collected): void {
  const scalar = (name: string): Exact => number(field(document, name));
  const length = (name: string): Exact => whole(list(field(document, name)).length);
  out.single('crosschain_height', () => scalar('height'));
  out.single('crosschain_total_pending', () => scalar('total_pending'));
  out.single('crosschain_past_cctxs_value', () => scalar('past_cctxs_value'));
  out.single('crosschain_pending_cctxs_value', () => scalar('pending_cctxs_value'));
  out.single('crosschain_lowest_pending_cctx_height', () => scalar('lowest_pending_cctx_height'));
  out.single('crosschain_cctxs_missed', () => length('cctxs_missed'));
  out.single('crosschain_cctxs_pending', () => length('cctxs_pending'));
  out.single('crosschain_cctxs_hidden', () => {
    const hidden = minus(minus(scalar('total_pending'), length('cctxs_missed')), length('cctxs_pending'));
    return above(hidden, zero) ? hidden : zero;
  });
}

export function referenceRateLimit(document: Json, { window, rate }: CrosschainAbout, out: Collected): void {
  if (window === undefined) return;
  const scalar = (name: string): Exact => number(field(document, name));
  const blocks = (): Exact => {
    const [height, first] = [scalar('height'), scalar('lowest_pending_cctx_height')];
    const span = plus(minus(height, first), whole(1));
    return !same(first, zero) && above(span, number(window)) ? span : number(window);
  };
  const value = (): Exact => plus(scalar('past_cctxs_value'), scalar('pending_cctxs_value'));
  out.single('crosschain_rate_limit_configured_window_blocks', () => number(window));
  out.single('crosschain_rate_limit_window_blocks', blocks);
  out.single('crosschain_withdraw_rate', () => {
    const perBlock = over(value(), blocks());
    return perBlock && roundDown(perBlock);
  });
  if (rate === undefined) return;
  out.single('crosschain_rate_limit', () => number(rate));
  out.single('crosschain_rate_limit_utilization_ratio', () => over(value(), times(number(rate), blocks())));
  out.single('crosschain_rate_limit_exceeded', () =>
    whole(compare(value(), times(number(rate), blocks())) > 0 ? 1 : 0),
  );
}

export function referenceCctxAnomalies(document: Json, out: Collected): void {
  const rows = (): readonly Json[] => ['cctxs_missed', 'cctxs_pending'].flatMap((name) => list(field(document, name)));
  const kind = (name: string, value: () => number): void => {
    out.labelled('crosschain_anomalies', () => [[{ kind: name }, whole(value())]]);
  };
  kind('duplicate_cctxs', () => {
    const indexes = rows().map((row) => text(field(row, 'index')));
    return indexes.length - new Set(indexes).size;
  });
  kind('lowest_above_height', () =>
    above(number(field(document, 'lowest_pending_cctx_height')), number(field(document, 'height'))) ? 1 : 0,
  );
  kind('cctxs_without_outbound', () => {
    const lasts = rows().map((row) => list(field(row, 'outbound_params')).slice(-1));
    // One that cannot be read is neither there nor not there.
    if (lasts.flat().some((last) => !isObject(last))) throw new Withdrawn('an outbound that is none');
    return lasts.filter((last) => last.length === 0).length;
  });
}
