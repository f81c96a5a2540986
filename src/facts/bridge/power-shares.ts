/* The shares of the power of the validators on which judgements depend. */

/**
 * The hub observes an event with the votes of this share: fixed in the code of the module. Relayers relay what this
 * share has signed.
 */
export const QUORUM_RATIO = 0.66;

/** No claim reaches the quorum while other claims have more power. */
export const MINORITY_RATIO = 0.34;

/** A claim by this share is more than the error of a few validators. */
export const CREDIBLE_RATIO = 0.33;

/**
 * Without this share nothing is signed or observed, so that a deadline of its validators is a problem of the whole
 * bridge.
 */
export const JAILED_RATIO = 0.33;

/**
 * Less than half of what the quorum can miss: a warning while the bridge still works. Single validators are late at any
 * time.
 */
export const LATE_RATIO = 0.15;
