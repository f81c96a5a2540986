import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Tests that start processes (the daemon, Prometheus) need more than the default 5 s on a busy machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
