#!/usr/bin/env node
import { runFunction } from '../sdk/run-function.ts'
import { ensureNameSubstring } from './fn.ts'

await runFunction(ensureNameSubstring)
