#!/usr/bin/env node
/** `kpt fn eval --exec functions/set-label/run.ts`, or the entry of a container image. */
import { runFunction } from '../sdk/run-function.ts'
import { setLabel } from './fn.ts'

await runFunction(setLabel)
