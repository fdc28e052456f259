#!/usr/bin/env node
import { runFunction } from '../sdk/run-function.ts'
import { applySetters } from './fn.ts'

await runFunction(applySetters)
