/** One block of the hub. */
export interface Moment {
  readonly height: number;
  readonly nowMs: number;
  /** Since the block before. */
  readonly elapsedMinutes: number;
  /** Head of the external chain the bridge leads to. */
  readonly externalHeight: number;
}
