#!/usr/bin/env node
import { verifyDriftRecords } from '../../src/drift-functions/verify-drift-records/verify-drift-records.ts'
import { runFunction } from '../sdk/run-function.ts'

await runFunction(verifyDriftRecords)
