#!/usr/bin/env node
/** `kpt fn eval --exec functions/create-setters/run.ts`, or the entry of a container image. */
import { runFunction } from '../run-function.ts'
import { createSetters } from './fn.ts'

await runFunction(createSetters)
