#!/usr/bin/env node
import { adoptDrift } from '../../src/drift-functions/adopt-drift/adopt-drift.ts'
import { builtInFunctions } from '../built-in-functions.ts'
import { runFunction } from '../sdk/run-function.ts'

await runFunction(adoptDrift(builtInFunctions))
