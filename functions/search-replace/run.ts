#!/usr/bin/env node
/** `kpt fn eval --exec functions/search-replace/run.ts`, or the entry of a container image. */
import { runFunction } from '../sdk/run-function.ts'
import { searchReplace } from './fn.ts'

await runFunction(searchReplace)
