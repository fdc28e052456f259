#!/usr/bin/env node
/** `kpt fn eval --exec functions/verify-drift-records/run.ts`, or the entry of a container image. */
import { runFunction } from '../run-function.ts'
import { verifyDriftRecords } from './fn.ts'

await runFunction(verifyDriftRecords)
