#!/usr/bin/env node
import { runFunction } from '../sdk/run-function.ts'
import { applyReplacements } from './fn.ts'

await runFunction(applyReplacements)
