#!/usr/bin/env node
/** `kpt fn eval --exec functions/apply-setters/run.ts`, or the entry of a container image. */
import { runFunction } from '../sdk/run-function.ts'
import { applySetters } from './fn.ts'

await runFunction(applySetters)
