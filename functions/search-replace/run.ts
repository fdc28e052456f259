#!/usr/bin/env node
import { runFunction } from '../sdk/run-function.ts'
import { searchReplace } from './fn.ts'

await runFunction(searchReplace)
