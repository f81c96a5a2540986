import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Vite would warn of every source map the parser of workflows came without.
  logLevel: 'error',
  test: {
    include: ['test/**/*.test.ts'],
    // Tests that start processes (the daemon, Prometheus) need more than the default 5 s on a busy machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // It imports JSON in a way that Node.js refuses; Vite does not.
    server: { deps: { inline: ['@actions/workflow-parser'] } },
  },
});
