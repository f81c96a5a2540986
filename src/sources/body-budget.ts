/** Bodies of the maximum size that are in memory together; see `MEMORY_PER_BODY_BYTE` in config/loader.ts. */
const BODIES_IN_MEMORY = 4;

/** Share of the maximum size for a first body. With all of it, four nodes that hang would hold up all others. */
const FIRST_SHARE = 1 / 4;

/** So many times the size of the last body is reserved, because a document grows from poll to poll. */
const GROWTH = 1.25;

/** The memory of a body, from before its request until its step. */
interface Reservation {
  /** Takes the size of the body that was received. */
  readonly resize: (bytes: number) => void;
  /** Ends the reservation. A second call changes nothing. */
  readonly release: () => void;
}

/** Bounds the memory of the bodies that are requested, received, or wait to be read. */
export function createBodyBudget() {
  let reservedBytes = 0;
  const waiting: { readonly bytes: number; readonly limitBytes: number; readonly start: () => void }[] = [];

  function change(bytes: number): void {
    reservedBytes += bytes;
    for (let [next] = waiting; next !== undefined && hasMemory(next); [next] = waiting) {
      waiting.shift();
      reservedBytes += next.bytes;
      next.start();
    }
  }

  const hasMemory = ({ bytes, limitBytes }: { readonly bytes: number; readonly limitBytes: number }): boolean =>
    reservedBytes === 0 || reservedBytes + bytes <= limitBytes;

  /** Resolves when there is memory for the next body of an endpoint, in the order of the calls. */
  return async (lastBytes: number | undefined, maxBytes: number): Promise<Reservation> => {
    let bytes = lastBytes === undefined ? maxBytes * FIRST_SHARE : Math.min(maxBytes, lastBytes * GROWTH);
    await new Promise<void>((start) => {
      waiting.push({ bytes, limitBytes: BODIES_IN_MEMORY * maxBytes, start });
      change(0);
    });
    const resize = (to: number): void => {
      const by = to - bytes;
      bytes = to;
      change(by);
    };
    return { resize, release: () => resize(0) };
  };
}
