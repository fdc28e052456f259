#!/usr/bin/env node
/** `kpt fn eval --exec functions/set-image/run.ts`, or the entry of a container image. */
import { runFunction } from '../../src/adapters/functions/run-function.ts'
import { setImage } from './fn.ts'

await runFunction(setImage)
