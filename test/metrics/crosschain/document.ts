import { deriveCrosschain, type Values } from '../derive.js';

/*
 * Answers of the rate limiter that are small enough to reckon by hand. Only what matters to a test is in them.
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Row = Readonly<Record<string, Json>>;
export type About = Parameters<typeof deriveCrosschain>[1];

export function outbound(receiver_chainId: Json, more: Row = {}): Row {
  return { receiver_chainId, coin_type: 'Gas', amount: '0', tss_nonce: '0', hash: '0xabc', ...more };
}

/** An outgoing transaction of chain 7000 with these outbounds, the last of which counts. */
export function cctx(index: string, outbounds: readonly Json[], more: Row = {}): Row {
  return {
    index,
    cctx_status: status(),
    inbound_params: { sender_chain_id: '7000' },
    outbound_params: outbounds,
    ...more,
  };
}

export function status(more: Row = {}): Row {
  return { status: 'PendingOutbound', created_timestamp: '0', lastUpdate_timestamp: '0', ...more };
}

const empty: Row = {
  height: '100',
  cctxs_missed: [],
  cctxs_pending: [],
  total_pending: '0',
  past_cctxs_value: '0',
  pending_cctxs_value: '0',
  lowest_pending_cctx_height: '0',
};

export function answer(fields: Row): Row {
  return { ...empty, ...fields };
}

export function without(row: Row, name: string): Row {
  return Object.fromEntries(Object.entries(row).filter(([key]) => key !== name));
}

/** What a family says of an answer: its value, or `{labels: value}` where its series have labels; `undefined` for none. */
export function told(of: Row, name: string, about?: About): number | Values | undefined {
  return familyIn(deriveCrosschain(of, about).values, name);
}

/** The same for several families at once. */
export function toldOf(of: Row, names: readonly string[], about?: About): Record<string, number | Values | undefined> {
  const { values } = deriveCrosschain(of, about);
  return Object.fromEntries(names.map((name) => [name, familyIn(values, name)]));
}

function familyIn(values: Values, name: string): number | Values | undefined {
  const labelled = Object.entries(values).filter(([series]) => series.startsWith(`${name}{`));
  if (labelled.length === 0) return values[name];
  return Object.fromEntries(labelled.map(([series, value]) => [series.slice(name.length + 1, -1), value]));
}

/** Those of the families that say something of an answer. */
export function present(of: Row, names: readonly string[], about?: About): string[] {
  const found = toldOf(of, names, about);
  return names.filter((name) => found[name] !== undefined);
}
