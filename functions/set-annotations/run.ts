#!/usr/bin/env node
import { runFunction } from '../sdk/run-function.ts'
import { setAnnotations } from './fn.ts'

await runFunction(setAnnotations)
