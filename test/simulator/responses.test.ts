import { describe, expect, it } from 'vitest';
import { createModel, type Model } from '../../src/simulator/model.js';
import { scenarioNames } from '../../src/simulator/scenarios.js';
import { specFields } from '../../packaging/generate/spec-fields.js';

describe('the responses of the simulator', () => {
  it('have every field of the spec with its type, and no other, in every scenario, and every object in some', () => {
    const objectCounts = new Map<string, number>();
    for (const scenario of scenarioNames) {
      const model = createModel({ seed: 1, scenario, startTime: 1_760_000_000, blockTimeMs: 2000 });
      expect([scenario, differencesFromSpec(model, objectCounts)]).toEqual([scenario, []]);
      model.advance(45);
      expect([scenario, differencesFromSpec(model, objectCounts)]).toEqual([scenario, []]);
    }
    expect(Object.keys(specFields).filter((name) => !objectCounts.has(name))).toEqual([]);
  });
});

/** Counts the objects of each type in `objectCounts`. */
function differencesFromSpec(model: Model, objectCounts: Map<string, number>): string[] {
  return [
    ...compare(model.moduleState(), 'module_state', 'module_state', objectCounts),
    ...compare(model.rateLimiterInput(), 'rateLimiterInput', 'rateLimiterInput', objectCounts),
  ];
}

/** The differences between a value and its type in the spec, at every depth. */
function compare(value: unknown, type: string, path: string, objectCounts: Map<string, number>): string[] {
  if (type.endsWith('[]')) {
    if (!Array.isArray(value)) return [`${path} is not a list`];
    return value.flatMap((row, index) => compare(row, type.slice(0, -2), `${path}[${index}]`, objectCounts));
  }
  const fields = specFields[type];
  if (fields === undefined) {
    const scalar = type === 'boolean' ? 'boolean' : 'string';
    return typeof value === scalar ? [] : [`${path} is not of type ${scalar}`];
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path} is not an object`];
  objectCounts.set(type, (objectCounts.get(type) ?? 0) + 1);
  const entries = Object.entries(value);
  const missing = Object.keys(fields).filter((field) => !Object.hasOwn(value, field));
  return [
    ...missing.map((field) => `${path}.${field} is missing`),
    ...entries.flatMap(([field, inner]) => {
      const expected = fields[field];
      return expected === undefined
        ? [`${path}.${field} is not in the spec`]
        : compare(inner, expected, `${path}.${field}`, objectCounts);
    }),
  ];
}
