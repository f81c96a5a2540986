/** A configuration file of one target with an additional line of its endpoint. */
export const withBridge = (lines: string) =>
  `targets:\n  - name: a\n    bridge:\n      url: https://a.example\n      ${lines}`;
export const withCrosschain = (lines: string) =>
  `targets:\n  - name: a\n    crosschain:\n      url: https://a.example\n      ${lines}`;
export const withUrl = (url: string) => `targets:\n  - name: a\n    bridge: {url: ${url}}`;
export const withTopLevel = (lines: string) => `${withUrl('https://a.example')}\n${lines}`;
export const withLabels = (labels: string) =>
  `targets:\n  - name: a\n    labels: ${labels}\n    bridge: {url: "https://a.example"}`;
export const withName = (name: string) => `targets:\n  - bridge: {url: "https://a.example"}\n    name: ${name}`;

/** The result with problems and warnings that have a line but no column, for tables of problems in which the column says nothing. */
export function withoutColumns<Result extends object>(result: Result): Result {
  const shorten = (problem: unknown) =>
    typeof problem === 'string' ? problem.replace(/^([^ ]+:\d+):\d+: /, '$1: ') : problem;
  const entries = Object.entries(result).map(([key, value]: [string, unknown]) => [
    key,
    Array.isArray(value) ? value.map(shorten) : value,
  ]);
  return Object.fromEntries(entries) as Result;
}
