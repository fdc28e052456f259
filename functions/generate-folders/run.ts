#!/usr/bin/env node
import { runFunction } from '../sdk/run-function.ts'
import { generateFolders } from './fn.ts'

await runFunction(generateFolders)
