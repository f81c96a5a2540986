/* Results of operations that can fail, and problems of a value in a file. */

/** The result of an operation whose failure is expected. */
export type Result<Success, Failure = Problems> =
  ({ readonly ok: true } & Success) | ({ readonly ok: false } & Failure);

/** Why an input is invalid: one complete message for each problem. */
export interface Problems {
  readonly problems: readonly string[];
}

/** Keys and list indexes from the root of a file to a value. */
export type Path = readonly PropertyKey[];

/** A problem or a warning about the value at a path. */
export interface PathMessage {
  readonly path: Path;
  readonly message: string;
}
