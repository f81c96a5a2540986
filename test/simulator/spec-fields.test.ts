import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createModel, type Model } from '../../src/simulator/model.js';
import { scenarioNames } from '../../src/simulator/scenarios.js';
import { startSimulator } from '../../src/simulator/simulator.js';
import { specFields } from '../support/spec-fields.js';
import { get } from './client.js';
import { parseSpecFields, parseSpecParameters, parseSpecPaths } from './spec-text.js';

const specFile = process.env['SPEC_FILE'] ?? new URL('../../../shared/spec/chain-query-service.txt', import.meta.url);

describe('every response, in every scenario', () => {
  it.each(scenarioNames)('%s has each field of the spec with its type, and no other', (scenario) => {
    const model = createModel({ seed: 1, scenario, startTime: 1_760_000_000, blockTimeMs: 2000 });
    for (let poll = 0; poll < 5; poll += 1) {
      expect(differences(model)).toEqual([]);
      model.advance(15);
    }
  });

  it('leaves no object of the spec unseen', () => {
    const seen = new Map<string, number>();
    for (const scenario of scenarioNames) {
      const model = createModel({ seed: 2, scenario, startTime: 1_760_000_000, blockTimeMs: 2000 });
      differences(model, seen);
    }
    const counts = Object.keys(specFields).map((name) => [name, seen.get(name) ?? 0]);
    expect(counts.filter(([, count]) => count === 0)).toEqual([]);
  });

  it('would be caught with a field missing, extra or of another type', () => {
    const claim = { type_url: '', value: 7, extra: '' };
    expect(compare({ observed: 'true', votes: [1], claim }, 'Attestation', 'a', new Map())).toEqual([
      'a.height is missing',
      'a.observed is not of type boolean',
      'a.votes[0] is not of type string',
      'a.claim.value is not of type string',
      'a.claim.extra is not in the spec',
    ]);
  });
});

describe('the text of the spec', () => {
  const text = existsSync(specFile) ? readFileSync(specFile, 'utf8') : undefined;
  if (text === undefined)
    console.warn(`!!! ${String(specFile)} is not there: test/support/spec-fields.ts is NOT compared with it`);

  it.skipIf(text === undefined)('says the same as spec-fields.ts', () => {
    expect(specFields).toEqual(parseSpecFields(text ?? ''));
  });

  it.skipIf(text === undefined)('names the paths the simulator serves and the parameters it reads', async () => {
    const simulator = await startSimulator({
      host: '127.0.0.1',
      port: 0,
      seed: 1,
      scenario: 'quiet',
      blockTimeMs: 2000,
      tick: false,
    });
    const [moduleState = '', rateLimiterInput = ''] = parseSpecPaths(text ?? '');
    const parameters = parseSpecParameters(text ?? '');
    const statuses = [
      (await get(simulator, moduleState)).status,
      (await get(simulator, rateLimiterInput)).status,
      ...(await Promise.all(parameters.map((name) => get(simulator, `${rateLimiterInput}?${name}=x`)))).map(
        ({ status }) => status,
      ),
    ];
    await simulator.close();
    expect({ parameters, statuses }).toEqual({ parameters: ['limit', 'window'], statuses: [200, 200, 400, 400] });
  });
});

function differences(model: Model, seen = new Map<string, number>()): string[] {
  return [
    ...compare(model.moduleState(), 'module_state', 'module_state', seen),
    ...compare(model.rateLimiterInput(), 'rateLimiterInput', 'rateLimiterInput', seen),
  ];
}

/** How a value differs from its type in the spec, at every depth; `seen` counts the objects on the way. */
function compare(value: unknown, type: string, place: string, seen: Map<string, number>): string[] {
  if (type.endsWith('[]')) {
    if (!Array.isArray(value)) return [`${place} is not a list`];
    return value.flatMap((row, position) => compare(row, type.slice(0, -2), `${place}[${position}]`, seen));
  }
  const fields = specFields[type];
  if (fields === undefined) {
    const scalar = type === 'boolean' ? 'boolean' : 'string';
    return typeof value === scalar ? [] : [`${place} is not of type ${scalar}`];
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${place} is not an object`];
  seen.set(type, (seen.get(type) ?? 0) + 1);
  const entries = Object.entries(value);
  const missing = Object.keys(fields).filter((field) => !Object.hasOwn(value, field));
  return [
    ...missing.map((field) => `${place}.${field} is missing`),
    ...entries.flatMap(([field, held]) => {
      const expected = fields[field];
      return expected === undefined
        ? [`${place}.${field} is not in the spec`]
        : compare(held, expected, `${place}.${field}`, seen);
    }),
  ];
}
