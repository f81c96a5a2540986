export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
type JsonObject = { [key: string]: JsonValue };
type Holder = JsonValue[] | JsonObject;
type Edit = (holder: Holder, key: string) => void;

const EVERY_ROW = '[*]';

/** Takes the field a path like `state.valsets[0].members[*].power` leads to out of the document. */
export function dropField(document: JsonValue, path: string): void {
  editField(document, path, (holder, key) => {
    requireChild(holder, key, path);
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  });
}

/** Puts a value where the path leads; only what holds the field has to be there. */
export function setField(document: JsonValue, path: string, value: JsonValue): void {
  editField(document, path, (holder, key) => Object.assign(holder, { [key]: value }));
}

/** Names, indices and `[*]`, in order; throws when the text is not a path. */
export function parsePath(path: string): string[] {
  const steps = path.match(/[A-Za-z_]\w*|\[(?:\d+|\*)\]/g) ?? [];
  const spelled = steps.map((step) => (step.startsWith('[') ? step : `.${step}`)).join('');
  if (steps.length === 0 || spelled !== (path.startsWith('[') ? path : `.${path}`)) {
    throw new RangeError(`${path} is no field path`);
  }
  return steps;
}

function editField(document: JsonValue, path: string, edit: Edit): void {
  const walk = (value: JsonValue, steps: readonly string[]): void => {
    const [step = '', ...rest] = steps;
    const holder = requireHolder(value, path);
    for (const key of keysOf(holder, step)) {
      if (rest.length === 0) edit(holder, key);
      else walk(requireChild(holder, key, path), rest);
    }
  };
  walk(document, parsePath(path));
}

/** Rows from the last to the first, so that one taken out moves none that is still to come. */
function keysOf(holder: Holder, step: string): string[] {
  if (step === EVERY_ROW) return Object.keys(holder).toReversed();
  return [step.startsWith('[') ? step.slice(1, -1) : step];
}

function requireHolder(value: JsonValue, path: string): Holder {
  if (typeof value !== 'object' || value === null) throw nothingAt(path);
  return value;
}

function requireChild(holder: Holder, key: string, path: string): JsonValue {
  const child = Array.isArray(holder) ? holder[Number(key)] : holder[key];
  if (child === undefined || !Object.hasOwn(holder, key)) throw nothingAt(path);
  return child;
}

function nothingAt(path: string): RangeError {
  return new RangeError(`the document has nothing at ${path}`);
}
