import { fileURLToPath } from 'node:url'

/** Name of the variable in the environment of a test run's processes. */
export const TEST_PROGRAM = 'BACKPORCH_TEST_PROGRAM'

/**
 * The program that tests start with Node: in a run of many files the bundled one, as it is published, which starts in half the
 * time; else the sources.
 */
export const PROGRAM =
  process.env[TEST_PROGRAM] ?? fileURLToPath(new URL('../src/main.ts', import.meta.url))
