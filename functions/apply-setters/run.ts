#!/usr/bin/env node
/** `kpt fn eval --exec functions/apply-setters/run.ts`, or the entry of a container image. */
import { runFunction } from '../run-function.ts'
import { applySetters } from './fn.ts'

await runFunction(applySetters)
