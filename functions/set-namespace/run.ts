#!/usr/bin/env node
import { runFunction } from '../sdk/run-function.ts'
import { setNamespace } from './fn.ts'

await runFunction(setNamespace)
