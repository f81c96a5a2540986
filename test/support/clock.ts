import { createClock } from '../../src/clock.js';

/** The clock of the machine. */
export const clock = createClock();
