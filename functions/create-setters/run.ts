#!/usr/bin/env node
/** `kpt fn eval --exec functions/create-setters/run.ts`, or the entry of a container image. */
import { runFunction } from '../sdk/run-function.ts'
import { createSetters } from './fn.ts'

await runFunction(createSetters)
