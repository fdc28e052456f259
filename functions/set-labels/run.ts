#!/usr/bin/env node
/** `kpt fn eval --exec functions/set-labels/run.ts`, or the entry of a container image. */
import { runFunction } from '../sdk/run-function.ts'
import { setLabels } from './fn.ts'

await runFunction(setLabels)
