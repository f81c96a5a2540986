import { capped, type PositionLabel, formatPath } from './problems.js';
import { parseDocument, type YamlProblem } from './yaml-source.js';

export type YamlFile =
  | { readonly ok: true; readonly data: unknown; readonly label: PositionLabel }
  | { readonly ok: false; readonly problems: readonly string[] };

/** A YAML text as data, and what messages call each place in it; `source` is the name of its file. */
export function parseYaml(text: string, source: string): YamlFile {
  const yaml = parseDocument(text);
  if (!yaml.ok) return { ok: false, problems: capped(yaml.problems, (problem) => yamlProblem(source, problem)) };
  const { data, lineOf } = yaml.source;
  const label: PositionLabel = (path) => {
    const line = lineOf(path);
    const place = line === undefined ? source : `${source}:${line}`;
    return path.length === 0 ? place : `${place}: ${formatPath(path)}`;
  };
  return { ok: true, data, label };
}

function yamlProblem(source: string, { line, column, message }: YamlProblem): string {
  return `${[source, line, column].filter((part) => part !== undefined).join(':')}: ${message}`;
}
