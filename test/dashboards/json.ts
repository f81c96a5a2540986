import { format } from 'prettier';

/** The one form the dashboards are kept in: keys sorted, as prettier writes it. */
export async function canonical(value: unknown): Promise<string> {
  return format(JSON.stringify(sorted(value)), { parser: 'json', printWidth: 120 });
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
