#!/usr/bin/env node
import { runFunction } from '../sdk/run-function.ts'
import { setLabels } from './fn.ts'

await runFunction(setLabels)
