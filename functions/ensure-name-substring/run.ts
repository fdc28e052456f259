#!/usr/bin/env node
/** `kpt fn eval --exec functions/ensure-name-substring/run.ts`, or the entry of a container image. */
import { runFunction } from '../sdk/run-function.ts'
import { ensureNameSubstring } from './fn.ts'

await runFunction(ensureNameSubstring)
