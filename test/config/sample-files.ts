/** A configuration file of one target with an additional line of its endpoint. */
export const withBridge = (lines: string) =>
  `targets:\n  - name: a\n    bridge:\n      url: https://a.example\n      ${lines}`;
export const withCrosschain = (lines: string) =>
  `targets:\n  - name: a\n    crosschain:\n      url: https://a.example\n      ${lines}`;
export const withUrl = (url: string) => `targets:\n  - name: a\n    bridge: {url: ${url}}`;
export const withTopLevel = (lines: string) => `${withUrl('https://a.example')}\n${lines}`;
export const withName = (name: string) => `targets:\n  - bridge: {url: "https://a.example"}\n    name: ${name}`;
