#!/usr/bin/env node
/** `kpt fn eval --exec functions/set-image/run.ts`, or the entry of a container image. */
import { runFunction } from '../sdk/run-function.ts'
import { setImage } from './fn.ts'

await runFunction(setImage)
