#!/usr/bin/env node
/** `kpt fn eval --exec functions/adopt-drift/run.ts`, or the entry of a container image. */
import { builtInFunctions } from '../built-in-functions.ts'
import { runFunction } from '../run-function.ts'
import { adoptDrift } from './fn.ts'

await runFunction(adoptDrift(builtInFunctions))
