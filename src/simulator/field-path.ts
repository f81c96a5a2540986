export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
type JsonObject = { [key: string]: JsonValue };
type Container = JsonValue[] | JsonObject;
type Edit = (container: Container, key: string) => void;

const EVERY_ROW = '[*]';

/** Removes the field at a path such as `state.valsets[0].members[*].power`. */
export function dropField(document: JsonValue, path: string): void {
  editField(document, path, (container, key) => {
    requireChild(container, key, path);
    if (Array.isArray(container)) container.splice(Number(key), 1);
    else delete container[key];
  });
}

/** Sets the field at a path. Only the object or array that contains the field has to exist. */
export function setField(document: JsonValue, path: string, value: JsonValue): void {
  editField(document, path, (container, key) => Object.assign(container, { [key]: value }));
}

/** Splits a path into field names, indexes and `[*]`; throws when the syntax is invalid. */
export function parsePath(path: string): string[] {
  const steps = path.match(/[A-Za-z_]\w*|\[(?:\d+|\*)\]/g) ?? [];
  const joined = steps.map((step) => (step.startsWith('[') ? step : `.${step}`)).join('');
  if (steps.length === 0 || joined !== (path.startsWith('[') ? path : `.${path}`)) {
    throw new RangeError(`${path} is not a field path`);
  }
  return steps;
}

function editField(document: JsonValue, path: string, edit: Edit): void {
  const walk = (value: JsonValue, steps: readonly string[]): void => {
    const [step = '', ...rest] = steps;
    const container = requireContainer(value, path);
    for (const key of keysOf(container, step)) {
      if (rest.length === 0) edit(container, key);
      else walk(requireChild(container, key, path), rest);
    }
  };
  walk(document, parsePath(path));
}

/** In reverse order, so that removing a row does not change the indexes of the remaining ones. */
function keysOf(container: Container, step: string): string[] {
  if (step === EVERY_ROW) return Object.keys(container).toReversed();
  return [step.startsWith('[') ? step.slice(1, -1) : step];
}

function requireContainer(value: JsonValue, path: string): Container {
  if (typeof value !== 'object' || value === null) throw missingField(path);
  return value;
}

function requireChild(container: Container, key: string, path: string): JsonValue {
  const child = Array.isArray(container) ? container[Number(key)] : container[key];
  if (child === undefined || !Object.hasOwn(container, key)) throw missingField(path);
  return child;
}

function missingField(path: string): RangeError {
  return new RangeError(`the document has no field ${path}`);
}
