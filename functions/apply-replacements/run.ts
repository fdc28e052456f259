#!/usr/bin/env node
/** `kpt fn eval --exec functions/apply-replacements/run.ts`, or the entry of a container image. */
import { runFunction } from '../sdk/run-function.ts'
import { applyReplacements } from './fn.ts'

await runFunction(applyReplacements)
