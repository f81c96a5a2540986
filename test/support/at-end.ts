import { afterAll, onTestFinished, TestRunner } from 'vitest';

/** Closes something after the test that has opened it. What is opened at the top level is closed after the tests of the file or of the `describe`. */
export function atEnd(close: () => unknown): void {
  const end = async (): Promise<void> => void (await close());
  if (TestRunner.getCurrentTest() === undefined) afterAll(end);
  else onTestFinished(end);
}
