#!/usr/bin/env node
import { runFunction } from '../sdk/run-function.ts'
import { createSetters } from './fn.ts'

await runFunction(createSetters)
