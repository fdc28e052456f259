#!/usr/bin/env node
/** `kpt fn eval --exec functions/generate-folders/run.ts`, or the entry of a container image. */
import { runFunction } from '../sdk/run-function.ts'
import { generateFolders } from './fn.ts'

await runFunction(generateFolders)
