#!/usr/bin/env node
/** `kpt fn eval --exec functions/set-namespace/run.ts`, or the entry of a container image. */
import { runFunction } from '../sdk/run-function.ts'
import { setNamespace } from './fn.ts'

await runFunction(setNamespace)
