import { structureOf, type FieldSchema } from '../../src/chain/fields.js';
import { moduleState } from '../../src/chain/module-state.js';
import { rateLimiterInput } from '../../src/chain/rate-limiter-input.js';
import type { DocumentName } from '../../src/document-types.js';
import { documents } from '../../src/documents.js';
import type { Family } from '../../src/metrics/family.js';
import { orEmpty } from '../../src/facts/required-fields.js';
import { bridgeInputs, crosschainInputs } from './property/inputs.js';

/*
 * The fields that each family reads, recorded while it is derived from random documents. contributing/coverage.md is
 * generated from these records. Records that are equal for all seeds cover all branches.
 */

export interface RecordedReads {
  readonly family: string;
  readonly document: DocumentName;
  /** Paths of fields in the names and the order of the spec. The path of an object includes all fields of the object. */
  readonly fields: readonly string[];
  /** Reads of the response header and of the configuration: `height`, `settings.watch`, `tokens[].symbol`. */
  readonly others: readonly string[];
}

const recorded = new Map<number, readonly RecordedReads[]>();

/** The records for random documents of this seed, which take a second. */
export function recordReads(seed = 1): readonly RecordedReads[] {
  const reads = recorded.get(seed) ?? readsOf(seed);
  recorded.set(seed, reads);
  return reads;
}

function readsOf(seed: number): RecordedReads[] {
  const [bridge, crosschain] = [bridgeInputs(seed), crosschainInputs(seed)];
  return [
    ...documents.module_state.families.map((family) => {
      const { fields, others } = partition(record(family, bridge), 'state', fieldPaths(moduleState, 'state'));
      return { family: family.name, document: 'module_state' as const, fields, others };
    }),
    ...documents.rate_limiter_input.families.map((family) => {
      const { fields, others } = partition(
        record(family, crosschain),
        'document',
        fieldPaths(rateLimiterInput, 'document'),
      );
      const inSpec = fields.map((path) => path.replace(/^document\./, ''));
      return { family: family.name, document: 'rate_limiter_input' as const, fields: inSpec, others };
    }),
  ];
}

/** The paths that a family reads, without objects and lists that it reads in part. */
function record<Input>(family: Family<Input>, inputs: readonly Input[]): string[] {
  const paths = new Set<string>();
  const enumerated = new Set<string>();
  // A new proxy for each family prevents sharing of memoized values.
  for (const input of inputs)
    orEmpty(() => family.derive(recordingProxy(input, '', paths, enumerated, new WeakMap()), 200));
  const all = [...paths];
  return all.filter(
    (path) =>
      !all.some((other) => isBelow(path, other) && enumerated.has(other)) &&
      (enumerated.has(path) || !all.some((other) => isBelow(other, path))),
  );
}

export function isBelow(path: string, parent: string): boolean {
  return path.startsWith(`${parent}.`) || path.startsWith(`${parent}[`);
}

/** Mappings by chain id, and settings whose name says enough. */
const WITHOUT_FIELDS: ReadonlySet<string> = new Set(['chains', 'settings.age_limits', 'settings.ignore']);

/** A proxy that adds the path of every property that is read to `paths`, and of every enumerated object to `enumerated`. */
function recordingProxy<T>(
  value: T,
  path: string,
  paths: Set<string>,
  enumerated: Set<string>,
  proxies: WeakMap<object, object>,
): T {
  if (typeof value !== 'object' || value === null || WITHOUT_FIELDS.has(path)) return value;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return value;
  const known = proxies.get(value);
  if (known !== undefined) return known as T;
  const proxy = new Proxy(value, {
    get: (target, key) => {
      const property: unknown = Reflect.get(target, key);
      if (typeof key === 'symbol') return property;
      if (Array.isArray(target)) {
        return /^\d+$/.test(key) ? recordingProxy(property, `${path}[]`, paths, enumerated, proxies) : property;
      }
      const propertyPath = path === '' ? key : `${path}.${key}`;
      paths.add(propertyPath);
      return recordingProxy(property, propertyPath, paths, enumerated, proxies);
    },
    ownKeys: (target) => {
      enumerated.add(path);
      return Reflect.ownKeys(target);
    },
  });
  proxies.set(value, proxy);
  return proxy;
}

function partition(paths: readonly string[], root: string, order: readonly string[]) {
  const rank = (path: string): number => order.findIndex((field) => field === path || isBelow(field, path));
  const fields = paths.filter((path) => isBelow(path, root));
  return {
    fields: withWholeObjects(fields, root, order).toSorted((a, b) => rank(a) - rank(b)),
    others: paths.filter((path) => !isBelow(path, root)).toSorted(),
  };
}

/** An object of the document that is read as a whole is one field. Rows are not objects of the document. */
function withWholeObjects(read: readonly string[], root: string, order: readonly string[]): readonly string[] {
  const isRead = (field: string): boolean => read.some((path) => path === field || isBelow(field, path));
  const objects = new Set(order.flatMap((field) => /^(?<object>[^[]+)\.[^.[]+/.exec(field)?.groups?.['object'] ?? []));
  const whole = Array.from(objects).filter(
    (object) => object !== root && order.filter((field) => isBelow(field, object)).every(isRead),
  );
  return [...read, ...whole].filter((path) => !whole.some((object) => isBelow(path, object)));
}

/** Paths of all fields of a schema. A list of scalars is one field. */
function fieldPaths(schema: FieldSchema, path: string): readonly string[] {
  const { fields, row } = structureOf(schema);
  if (fields !== undefined)
    return Object.entries(fields).flatMap(([name, field]) => fieldPaths(field, `${path}.${name}`));
  if (row === undefined) return [path];
  return [path, ...fieldPaths(row, `${path}[]`).filter((field) => field !== `${path}[]`)];
}
