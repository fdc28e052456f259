#!/usr/bin/env node
import { verifyDriftRecords } from '../../src/drift-functions/verify-drift-records/verify-drift-records.ts'
/** `kpt fn eval --exec functions/verify-drift-records/run.ts`, or the entry of a container image. */
import { runFunction } from '../sdk/run-function.ts'

await runFunction(verifyDriftRecords)
