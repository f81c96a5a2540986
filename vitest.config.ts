import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Suppresses warnings about missing source maps of @actions/workflow-parser.
  logLevel: 'error',
  test: {
    include: ['test/**/*.test.ts'],
    // Tests that start processes, such as the daemon or Prometheus, can take longer than the default of 5 s.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // It imports JSON without an import attribute, which Vite accepts and Node.js rejects.
    server: { deps: { inline: ['@actions/workflow-parser'] } },
  },
});
