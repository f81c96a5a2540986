/** The result of an operation whose failure is expected. */
export type Result<Success, Failure = Problems> =
  ({ readonly ok: true } & Success) | ({ readonly ok: false } & Failure);

/** Why an input is invalid: one complete message for each problem. */
export interface Problems {
  readonly problems: readonly string[];
}
