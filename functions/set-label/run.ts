#!/usr/bin/env node
import { runFunction } from '../sdk/run-function.ts'
import { setLabel } from './fn.ts'

await runFunction(setLabel)
