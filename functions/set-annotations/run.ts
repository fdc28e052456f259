#!/usr/bin/env node
/** `kpt fn eval --exec functions/set-annotations/run.ts`, or the entry of a container image. */
import { runFunction } from '../sdk/run-function.ts'
import { setAnnotations } from './fn.ts'

await runFunction(setAnnotations)
