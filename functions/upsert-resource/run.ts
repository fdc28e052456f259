#!/usr/bin/env node
import { runFunction } from '../sdk/run-function.ts'
import { upsertResource } from './fn.ts'

await runFunction(upsertResource)
